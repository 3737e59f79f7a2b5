"""The examples of the pages do what the pages show."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

import click
import pytest

from faces.http.servers import serving
from mnemos.faces.cli.app import cli, run
from mnemos.settings import Settings

from .pages import DOCS, ROOT, Block, blocks, commands, name_of, pages

# Pages whose commands can be run one after the other; those of other pages name things that are not there.
WALKS = (ROOT / "README.md", DOCS / "tutorial.md", DOCS / "first-minute.md")
ADDRESS = "http://127.0.0.1:8765"
WITH_PYTHON = [page for page in pages() if blocks(page, "python")]
WITH_SHELL = [page for page in pages() if any(map(commands, blocks(page, "sh")))]
WITH_TOML = [page for page in pages() if blocks(page, "toml")]


@pytest.mark.parametrize("page", WITH_PYTHON, ids=name_of)
def test_the_examples_of_a_page_run_in_order_and_print_what_it_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"__name__": "__example__"}
    printed = ""
    with _served(page, tmp_path / "served") as replace:
        for block in blocks(page):
            if block.language == "python":
                printed = _printed_by_python(page, block, replace(block.text), namespace)
            elif block.language == "sh" and page in WALKS:
                printed = _printed_by_commands(page, block)
            elif block.language == "text":
                assert _fits(block.text, printed), f"{name_of(page)}:{block.line} was really:\n{printed}"


@contextmanager
def _served(page: Path, home: Path) -> Iterator[Callable[[str], str]]:
    """Start a server for a page whose Python asks one, and put its address and token into the code."""
    if not any(ADDRESS in block.text for block in blocks(page, "python")):
        yield str
        return
    with serving(home) as server:
        here = f"http://127.0.0.1:{server.port}"
        yield lambda text: text.replace(ADDRESS, here).replace("mnm_…", server.token)


@pytest.mark.parametrize("page", WITH_SHELL, ids=name_of)
def test_every_command_a_page_names_exists_and_takes_its_options(page: Path) -> None:
    for block in blocks(page, "sh"):
        for arguments in commands(block):
            _parse(cli, "mnemos", arguments)


@pytest.mark.parametrize("page", WITH_TOML, ids=name_of)
def test_every_configuration_a_page_shows_is_accepted(page: Path, tmp_path: Path) -> None:
    for block in blocks(page, "toml"):
        (tmp_path / "config.toml").write_text(block.text, encoding="utf-8")
        Settings.load(tmp_path, env={})


def test_a_command_that_is_not_there_is_noticed() -> None:
    block = Block("sh", 'echo hi | mnemos sessions serch "x"\nA=1 mnemos stats --jsn > out\n', 1)
    assert commands(block) == [["sessions", "serch", "x"], ["stats", "--jsn"]]
    for arguments in commands(block):
        with pytest.raises(click.UsageError):
            _parse(cli, "mnemos", arguments)


def _printed_by_python(page: Path, block: Block, text: str, namespace: dict[str, Any]) -> str:
    # Blank lines before the code make tracebacks name the lines of the page.
    code = compile("\n" * (block.line - 1) + text, str(page), "exec")
    with redirect_stdout(io.StringIO()) as printed:
        exec(code, namespace)
    return printed.getvalue()


def _printed_by_commands(page: Path, block: Block) -> str:
    with redirect_stdout(io.StringIO()) as printed:
        for arguments in commands(block):
            code = run(arguments)
            assert code == 0, f"{name_of(page)}:{block.line}: mnemos {arguments} answered {code}"
    return printed.getvalue()


def _fits(shown: str, printed: str) -> bool:
    pattern = ".*".join(map(re.escape, shown.strip().split("…")))
    return re.fullmatch(pattern, printed.strip(), re.DOTALL) is not None


def _parse(
    command: click.Command, name: str, arguments: list[str], above: click.Context | None = None
) -> None:
    """Read a command line without running it; a wrong one raises click's UsageError."""
    if not isinstance(command, click.Group):
        command.make_context(name, list(arguments), parent=above)
        return
    context = click.Context(command, info_name=name, parent=above, **command.context_settings)
    _, rest, _ = command.make_parser(context).parse_args(list(arguments))
    if rest:
        inner_name, inner, inner_arguments = command.resolve_command(context, rest)
        assert inner is not None
        _parse(inner, inner_name or "", inner_arguments, context)
