"""Each agent program has a page that says what is recorded of it, how, since when, and how to stop it."""

from __future__ import annotations

from pathlib import Path

import pytest

from mnemos.integrations.clients.catalogue import CLIENTS
from mnemos.transfer.agent_places import KINDS

PAGES = Path(__file__).parents[2] / "docs" / "how-to"
# Programs that are described on the page of another one.
ELSEWHERE = {"roo": "cline", "copilot": "vscode"}
PROGRAMS = sorted({ELSEWHERE.get(kind, kind) for kind in (*KINDS, *CLIENTS, "aider")} - {"claude-desktop"})


ITEMS = ("Recorded", "How", "Since when", "To stop")


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_page_of_a_program_says_what_is_recorded_and_how_to_stop_it(program: str) -> None:
    text = (PAGES / f"{program}.md").read_text(encoding="utf-8")
    assert [item for item in ITEMS if f"\n- **{item}**: " not in text] == []
    recorder = CLIENTS[program].recorder if program in CLIENTS else None
    if recorder is not None:
        assert f"by the {recorder.name}" in text or f"by {recorder.name}" in text
    elif program in KINDS:
        assert "mnemos watch" in text


def test_the_table_of_the_watch_names_every_program() -> None:
    text = (PAGES / "watch.md").read_text(encoding="utf-8")
    assert [program for program in PROGRAMS if f"({program}.md)" not in text] == []
