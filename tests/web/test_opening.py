"""The link, the session and what guards them."""

from __future__ import annotations

import json
import urllib.error
import urllib.request

import pytest
from playwright.sync_api import Browser, expect

from .conftest import Open, Server


def test_code_is_taken_out_of_the_address_and_works_once(
    browser: Browser, server: Server, open_page: Open
) -> None:
    link = server.link()
    context = browser.new_context()
    page = context.new_page()
    page.goto(link)
    page.wait_for_selector("nav.side")
    assert "t=" not in page.url
    assert page.evaluate("document.cookie") == ""
    page.reload()
    page.wait_for_selector("nav.side")
    second = context.new_page()
    second.goto(link)
    expect(second.get_by_role("alert")).to_contain_text("already used")
    expect(second.get_by_text("mnemos ui", exact=True)).to_be_visible()
    context.close()


def test_page_without_a_link_says_how_to_get_one(browser: Browser, server: Server) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(server.url)
    expect(page.get_by_text("mnemos ui", exact=True)).to_be_visible()
    page.get_by_label("paste a token").fill("mnm_wrong")
    page.get_by_role("button", name="Open").click()
    expect(page.get_by_role("alert")).to_contain_text("not valid")
    page.get_by_label("paste a token").fill((server.home / "token").read_text())
    page.get_by_role("button", name="Open").click()
    page.wait_for_selector("nav.side")
    context.close()


def test_files_forbid_everything_that_the_page_does_not_need(server: Server) -> None:
    with urllib.request.urlopen(server.url) as answer:
        policy = answer.headers["content-security-policy"]
        assert answer.headers["cache-control"] == "no-store"
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
    assert "require-trusted-types-for 'script'; trusted-types 'none'" in policy


@pytest.mark.parametrize(
    "path", ["page/../token", "page/%2e%2e/token", "page//style.css", "page/vendor", "page/NOTICE"]
)
def test_only_files_of_the_page_are_served(server: Server, path: str) -> None:
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(server.url + path)
    assert refused.value.code == 401
    refused.value.close()


def test_sessions_are_kept_as_hashes(server: Server, open_page: Open) -> None:
    token = open_page(server).page.evaluate("sessionStorage.token")
    kept = (server.home / "page.json").read_text()
    assert token.split("_")[1] in kept
    assert token not in kept
    assert (server.home / "page.json").stat().st_mode & 0o077 == 0
    assert all(set(one) <= {"sha256", "space", "expires_at", "was_used"} for one in json.loads(kept)["codes"])


def test_link_pasted_into_an_open_tab_signs_in(browser: Browser, server: Server) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(server.url)
    expect(page.get_by_text("mnemos ui", exact=True)).to_be_visible()
    page.goto(server.link())
    page.wait_for_selector("nav.side")
    assert "t=" not in page.url
    context.close()
