"""The pages hang together, and could have been written anywhere."""

from __future__ import annotations

import re

from mnemos.faces.cli.help_screens import FORMER
from mnemos.integrations.clients.catalogue import CLIENTS

from .pages import DOCS, ROOT, anchors, links, name_of, pages, prose_of, text_of

ALL = pages()
DECISIONS = sorted((DOCS / "adr").glob("*.md"))


def test_every_link_inside_the_repository_leads_somewhere() -> None:
    for page, link in ((one, link) for one in ALL for link in links(one)):
        if "://" in link:
            continue
        target, _, fragment = link.partition("#")
        there = (page.parent / target).resolve() if target else page
        assert there.exists(), f"{name_of(page)} links to {link}"
        assert there.is_relative_to(ROOT), f"{name_of(page)} links outside: {link}"
        if fragment:
            assert fragment in anchors(there), f"{name_of(page)} links to {link}"


def test_no_page_names_a_path_of_the_machine_it_was_written_on() -> None:
    for page in ALL:
        text = text_of(page)
        assert not re.search(r"(?<![\w.~])/(?:home|root|Users|work|tmp|mnt)\b", text), name_of(page)
        assert str(ROOT) not in text, name_of(page)


def test_the_index_links_every_page_of_the_documentation() -> None:
    linked = {(DOCS / link.partition("#")[0]).resolve() for link in links(DOCS / "README.md")}
    missing = [name_of(page) for page in DOCS.rglob("*.md") if page.resolve() not in linked]
    assert missing == ["docs/README.md"]


def test_no_guide_uses_a_former_command() -> None:
    former = re.compile(rf"mnemos (?:{'|'.join(FORMER)})\b")
    for page in ALL:
        is_list = page.name in ("CHANGELOG.md", "command-line.md", "operations.md")
        if not is_list and page.parent.name not in ("adr", "operations"):
            assert former.findall(text_of(page)) == [], name_of(page)


def test_your_data_and_the_lists_of_clients_name_every_client() -> None:
    clients = [*(client.name for client in CLIENTS.values()), "Hermes Agent"]
    for page in ("how-to/your-data.md", "faq.md", "first-minute.md"):
        text = " ".join(text_of(DOCS / page).split())
        assert [name for name in clients if name not in text] == [], page
    uninstall = text_of(DOCS / "how-to" / "your-data.md").partition("## Uninstall")[2]
    assert "mnemos connect --undo" in uninstall
    assert "mnemos watch uninstall" in uninstall


def test_every_setting_that_sends_data_is_named_in_both_pages() -> None:
    for page in (DOCS / "how-to" / "your-data.md", ROOT / "SECURITY.md"):
        text = text_of(page)
        for word in (
            "[llm]",
            "endpoint:MODEL",
            "onnx:MODEL",
            "honcho",
            "HONCHO_API_KEY",
            'database = "postgresql://',
        ):
            assert word in text, f"{name_of(page)} lacks {word}"


# Files of other people's projects, in examples.
EXAMPLES = {"gateway/run.py", "src/pool.py", "plugins/diary/__init__.py"}


def test_every_module_that_a_page_names_exists() -> None:
    known = [
        path.as_posix()
        for top in ("src", "tests", "benchmarks", "scripts", "examples")
        for path in (ROOT / top).rglob("*.py")
    ]
    for page in ALL:
        if page.name != "CHANGELOG.md":
            for name in set(re.findall(r"`([\w./]+\.py)`", text_of(page))) - EXAMPLES:
                assert any(path.endswith(f"/{name}") for path in known), f"{name_of(page)} names {name}"


def test_every_adapter_that_a_page_imports_exists() -> None:
    """Frameworks are not installed here, so the modules are read and not imported."""
    imports = r"^from (mnemos\.integrations\.\w+) import ([\w, ]*\w)"
    for page in ALL:
        for module, names in re.findall(imports, text_of(page), re.M):
            place = ROOT / "src" / module.replace(".", "/")
            source = text_of(place / "__init__.py" if place.is_dir() else place.with_suffix(".py"))
            for name in names.split(", "):
                assert re.search(rf"\b{name}\b", source), f"{name_of(page)}: {module}.{name}"


def test_a_line_of_prose_has_one_sentence() -> None:
    for page in DOCS.rglob("*.md"):
        for line in prose_of(page):
            assert not re.search(r"(?<!e\.g)[.!?][)\"']* +[A-Z]", line), (
                f"{name_of(page)}: break after the sentence: {line}"
            )


def test_decisions_are_numbered_without_a_gap() -> None:
    assert len(DECISIONS) > 20
    assert [int(page.name[:4]) for page in DECISIONS] == list(range(1, len(DECISIONS) + 1))


def test_a_decision_says_its_context_its_consequences_and_what_was_not_done() -> None:
    for page in DECISIONS:
        headings = re.findall(r"^## (.+)$", text_of(page), re.MULTILINE)
        assert headings == ["Context", "Decision", "Consequences", "Alternatives not taken"], name_of(page)
        assert text_of(page).startswith(f"# {int(page.name[:4])}. ")


def test_the_readme_can_be_read_in_a_few_minutes() -> None:
    text = re.sub(r"```.*?```|<!--.*?-->|\]\([^)]*\)", " ", text_of(ROOT / "README.md"), flags=re.DOTALL)
    assert len(re.findall(r"\w[\w.,'%/-]*", text)) <= 550
