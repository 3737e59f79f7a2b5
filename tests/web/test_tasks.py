"""Tasks by keyboard alone, each seen in the memory afterwards; and what a token for reading can't do."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, TimeoutError, expect

from .conftest import Open, Seen, Server, run_program


def ask(server: Server, name: str, arguments: object = None, token: str = "") -> Any:
    """Call an operation beside the browser, with the owner's token unless another is given."""
    token = token or (server.home / "token").read_text().strip()
    sent = urllib.request.Request(
        f"{server.url}v1/{name}",
        json.dumps(arguments or {}).encode(),
        {"authorization": f"Bearer {token}", "content-type": "application/json"},
    )
    with urllib.request.urlopen(sent) as answer:
        return json.load(answer)


def press_until(seen: Seen, key: str, selector: str, most: int = 80) -> None:
    """Press a key until an element that fits has the focus."""
    for _ in range(most):
        if seen.page.evaluate("fits => document.activeElement.matches(fits)", selector):
            return
        seen.keys(key)
    raise AssertionError(f"{selector} is not reached with {key}")


def focus_row(seen: Seen, text: str) -> None:
    """Press j until the focused row has this text."""
    for _ in range(60):
        row = seen.page.locator("[data-row]:focus")
        if row.count() and text in row.inner_text():
            return
        seen.keys("j")
    raise AssertionError(f"no row with {text!r} is reached")


def go(seen: Seen, letter: str, heading: str) -> None:
    seen.keys("g", letter)
    seen.page.get_by_role("heading", name=heading, level=1).wait_for(state="attached")
    seen.settle()


def test_ten_tasks_by_keyboard_alone(own_server: Server, open_page: Open) -> None:
    seen = open_page(own_server)
    page = seen.page

    # 1. Ask a question and see what a score is made of.
    seen.keys("/")
    page.keyboard.type("which rule about card numbers?")
    seen.keys("Enter")
    page.wait_for_selector(".hit")
    seen.keys("Escape", "j")
    press_until(seen, "Tab", ".hit button[aria-expanded]")
    seen.keys("Enter")
    expect(page.locator(".parts").first).to_be_visible()

    # 2. Open the hit, and come back.
    seen.keys("Escape", "k")
    page.locator(".hit").first.focus()
    seen.keys("Enter")
    page.wait_for_selector(".message.here, .statement")
    seen.keys("Escape")

    # 3. Forget a message; its bytes are gone.
    secret = "a phrase that nobody else says: quetzal marmalade"
    message = ask(
        own_server, "sessions_append", {"session_id": "work-next", "role": "user", "content": secret}
    )
    assert message
    found = ask(own_server, "sessions_search", {"query": "quetzal marmalade"})["hits"][0]["id"]
    seen.visit(f"sessions/work-next@{found}")
    page.wait_for_selector(".message.here")
    seen.keys("j")
    press_until(seen, "j", ".message.here")
    seen.keys("#")
    page.wait_for_selector("dialog[open] input")
    page.keyboard.type("forget")
    page.wait_for_selector("dialog[open] .danger:not([disabled])")
    seen.keys("Enter")
    expect(page.locator(".message.here")).to_contain_text("[forgotten]")
    ask(own_server, "memory_status")
    assert not any(
        b"quetzal" in file.read_bytes() for file in own_server.home.glob("mnemos.db*") if file.stat().st_size
    )

    # 4. Correct a fact.
    seen.visit("facts/srv.prod")
    seen.keys("j", "e")
    page.wait_for_selector("dialog[open] textarea")
    press_until(seen, "Tab", "textarea")
    seen.keys("Control+a")
    page.keyboard.type("api.example.com:4000")
    seen.keys("Tab", "Tab", "Enter")
    expect(page.locator(".statement.live")).to_contain_text("4000")
    now = ask(own_server, "memory_history", {"target": "srv.prod"})["facts"]
    assert (now[-1]["state"], now[-1]["content"]) == ("live", "api.example.com:4000")

    # 5. Undo it.
    page.locator("main").focus()
    seen.keys("u")
    expect(page.locator(".statement.live")).to_contain_text("3006")

    # 6. Look back in time.
    go(seen, "f", "Facts")
    press_until(seen, "Tab", "input[type=range]")
    seen.keys("Home")
    page.wait_for_url("**as_of=*")
    expect(page.locator(".board")).not_to_contain_text("slots.step")

    # 7. Edit a note, and bring the old text back.
    go(seen, "n", "Notebook")
    seen.keys("e")
    page.wait_for_selector("textarea")
    press_until(seen, "Tab", "textarea")
    seen.keys("Control+End")
    page.keyboard.type(" Call her Ana.")
    seen.keys("Control+Enter")
    page.wait_for_selector("textarea", state="detached")
    expect(page.locator(".notes").first).to_contain_text("Call her Ana.")
    page.locator("main").focus()
    seen.keys("u")
    expect(page.locator("#main")).not_to_contain_text("Call her Ana.")
    press_until(seen, "Tab", ".panel header button")
    seen.keys("Enter")
    page.wait_for_selector("dialog[open] .versions")
    press_until(seen, "Tab", ".versions li:nth-child(2) button")
    seen.keys("Enter")
    press_until(seen, "Tab", "dialog .main")
    seen.keys("Enter")
    expect(page.locator(".toast")).to_contain_text("Restored")
    expect(page.locator(".notes").first).to_contain_text("Call her Ana.")

    # 8. Delete two conversations with one preview, and undo.
    total = ask(own_server, "sessions_list", {"limit": 1})["total"]
    go(seen, "c", "Conversations")
    page.wait_for_selector("tr[data-row]")
    seen.keys("j", "x", "j", "x", "#")
    page.wait_for_selector("dialog[open] .danger:focus")
    seen.keys("Enter")
    page.wait_for_selector(".chosen", state="detached")
    assert ask(own_server, "sessions_list", {"limit": 1})["total"] == total - 2
    run_program("remember", "the oven is serviced every March", "--home", str(own_server.home))
    seen.keys("u")
    expect(page.locator(".toast")).to_contain_text("Undid 2 changes")
    assert ask(own_server, "sessions_list", {"limit": 1})["total"] == total
    assert ask(own_server, "memory_search", {"query": "oven serviced"})["facts"]

    # 9. Find an operation in the palette and run it.
    seen.keys("Control+k")
    page.wait_for_selector("dialog[open] input")
    page.keyboard.type("memory_status")
    page.wait_for_selector("[role=option]:has-text('operation')")
    press_until_selected(page, "memory_status")
    seen.keys("Enter")
    page.wait_for_selector("h1:has-text('memory_status')")
    press_until(seen, "Tab", "button.main")
    seen.keys("Enter")
    expect(page.get_by_label("answer")).to_contain_text("mail.queue")

    # 10. Connect a program, and disconnect it.
    settings = Path(f"{own_server.home}-person/.cursor/mcp.json")
    for word in ("Connect", "Disconnect"):
        go(seen, "i", "Connections")
        page.wait_for_selector("li[data-row]")
        focus_row(seen, "Cursor")
        press_until(seen, "Tab", "button")
        seen.keys("Enter")
        page.wait_for_selector("dialog[open] .main")
        press_until(seen, "Tab", "dialog .main")
        seen.keys("Enter")
        row = expect(page.locator("li[data-row]", has_text="Cursor"))
        (row.to_contain_text if word == "Connect" else row.not_to_contain_text)("connected")
        assert (settings.exists() and "mnemos" in settings.read_text()) is (word == "Connect")
        seen.keys("g", "o")

    # 11. Import an export.
    export = own_server.home.parent / "export.jsonl"
    talk = {"id": "from-a-file", "source": "web", "messages": [{"role": "user", "content": "hello again"}]}
    export.write_text(json.dumps(talk) + "\n")
    go(seen, "i", "Connections")
    press_until(seen, "Tab", "select[aria-label=format]")
    page.keyboard.type("JSON")
    press_until(seen, "Tab", "input[type=file]")
    choose_file(seen, export)
    expect(page.get_by_role("status").filter(has_text="1 new session")).to_be_visible()
    assert ask(own_server, "sessions_search", {"query": "hello again"})["hits"]
    assert seen.errors == []
    logged = {one["operation"] for one in ask(own_server, "log", {"limit": 100})["entries"]}
    assert logged >= {
        *("forget", "facts.write", "undo facts.write", "notebook.change", "undo notebook.change"),
        *("sessions.delete", "undo sessions.delete", "sessions.import"),
    }


def choose_file(seen: Seen, file: Path) -> None:
    """Open the chooser of the focused field, which Chromium sometimes refuses to the first key."""
    for key in ("Enter", "Space", "Enter"):
        try:
            with seen.page.expect_file_chooser(timeout=10_000) as chosen:
                seen.keys(key)
        except TimeoutError:
            continue
        chosen.value.set_files(file)
        return
    raise AssertionError("no file can be chosen with the keyboard")


def press_until_selected(page: Page, text: str) -> None:
    for _ in range(20):
        if (
            page.locator("[role=option][aria-selected=true]", has_text="operation")
            .filter(has_text=text)
            .count()
        ):
            return
        page.keyboard.press("ArrowDown")
    raise AssertionError(text)


@pytest.fixture(scope="module")
def reader(sample: Path) -> str:
    made = run_program("tokens", "create", "reader", "--json", "--home", str(sample))
    token: str = json.loads(made)["token"]
    return token


WRITES = {
    *("forget", "correct", "withdraw", "erase", "rename", "delete", "archive", "edit", "undo", "New fact"),
    *("New entry", "Make room", "Repair", "Optimize", "extract", "restore", "connect", "import", "change"),
}


def test_token_for_reading_draws_no_control_that_writes(
    server: Server, browser: Browser, reader: str
) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(server.url)
    page.get_by_label("paste a token").fill(reader)
    page.get_by_role("button", name="Open").click()
    page.wait_for_selector("nav.side")
    assert page.locator("nav.side a", has_text="Connections").count() == 0
    addresses = (
        "overview recall?q=mails sessions sessions/slot-bug facts facts/srv.prod notebook workspace".split()
    )
    for address in [
        *addresses,
        "workspace/default/products",
        "people",
        "people/ana",
        "templates",
        "log",
        "health",
    ]:
        page.evaluate("address => { location.hash = address }", f"#/{address}")
        page.wait_for_selector("#main [aria-busy=true]", state="detached")
        page.wait_for_timeout(200)
        shown = {one.strip() for one in page.locator("#main button").all_inner_texts()}
        drawn = [one for one in shown if any(one.startswith(word) for word in WRITES)]
        assert drawn == [], address
        assert page.locator("#main input[type=checkbox][aria-label^=select]").count() == 0, address
    answer = page.evaluate("""async () => {
      const { call } = await import('/page/core.js');
      return call('forget', {ref: 'message:1'}).then(() => 'done', error => error.code);
    }""")
    assert answer == "not_allowed"
    context.close()


CHANGES: dict[str, dict[str, Any]] = {
    "memory_write": {"content": "V[srv.prod]: elsewhere"},
    "forget": {"ref": "message:1"},
    "sessions_delete": {"session": "work-000"},
    "undo": {},
    "notebook_edit": {"target": "memory", "text": "nothing"},
    "connect_cursor": {},
    "import_jsonl": {"path": "export.jsonl"},
    "sqlite_restore": {},
    "entries_set": {"user": "ana", "key": "city", "value": "Rome"},
}


@pytest.mark.parametrize("name", CHANGES)
def test_token_for_reading_changes_nothing(server: Server, reader: str, name: str) -> None:
    with pytest.raises(urllib.error.HTTPError) as refused:
        ask(server, name, CHANGES[name], reader)
    assert json.load(refused.value)["error"]["code"] == "not_allowed"
    refused.value.close()


def test_page_goes_on_when_the_server_comes_back(own_server: Server, open_page: Open) -> None:
    seen = open_page(own_server)
    own_server.stop()
    seen.keys("g", "f")
    expect(seen.page.locator(".down")).to_contain_text("does not answer")
    own_server.start_again()
    seen.page.wait_for_selector(".down", state="detached")
    seen.visit("sessions")
    expect(seen.page.locator("tr[data-row]").first).to_be_visible()


def test_changes_of_other_processes_appear_in_every_tab(own_server: Server, open_page: Open) -> None:
    tabs = [open_page(own_server), open_page(own_server)]
    for seen in tabs:
        seen.visit("live")
        seen.page.wait_for_selector(".tag.accent:has-text('live')")
    run_program("remember", "the oven is serviced every March", "--home", str(own_server.home))
    for seen in tabs:
        expect(seen.page.locator(".live")).to_contain_text("every March")


def test_recall_shows_the_text_of_the_model_and_scores_that_add_up(server: Server, open_page: Open) -> None:
    seen = open_page(server)
    question = "which queue did we choose for the order mails?"
    seen.visit(f"recall?q={question}")
    seen.page.wait_for_selector("#packed")
    answer = ask(server, "recall", {"query": question, "explain": True})
    assert seen.page.locator("#packed").evaluate("one => one.textContent") == answer["packed"]
    expect(seen.page.locator(".given")).to_contain_text(f"{answer['explanation']['tokens']} of 2,400 tokens")
    for hit in answer["hits"]:
        assert abs(sum(part["points"] for part in hit["explained"]["parts"]) - hit["score"]) < 0.01
    seen.page.get_by_label("Not here?").fill("the footer covers a button")
    seen.keys("Enter")
    expect(seen.page.locator(".probe [role=status] .tag")).to_be_visible()
    assert seen.errors == []


def test_two_questions_are_compared_at_one_address(server: Server, open_page: Open) -> None:
    seen = open_page(server)
    seen.visit("recall?q=order+mails")
    seen.page.get_by_role("button", name="compare").click()
    second = seen.page.get_by_label("Question to compare with")
    expect(second).to_have_value("order mails")
    second.fill("card numbers")
    seen.page.wait_for_url("**q=order+mails&q2=card+numbers")
    expect(seen.page.locator("#packed2")).to_contain_text("card numbers")
    expect(seen.page.locator("#packed")).not_to_contain_text("card numbers")
    seen.page.reload()
    expect(seen.page.locator("#packed2")).to_contain_text("card numbers")
    seen.page.get_by_role("button", name="close comparison").click()
    seen.page.wait_for_selector("#packed2", state="detached")
    assert seen.page.url.endswith("#/recall?q=order+mails")
    assert seen.errors == []


def test_facts_and_their_messages_lead_to_each_other(server: Server, open_page: Open) -> None:
    seen = open_page(server)
    seen.visit("sessions/work-000")
    taken = seen.page.locator(".message[data-number='4'] .taken")
    expect(taken).to_contain_text("D[mail.queue]")
    assert seen.page.locator(".taken").count() == 1
    taken.locator("a").click()
    seen.page.get_by_role("link", name="said in message").click()
    expect(seen.page.locator(".message.here")).to_contain_text("Agreed, Redis streams")
    expect(seen.page.locator(".facts-line")).to_contain_text("Order mails → Order mails, continued")
    seen.visit("facts")
    seen.page.get_by_role("link", name="open both").click()
    expect(seen.page.locator(".statement")).to_contain_text(["3006", "3005"])
    seen.visit("facts/srv.port")
    expect(seen.page.get_by_role("link", name="contradicts")).to_have_count(2)
    assert seen.errors == []


def test_console_completes_names_of_the_schema(server: Server, open_page: Open) -> None:
    seen = open_page(server)
    seen.visit("workspace")
    seen.page.get_by_label("SQL on default").fill("SELECT name FROM prod")
    seen.page.get_by_role("button", name="products").click()
    expect(seen.page.get_by_label("SQL on default")).to_have_value("SELECT name FROM products")
    assert seen.errors == []
