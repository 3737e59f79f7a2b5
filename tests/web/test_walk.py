"""A first visit with keys only: import, ask, see why, correct, ask again, forget, undo."""

from __future__ import annotations

import json
from pathlib import Path

from playwright.sync_api import expect

from .conftest import Open, Server
from .test_tasks import ask, focus_row, go, press_until

TALK = (
    ("user", "The import of orders is slow. What else is busy then?"),
    ("assistant", "The backup: it starts at 03:15, the import at 03:00."),
    ("user", "Move it to 04:30. My door code is 7711, do not write it down."),
    ("assistant", "Done, it starts at 04:30 now."),
)
QUESTION = "when does the backup run every night?"


def write_history(folder: Path) -> None:
    """Write a conversation as Claude Code keeps it."""
    folder.mkdir(parents=True)
    lines = [
        {
            "type": role,
            "uuid": f"u{at}",
            "parentUuid": f"u{at - 1}" if at else None,
            "sessionId": "walk",
            "cwd": "/home/ana/shop",
            "timestamp": f"2026-11-01T10:0{at}:00.000Z",
            "message": {"role": role, "content": text},
        }
        for at, (role, text) in enumerate(TALK)
    ]
    (folder / "walk.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_a_first_visit_needs_no_mouse(own_server: Server, open_page: Open) -> None:
    write_history(Path(f"{own_server.home}-person/.claude/projects/shop"))
    seen = open_page(own_server)
    page = seen.page

    def note(step: str) -> None:
        print(f"- {step}")

    go(seen, "i", "Connections")
    page.locator("[data-row]", has_text="1 file").wait_for()
    focus_row(seen, "1 file")
    seen.keys("Enter")
    expect(page.locator("#main")).to_contain_text("4 messages")
    note("g i, j, Enter: the history is imported: 1 conversation, 4 messages.")

    seen.keys("/")
    page.keyboard.type(QUESTION)
    seen.keys("Enter")
    page.wait_for_selector(".hit")
    first = page.locator(".hit").first
    expect(first).to_contain_text("03:15 every night")
    score = first.locator(".score").inner_text()
    note(f"/ and the question: the first hit is the old fact, '03:15 every night', score {score}.")

    seen.keys("Escape", "j")
    press_until(seen, "Tab", ".hit button[aria-expanded]")
    seen.keys("Enter")
    reasons = first.locator(".legend").inner_text().split("\n")
    expect(first.locator(".parts tfoot")).to_contain_text(score)
    note(f"Esc, j, Tab, Enter: its parts add up to {score}: {', '.join(filter(None, reasons))}.")

    seen.keys("k", "Enter")
    page.wait_for_selector(".statement.live")
    seen.keys("j", "e")
    page.wait_for_selector("dialog[open] textarea:focus")
    seen.keys("Control+a")
    page.keyboard.type("04:30 every night")
    press_until(seen, "Tab", "dialog .main")
    seen.keys("Enter")
    expect(page.locator(".statement.live")).to_contain_text("04:30")
    note("Enter, j, e: the fact says 04:30 now; the old statement stays in its history.")

    seen.keys("Escape")
    page.wait_for_url("**/#/recall?q=*")
    expect(page.locator(".hit").first).to_contain_text("04:30")
    expect(page.locator("#packed")).to_contain_text("04:30 every night")
    expect(page.locator("#packed")).not_to_contain_text("03:15 every night")
    note("Esc: back at the question. The first hit says 04:30, and so does the text that a model gets.")

    seen.keys("/")
    page.locator("#ask").press("Control+a")
    page.keyboard.type("door code")
    page.wait_for_url("**q=door+code")
    page.locator(".hit", has_text="7711").wait_for()
    seen.settle()
    seen.keys("Escape")
    focus_row(seen, "7711")
    seen.keys("#")
    expect(page.locator("dialog[open] .stake")).to_contain_text("My door code is 7711")
    page.keyboard.type("forget")
    page.wait_for_selector("dialog[open] .danger:not([disabled])")
    seen.keys("Enter")
    page.wait_for_selector("dialog[open] .danger", state="detached")
    expect(page.locator(".hit", has_text="7711")).to_have_count(0)
    assert not any(b"7711" in file.read_bytes() for file in own_server.home.glob("mnemos.db*"))
    note("/ door code, #, 'forget', Enter: the message is gone from the hits, and its bytes from the file.")

    total = ask(own_server, "sessions_list", {"limit": 1})["total"]
    go(seen, "c", "Conversations")
    page.wait_for_selector("tr[data-row]")
    seen.keys("j", "x", "#")
    page.wait_for_selector("dialog[open] .danger:focus")
    seen.keys("Enter")
    page.wait_for_selector(".toast button")
    assert ask(own_server, "sessions_list", {"limit": 1})["total"] == total - 1
    seen.keys("u")
    expect(page.locator(".toast")).to_contain_text("Restored")
    assert ask(own_server, "sessions_list", {"limit": 1})["total"] == total
    note("g c, j, x, #, Enter: a conversation is deleted; u restores it.")
    assert seen.errors == []
