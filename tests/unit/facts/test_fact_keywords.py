"""Facts are found by words that they don't contain."""

from __future__ import annotations

import time

import pytest

from mnemos.facts.facts import Facts
from mnemos.facts.keywords import name_kinds

# Every one of them made an unanchored pattern scan the rest of the text from each of its characters.
HOSTILE = ["a", "a-", "a.", "1", "1.", "a@", "+1 ", "/a", "a/", "#a", "x:", "://", "a-b.", "1a"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("api.example.com:3005", {"port", "host", "address", "url"}),
        ("listens on port 80", set()),
        ("redis://cache", {"url", "link", "address"}),
        ("10.0.0.7", {"ip", "address"}),
        ("ops@example.org", {"email", "mail", "address"}),
        ("+49 30 1234567", {"phone", "telephone", "number", "call"}),
        ("Python 3.12", {"version"}),
        ("node 22 LTS", {"version"}),
        ("costs €5", {"price", "cost", "money"}),
        ("/etc/hosts", {"path", "file", "folder"}),
        ("src/app/main", {"path", "file", "folder"}),
        ("#deploys", {"channel", "chat"}),
        ("2026-03-01", {"date", "day", "when"}),
        ("k8s", {"kubernetes"}),
        ("only words here", set()),
    ],
)
def test_values_are_found_by_their_kind(text: str, words: set[str]) -> None:
    found = set(name_kinds(text).split())
    assert words <= found
    assert found or not words


@pytest.mark.parametrize("unit", HOSTILE)
def test_a_huge_fact_is_indexed_in_linear_time(unit: str) -> None:
    text = unit * (200_000 // len(unit))
    began = time.process_time()
    name_kinds(text)
    assert time.process_time() - began < 10


def test_a_fact_and_a_list_of_facts_show_themselves(facts: Facts) -> None:
    facts.write("V[srv.prod]: <b>api</b> & co", scope="infra")
    (fact,) = found = facts.list()
    assert repr(fact) == "<Fact f1 'V[srv.prod]: <b>api</b> & co' live, hot, scope infra>"
    assert str(found) == str(fact) == "V[srv.prod]: <b>api</b> & co"
    assert found == [fact] == facts.search("srv.prod") == facts.history("srv.prod")
    assert len(found) == 1
    html = found._repr_html_()
    assert "<td>srv.prod</td><td>&lt;b&gt;api&lt;/b&gt; &amp; co</td><td>infra</td>" in html


def test_the_result_of_a_write_shows_itself(facts: Facts) -> None:
    facts.write("D[auth]: sessions")
    written = facts.write("D[auth]: JWT")
    assert str(written) == "f2 D[auth] superseded, replaces f1"
    assert str(facts.tick(3)).startswith("turn 3, ")
    assert str(written.gauge) == f"{written.gauge.used}/150 tokens ({written.gauge.percent}%)"
