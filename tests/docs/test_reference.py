"""The reference leaves nothing out and says nothing that is gone."""

from __future__ import annotations

import inspect
import re
import runpy
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import fields
from enum import StrEnum
from pathlib import Path
from typing import Any

import pytest

import mnemos
from mnemos import errors, hermes_folder, settings
from mnemos.errors import MnemosError
from mnemos.faces.cli import output
from mnemos.faces.cli.app import exit_code, run
from mnemos.faces.cli.help_screens import ALIASES
from mnemos.facts.fact import Conflict, Fact, Scope, Status, Stored, Ticked, Written
from mnemos.facts.facts import Facts
from mnemos.memory import Memory, SessionDB
from mnemos.notebook.notebook import Notebook
from mnemos.notebook.notes import Use
from mnemos.operations.facts import FactInfo
from mnemos.operations.index import ENTRIES, part_of
from mnemos.recall.answer import Recall, RecallHit
from mnemos.sessions import session_types
from mnemos.sessions.records import MESSAGE_FIELDS
from mnemos.settings import Model, Settings
from mnemos.storage.base import MessageRow, SessionRow
from mnemos.storage.search import CANDIDATES
from mnemos.templates.template_store import Templates
from mnemos.transfer.imports import Imports
from mnemos.workspace.workspace import Workspace

from .pages import DOCS, REFERENCE, text_of

PYTHON = text_of(REFERENCE / "python.md")
PARTS = (Memory, SessionDB, Facts, Notebook, Templates, Workspace, Imports)


def test_the_pages_of_operations_are_up_to_date() -> None:
    script = runpy.run_path(str(REFERENCE.parents[1] / "scripts" / "make_reference.py"))
    made: dict[str, str] = script["pages"]()
    kept = {page.relative_to(REFERENCE).as_posix() for page in REFERENCE.glob("operations/*.md")}
    assert kept == made.keys() - {script["INDEX"]}
    for name, page in made.items():
        assert text_of(REFERENCE / name) == page, "run: python scripts/make_reference.py"


def test_every_operation_has_a_section_with_an_example() -> None:
    for entry in ENTRIES:
        page = text_of(REFERENCE / "operations" / f"{part_of(entry)}.md")
        section = page.partition(f"\n## {entry.command}\n")[2].partition("\n## ")[0]
        assert f"`{entry.name}`" in section, entry.name
        assert f"\nmnemos {entry.command}" in section, entry.name


def _methods(kind: type) -> Iterator[str]:
    return (name for name, value in inspect.getmembers(kind) if not name.startswith("_") and callable(value))


def test_every_method_is_in_the_reference_as_it_is_called() -> None:
    headings = {
        f"\n### `{name}({_parameters(getattr(kind, name))})`\n" for kind in PARTS for name in _methods(kind)
    }
    assert {heading for heading in headings if heading not in PYTHON} == set()


def test_the_reference_has_the_signatures_that_open_a_memory() -> None:
    for name in ("open", "aopen", "SessionDB"):
        assert f"\n### `{name}({_parameters(getattr(mnemos, name))})`\n" in PYTHON


def test_the_reference_names_no_method_that_is_gone() -> None:
    known = {"open", "aopen", "SessionDB", *(name for kind in PARTS for name in _methods(kind))}
    assert set(re.findall(r"^### `(\w+)\(", PYTHON, re.MULTILINE)) == known


def test_everything_that_dir_shows_of_a_memory_is_in_the_reference() -> None:
    with mnemos.open(":memory:") as memory:
        shown = [name for name in dir(memory) if not re.search(rf"`memory\.{name}\b|### `{name}\(", PYTHON)]
    assert shown == []


@pytest.mark.parametrize("kind", [session_types.Session, session_types.Message, session_types.MessageHit])
def test_every_key_of_a_session_a_message_and_a_hit_is_in_the_reference(kind: Any) -> None:
    section = PYTHON.partition("\n## Sessions\n")[2].partition("\n## ")[0]
    assert [key for key in kind.__annotations__ if not re.search(rf"`{key}\b", section)] == []


def test_every_name_of_the_package_is_in_the_reference() -> None:
    assert [name for name in mnemos.__all__ if f"`{name}" not in PYTHON] == []


def _all_errors(kind: type[MnemosError]) -> Iterator[type[MnemosError]]:
    yield kind
    for below in kind.__subclasses__():
        if below.__module__ == errors.__name__:
            yield from _all_errors(below)


def test_every_error_is_listed_with_its_class_its_parent_and_its_exit_code() -> None:
    for kind in _all_errors(MnemosError):
        parent = "" if kind is MnemosError else f"`{kind.__mro__[1].__name__}`"
        cells = _row(REFERENCE / "errors.md", kind.code)
        assert cells[1:4] == [f"`{kind.__name__}`", parent, str(exit_code(kind("")))]


def test_every_setting_is_listed_with_its_default() -> None:
    for field in fields(Settings):
        default = _row(REFERENCE / "settings.md", field.name)[1]
        if field.name not in ("home", "actor", "embedding", "llm", "honcho"):
            shown = str(field.default).lower() if isinstance(field.default, bool) else str(field.default)
            assert default == f"`{shown}`", field.name


def test_every_setting_of_the_model_is_listed() -> None:
    for field in fields(Model):
        # The key itself is not a setting: the name of its variable is.
        name = "api_key_env" if field.name == "api_key" else field.name
        assert _row(REFERENCE / "settings.md", name), name


@pytest.mark.parametrize("name", ["base_url", "api_key_env", "timeout"])
def test_every_setting_of_the_embedders_endpoint_is_listed(name: str) -> None:
    assert _row(REFERENCE / "settings.md", f"embedding.{name}")


@pytest.mark.parametrize(
    "kind", [Fact, Stored, Written, Ticked, Status, Scope, Conflict], ids=lambda kind: kind.__name__
)
def test_every_field_of_what_facts_hand_out_is_listed(kind: Any) -> None:
    section = PYTHON.partition("\n## Facts\n")[2].partition("\n## ")[0]
    assert [field.name for field in fields(kind) if f"`{field.name}`" not in section] == []


@pytest.mark.parametrize("name", [*(field.name for field in fields(Use)), "percent", "warning"])
def test_every_field_of_the_use_of_a_file_is_listed(name: str) -> None:
    section = PYTHON.partition("\n## Notebook\n")[2].partition("\n### ")[0]
    assert f"`{name}`" in section


@pytest.mark.parametrize("kind", [Recall, RecallHit], ids=lambda kind: kind.__name__)
def test_every_field_of_an_answer_of_recall_is_listed(kind: Any) -> None:
    section = PYTHON.partition("\n### `recall(")[2].partition("\n### ")[0]
    assert [field.name for field in fields(kind) if f"`{field.name}`" not in section] == []


def test_every_variable_that_is_read_is_listed() -> None:
    sources = "".join(map(inspect.getsource, (settings, hermes_folder, output)))
    read = set(re.findall(r'"((?:MNEMOS|HERMES)_[A-Z_]+)"', sources))
    listed = set(re.findall(r"`((?:MNEMOS|HERMES)_[A-Z_]+)`", text_of(REFERENCE / "settings.md")))
    assert listed == read


def test_every_field_of_an_export_is_listed() -> None:
    page = REFERENCE / "export-format.md"
    # A revision only counts in its own home.
    sessions = {*SessionRow.__struct_fields__, "messages"} - {"revision"}
    messages = MESSAGE_FIELDS | {*MessageRow.__struct_fields__} - {"encoded"}
    assert _first_cells(page, "Session") == sessions
    assert _first_cells(page, "Message") == messages
    assert _first_cells(page, "Facts") == set(FactInfo.__struct_fields__)


def test_every_table_of_the_database_is_listed(tmp_path: Path) -> None:
    with mnemos.open(tmp_path / "home") as memory:
        memory.sessions.create_session("s", "cli")
        with closing(sqlite3.connect(f"file:{memory.database}?mode=ro", uri=True)) as database:
            found = database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    # SQLite keeps the index in tables of its own.
    tables = {name for (name,) in found if not name.startswith(("sqlite_", "messages_fts_"))}
    listed = text_of(DOCS / "explanation" / "database.md").partition("\n## Tables\n")[2]
    assert [name for name in tables if f"`{name}`" not in listed] == []


def test_the_page_on_search_says_how_many_candidates_are_scored() -> None:
    assert f"{CANDIDATES:,}" in text_of(DOCS / "explanation" / "search.md")


def _parameters(function: Callable[..., Any]) -> str:
    """The parameters as they are written in a call: without types, and without self."""
    plain = [
        each.replace(
            annotation=each.empty, default=_WallClock() if each.name == "clock" else _plain(each.default)
        )
        for each in inspect.signature(function).parameters.values()
        if each.name != "self"
    ]
    return str(inspect.Signature(plain))[1:-1]


def _plain(default: Any) -> Any:
    return default.value if isinstance(default, StrEnum) else default


class _WallClock:
    def __repr__(self) -> str:
        return "time.time"


def _row(page: Path, first: str) -> list[str]:
    """The cells of the table row that begins with this name."""
    found = [line for line in text_of(page).splitlines() if line.startswith(f"| `{first}` |")]
    assert len(found) == 1, f"{page.name} has {len(found)} rows for {first}"
    return [cell.strip() for cell in found[0].strip("|").split("|")]


def _first_cells(page: Path, heading: str) -> set[str]:
    section = text_of(page).partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE))


def test_the_page_on_the_command_line_shows_the_help_and_the_former_names(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert run(["--help"]) == 0
    page = text_of(REFERENCE / "command-line.md")
    assert f"```text\n{capsys.readouterr().out}```" in page
    assert {f"| `mnemos {former}` | `mnemos {now}` |" for former, now in ALIASES.items()} <= {
        *page.splitlines()
    }
