"""Views that are drawn from their address, on small windows and for many things."""

from __future__ import annotations

from playwright.sync_api import Route, expect

from .conftest import Open, Server
from .test_tasks import ask


def test_facts_are_filtered_by_state_and_words(server: Server, open_page: Open) -> None:
    seen = open_page(server)
    seen.visit("facts")
    board = seen.page.locator(".board")
    expect(board).not_to_contain_text(":3005")
    seen.page.get_by_role("button", name="including ended").click()
    expect(board).to_contain_text(":3005")
    seen.page.get_by_role("button", name="cold", exact=True).click()
    expect(board).to_contain_text("sliding")
    expect(board).not_to_contain_text("Redis streams")
    seen.visit("facts?q=redis")
    expect(board.locator(".fact")).to_have_count(1)
    seen.visit("facts?as_of=2026-01-01")
    slider = seen.page.get_by_role("slider")
    slider.press("End")
    expect(slider).to_have_attribute("aria-valuetext", "now")
    assert seen.errors == []


def test_a_scope_with_many_facts_leaves_room_for_others(own_server: Server, open_page: Open) -> None:
    many = "\n".join(f"V[shelf.{at}]: {at} jars" for at in range(20))
    ask(own_server, "memory_write", {"content": many, "scope": "pantry"})
    seen = open_page(own_server)
    seen.visit("facts")
    pantry = seen.page.locator(".panel", has_text="pantry")
    expect(pantry.locator(".fact")).to_have_count(12)
    pantry.get_by_role("link", name="all facts of this scope").click()
    expect(pantry.locator(".fact")).to_have_count(20)
    expect(seen.page.locator(".board .panel")).to_have_count(1)


def test_a_dialog_does_not_stay_over_another_page(server: Server, open_page: Open) -> None:
    seen = open_page(server)
    seen.visit("facts")
    seen.visit("people")
    seen.keys("n")
    seen.page.wait_for_selector("dialog[open]")
    seen.page.go_back()
    seen.page.wait_for_selector("dialog[open]", state="detached")
    expect(seen.page.get_by_role("heading", name="Facts", level=1)).to_be_visible()


def test_an_address_that_names_nothing_says_so(server: Server, open_page: Open) -> None:
    seen = open_page(server)
    for address in ("facts/nope", "facts?open=f99", "sessions/nope", "templates/nope", "workspace/nope"):
        seen.visit(address)
        # The advice of the API is for models: a person has this page.
        expect(seen.page.get_by_role("alert")).to_contain_text("nope" if "nope" in address else "f99")
        expect(seen.page.get_by_role("alert")).not_to_contain_text("tool")


def test_history_has_a_lane_for_each_scope(server: Server, open_page: Open) -> None:
    seen = open_page(server)
    seen.visit("facts/srv.port")
    expect(seen.page.locator(".lane")).to_have_count(2)
    expect(seen.page.locator(".lanes")).to_contain_text("deploy")


def test_new_fact_begins_with_its_target(server: Server, open_page: Open) -> None:
    seen = open_page(server)
    seen.visit("facts")
    # Overview has a board as well.
    seen.page.wait_for_selector(".fact")
    seen.keys("n")
    expect(seen.page.get_by_label("target")).to_be_focused()


def test_escape_leads_back_to_the_question(server: Server, open_page: Open) -> None:
    seen = open_page(server)
    seen.visit("recall?q=order+mails")
    for kind in ("message", "fact"):
        hit = seen.page.locator(".hit", has=seen.page.locator(f".tag:text-is('{kind}')")).first
        hit.get_by_role("link", name="open").click()
        seen.page.wait_for_selector(".message.here, .statement")
        seen.keys("Escape")
        seen.page.wait_for_url("**/#/recall?q=order+mails")
        seen.page.wait_for_selector(".hit")
    # From a list, Esc leads back to the list with its filter.
    seen.visit("sessions?source=codex")
    seen.page.locator("tr[data-row] a").first.click()
    seen.page.wait_for_selector(".message")
    seen.keys("Escape")
    seen.page.wait_for_url("**/#/sessions?source=codex")


def test_hits_of_every_kind_open_the_item(server: Server, open_page: Open) -> None:
    seen = open_page(server)
    for kind, question, opened in (
        ("note", "Lisbon time zone tests", ".notes li.here"),
        ("table", "item 5 price products", ".grid"),
        ("template", "find a time bug", ".statement"),
        ("fact", "mail queue", ".statement"),
    ):
        seen.visit(f"recall?q={question}&kind={kind}")
        seen.page.locator(".hit").first.get_by_role("link", name="open").click()
        seen.page.wait_for_selector(opened)
    seen.visit("people?open=2")
    expect(seen.page.locator(".entries li.here")).to_contain_text("Lisbon")
    assert seen.errors == []


def test_words_of_a_search_are_marked_in_the_conversation(server: Server, open_page: Open) -> None:
    seen = open_page(server)
    seen.visit("sessions/work-000?q=mails")
    expect(seen.page.locator(".message mark").first).to_have_text("mail")
    expect(seen.page.get_by_role("status").filter(has_text="hits")).to_be_visible()


def test_only_the_messages_of_a_conversation_scroll(server: Server, open_page: Open) -> None:
    for width in (1280, 390):
        seen = open_page(server, width=width)
        seen.visit("sessions/work-001")
        seen.page.wait_for_selector(".message")
        assert seen.page.evaluate("document.documentElement.scrollHeight <= innerHeight"), width


def test_reasons_of_a_score_keep_within_a_small_window(server: Server, open_page: Open) -> None:
    seen = open_page(server, width=390)
    seen.visit("recall?q=order+mails")
    seen.page.get_by_role("button", name="why").first.click()
    expect(seen.page.locator(".parts tfoot").first).to_be_visible()
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= 390
    for part in (".hit .score", ".hit .stack"):
        box = seen.page.locator(part).first.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= 390, part


def test_headings_keep_their_words_on_a_small_window(server: Server, open_page: Open) -> None:
    seen = open_page(server, width=390)
    for address in ("health", "facts", "sessions", "log", "templates", "sessions/work-000"):
        seen.visit(address)
        box = seen.page.get_by_role("heading", level=1).bounding_box()
        assert box is not None
        assert box["height"] < 40, address


def test_checks_run_once_when_health_is_left_and_opened_again(server: Server, open_page: Open) -> None:
    seen = open_page(server)
    asked: list[str] = []
    seen.page.on("request", lambda one: asked.append(one.url))
    waiting: list[Route] = []
    seen.page.route("**/v1/doctor", lambda one: waiting.append(one))
    for address in ("health", "notebook", "health"):
        seen.page.evaluate("address => { location.hash = address }", f"#/{address}")
        expect(seen.page.get_by_role("heading", level=1)).to_have_text(address.title())
        expect(seen.page.locator(".meter").first).to_be_visible()
    expect(seen.page.locator("#main")).to_contain_text("Checking the whole database")
    for one in waiting:
        one.continue_()
    expect(seen.page.locator("#main")).to_contain_text("everything is in order")
    assert sum(url.endswith("/v1/doctor") for url in asked) == 1


def test_console_keeps_within_a_small_window(server: Server, open_page: Open) -> None:
    seen = open_page(server, width=390)
    long = "SELECT name, price, id FROM products WHERE price > 1 ORDER BY price DESC, name LIMIT 100"
    seen.page.evaluate("query => sessionStorage.setItem('queries', JSON.stringify([query]))", long)
    seen.visit("workspace")
    expect(seen.page.get_by_label("earlier queries")).to_be_visible()
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= 390


def test_titles_of_conversations_have_room_on_a_small_window(server: Server, open_page: Open) -> None:
    seen = open_page(server, width=390)
    seen.visit("sessions")
    title = seen.page.locator("tr[data-row] td:has(a)").first.bounding_box()
    assert title is not None
    assert title["width"] > 180


def test_palette_opens_by_touch_and_finds_titles(server: Server, open_page: Open) -> None:
    seen = open_page(server, width=390)
    seen.page.get_by_title("command palette").click()
    seen.page.get_by_role("combobox").fill("Invoice export")
    option = seen.page.get_by_role("option").filter(has_text="conversation").filter(has_text="Invoice export")
    option.first.click()
    seen.page.wait_for_selector(".message")
    expect(seen.page.get_by_role("heading", level=1)).to_have_text("Invoice export")


def test_forms_take_fields_for_people_and_write_whole_calls(server: Server, open_page: Open) -> None:
    seen = open_page(server)
    seen.visit("everything/recall")
    page = seen.page
    page.get_by_label("query").fill("order mails")
    page.get_by_label("all_projects").check()
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_label("answer")).to_contain_text("Order mails")
    call = page.get_by_label("the same call")
    expect(call).to_contain_text(f"{server.url}v1/recall?person=true")
    expect(call).to_contain_text(f"{server.home}/token")
    page.get_by_role("button", name="Python").click()
    expect(call).to_contain_text(f'mnemos.open("{server.home}")')
    page.get_by_role("button", name="command", exact=True).click()
    expect(call).to_contain_text(f"--home {server.home}")
    assert seen.errors == []


def test_a_logged_recall_is_compared_with_now(own_server: Server, open_page: Open) -> None:
    ask(own_server, "recall", {"query": "which queue for the mails"})
    # Questions are logged when the server has nothing else to do.
    for _ in range(3_000):
        if [one["query"] for one in ask(own_server, "recalls", {"limit": 5})["recalls"]]:
            break
    seen = open_page(own_server)
    seen.visit("overview")
    seen.page.get_by_role("link", name="which queue for the mails").click()
    then = seen.page.locator("details.notice")
    expect(then).to_contain_text("Asked by")
    then.locator("summary").click()
    expect(then.locator("table")).to_contain_text("rank then")


def test_conversations_that_match_are_selected_together(own_server: Server, open_page: Open) -> None:
    seen = open_page(own_server)
    total = ask(own_server, "sessions_list", {"limit": 1})["total"]
    matching = ask(own_server, "sessions_list", {"limit": 1, "source": "codex"})["total"]
    seen.visit("sessions?source=codex")
    seen.page.get_by_label("select all on this page").check()
    seen.page.get_by_role("button", name="Delete").click()
    seen.page.locator("dialog[open] .danger").click()
    expect(seen.page.locator(".toast button")).to_be_visible()
    assert ask(own_server, "sessions_list", {"limit": 1})["total"] == total - matching
    seen.page.locator(".toast button").click()
    expect(seen.page.locator(".toast")).to_contain_text(f"Undid {matching} changes")
    assert ask(own_server, "sessions_list", {"limit": 1})["total"] == total


def test_several_messages_are_forgotten_with_one_question(own_server: Server, open_page: Open) -> None:
    seen = open_page(own_server)
    seen.visit("sessions/work-001")
    seen.page.wait_for_selector(".message:not(.coming)")
    seen.settle()
    seen.keys("j", "x", "j", "x")
    seen.page.get_by_role("button", name="Forget…").click()
    dialog = seen.page.locator("dialog[open]")
    expect(dialog.locator(".stake")).to_contain_text("The accountant wants the invoices")
    dialog.get_by_role("textbox").fill("forget")
    dialog.get_by_role("button", name="Forget").click()
    expect(seen.page.locator(".message", has_text="[forgotten]")).to_have_count(2)
