"""Changes made on the page: each undo is exact, each loss is asked for, nothing is overwritten unseen."""

from __future__ import annotations

from playwright.sync_api import expect

from .conftest import Open, Seen, Server, run_program
from .test_tasks import ask


def delete_first_conversations(seen: Seen, count: int) -> None:
    seen.visit("sessions")
    for row in range(count):
        seen.page.locator("tr[data-row] input").nth(row).check()
    seen.page.get_by_role("button", name="Delete").click()
    seen.page.locator("dialog[open] .danger").click()
    expect(seen.page.locator(".toast button")).to_be_visible()


def count_sessions(server: Server) -> int:
    total: int = ask(server, "sessions_list", {"limit": 1})["total"]
    return total


def test_undo_restores_what_was_deleted_here_and_keeps_what_others_wrote(
    own_server: Server, open_page: Open
) -> None:
    seen = open_page(own_server)
    total = count_sessions(own_server)
    delete_first_conversations(seen, 2)
    assert count_sessions(own_server) == total - 2
    run_program("remember", "the oven is serviced every March", "--home", str(own_server.home))
    seen.page.get_by_role("button", name="Undo").click()
    expect(seen.page.locator(".toast")).to_contain_text("Undid 2 changes")
    assert count_sessions(own_server) == total
    assert ask(own_server, "memory_search", {"query": "oven serviced"})["facts"]
    # There is nothing left to undo: the key leads to the log.
    seen.page.locator("main").focus()
    seen.keys("u")
    seen.page.wait_for_url("**/#/log")


def test_switching_the_space_forgets_what_could_be_undone(own_server: Server, open_page: Open) -> None:
    home = ("--home", str(own_server.home))
    run_program("remember", "the other space has one fact", *home, MNEMOS_SPACE="other")
    seen = open_page(own_server)
    total = count_sessions(own_server)
    delete_first_conversations(seen, 1)
    seen.page.get_by_title("space", exact=True).click()
    seen.page.get_by_role("button", name="other").click()
    expect(seen.page.get_by_title("space", exact=True)).to_contain_text("other")
    expect(seen.page.locator(".toast")).to_have_count(0)
    seen.keys("u")
    seen.page.wait_for_url("**/#/log")
    assert count_sessions(own_server) == total - 1
    assert "one fact" in run_program("facts", "list", *home, MNEMOS_SPACE="other")


def test_undo_of_an_import_asks_first(own_server: Server, open_page: Open) -> None:
    seen = open_page(own_server)
    total = count_sessions(own_server)
    seen.visit("log")
    row = seen.page.locator("li[data-row]", has_text="sessions.import").first
    row.get_by_role("button", name="undo", exact=True).click()
    expect(seen.page.locator("dialog[open] .stake")).to_contain_text("imported session")
    seen.page.get_by_role("button", name="Cancel").click()
    assert count_sessions(own_server) == total
    row.get_by_role("button", name="sessions.import").click()
    # Nothing behind a dialog takes keys.
    assert seen.page.locator("dialog[open]").evaluate("one => one.matches(':modal')")
    seen.page.reload()
    expect(seen.page.locator("dialog:modal")).to_be_visible()
    seen.keys("Escape")
    expect(seen.page.locator("dialog")).to_have_count(0)
    # An entry of a table or of a person can't be undone, so it is not offered.
    entry = seen.page.locator("li[data-row]", has_text="entries.set").first
    expect(entry).to_be_visible()
    expect(entry.get_by_role("button", name="undo", exact=True)).to_have_count(0)


def test_editor_that_was_open_while_others_wrote_loses_nothing(own_server: Server, open_page: Open) -> None:
    seen = open_page(own_server)
    seen.visit("notebook")
    seen.page.get_by_role("button", name="edit").first.click()
    run_program("notebook", "add", "memory", "The oven is new.", "--home", str(own_server.home))
    # Something changes on the page, so the notebook is read again while the editor stays open.
    seen.page.evaluate("window.dispatchEvent(new Event('mnemos:changed'))")
    seen.settle()
    field = seen.page.get_by_role("textbox", name="Notes")
    field.press("Control+End")
    field.press_sequentially(" Deploys are on Mondays.")
    field.press("Control+Enter")
    expect(seen.page.locator(".toast")).to_contain_text("merged")
    notes = "".join(ask(own_server, "notebook_show")["files"][0]["entries"])
    assert "The oven is new." in notes
    assert "Mondays" in notes


def test_forget_quotes_the_text_and_names_backups(own_server: Server, open_page: Open) -> None:
    backup = own_server.home.parent / "old.db"
    run_program("backup", str(backup), "--home", str(own_server.home))
    seen = open_page(own_server)
    seen.visit("sessions/work-000")
    seen.page.get_by_role("button", name="forget message 1", exact=True).click()
    dialog = seen.page.locator("dialog[open]")
    expect(dialog.locator(".stake")).to_contain_text("Customers get the order mail twice")
    assert dialog.locator(".word span").evaluate("one => one.getBoundingClientRect().height") < 30
    dialog.get_by_role("textbox").fill("forget")
    dialog.get_by_role("button", name="Forget").click()
    expect(seen.page.get_by_role("dialog", name="Erased")).to_contain_text(backup.name)
    seen.page.get_by_role("button", name="Close", exact=True).click()
    expect(seen.page.locator(".message").first).to_contain_text("[forgotten]")


def test_restore_repair_and_sql_that_deletes_ask_first(own_server: Server, open_page: Open) -> None:
    seen = open_page(own_server)
    page = seen.page
    seen.visit("workspace")
    sql = page.get_by_label("SQL on default")
    sql.fill("DELETE FROM products WHERE id > 30")
    sql.press("Control+Enter")
    expect(page.get_by_role("alert")).to_contain_text("allow changes")
    page.get_by_label("allow changes").check()
    sql.press("Control+Enter")
    page.locator("dialog[open] .danger").click()
    expect(page.get_by_role("status").filter(has_text="100 changes")).to_be_visible()
    sql.fill("SELEC 1")
    page.get_by_label("allow changes").uncheck()
    sql.press("Control+Enter")
    expect(page.get_by_role("alert")).to_contain_text("SELEC")
    expect(page.get_by_role("alert")).not_to_contain_text("EXPLAIN")
    seen.visit("workspace?view=snapshots")
    page.get_by_role("button", name="restore…").first.click()
    expect(page.locator("dialog[open] .stake")).to_contain_text("replaces all tables")
    page.locator("dialog[open] .danger").click()
    expect(page.locator(".toast")).to_contain_text("Restored")
    seen.visit("health")
    page.get_by_role("button", name="Repair…").click()
    expect(page.locator("dialog[open] .stake")).to_contain_text("Nothing readable is lost")


SET_HIDDEN = """hidden => {
  Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });
  document.dispatchEvent(new Event('visibilitychange'));
}"""


def test_live_misses_nothing_while_it_is_hidden_or_paused(own_server: Server, open_page: Open) -> None:
    home = ("--home", str(own_server.home))
    seen = open_page(own_server)
    seen.visit("live")
    status, rows = seen.page.locator(".tag[role=status]"), seen.page.locator(".live li")
    expect(status).to_have_text("live")
    seen.page.evaluate(SET_HIDDEN, True)
    run_program("remember", "the oven is serviced every March", *home)
    seen.page.evaluate(SET_HIDDEN, False)
    expect(rows.first).to_contain_text("every March")
    seen.page.get_by_role("button", name="Pause").click()
    run_program("remember", "the mixer is serviced every April", *home)
    run_program("remember", "the fridge is serviced every May", *home)
    expect(rows.first).to_contain_text("every March")
    seen.page.get_by_role("button", name="Resume").click()
    expect(rows.first).to_contain_text("every May")
    expect(rows.nth(1)).to_contain_text("every April")
    assert rows.count() == len(set(rows.all_inner_texts()))
    # A second tab of the browser gets its changes from the first, and goes on alone.
    second = seen.page.context.new_page()
    second.goto(own_server.link())
    second.wait_for_selector("nav.side")
    second.goto(f"{own_server.url}#/live")
    expect(second.locator(".tag[role=status]")).to_have_text("live")
    seen.page.close()
    run_program("remember", "the scale is serviced every June", *home)
    expect(second.locator(".live li").first).to_contain_text("every June")
