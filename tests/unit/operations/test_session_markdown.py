"""Sessions written for people to read."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mnemos
from mnemos.operations.session_files import write_markdown

NOW = 1_767_225_600.0


def written(messages: list[dict[str, Any]], **fields: Any) -> str:
    empty = {"tool_name": None, "tool_calls": None, "tool_call_id": None, "timestamp": NOW, "content": None}
    session = {
        "id": "s-1", "title": None, "source": "cli", "model": None, "started_at": NOW, "ended_at": None,
        "end_reason": None, "parent_session_id": None,
    }  # fmt: skip
    stream = io.StringIO()
    both = {**session, **fields, "messages": [{**empty, **message} for message in messages]}
    assert write_markdown([both], stream) == 1
    return stream.getvalue()


def call(arguments: str, name: str = "read_file") -> dict[str, Any]:
    return {"id": "c", "type": "function", "function": {"name": name, "arguments": arguments}}


def test_a_session_says_what_it_is_and_who_spoke() -> None:
    page = written(
        [{"role": "user", "content": "Hello\nthere"}, {"role": "assistant", "content": "Hi"}],
        title="A *bold* title",
        model="m-1",
        ended_at=NOW + 60,
        end_reason="done",
        parent_session_id="s-0",
    )
    assert page == (
        "# A \\*bold\\* title\n\n"
        "- Session `s-1` from cli\n- Model m-1\n- Began 2026-01-01 00:00:00 UTC\n"
        "- Ended 2026-01-01 00:01:00 UTC (done)\n- Continues `s-0`\n- 2 messages\n\n"
        "## user, 2026-01-01 00:00:00 UTC\n\n> Hello\n> there\n\n"
        "## assistant, 2026-01-01 00:00:00 UTC\n\n> Hi\n\n"
    )


def test_a_long_call_and_its_result_are_folded_away() -> None:
    arguments = json.dumps({"path": "/srv/app.py", "text": "x" * 300})
    page = written(
        [
            {"role": "assistant", "tool_calls": [call(arguments)]},
            {"role": "tool", "tool_name": "read_file", "content": "line\n" * 50},
        ]
    )
    assert "<summary>Called read_file</summary>" in page
    assert '  "path": "/srv/app.py",' in page
    assert "<summary>Result</summary>" in page
    assert page.count("<details>") == page.count("</details>") == 2


def test_a_short_call_and_a_short_result_are_not_folded() -> None:
    page = written(
        [
            {"role": "assistant", "tool_calls": [call('{"path": "."}', "look")]},
            {"role": "tool", "tool_name": "look", "content": "3 files"},
        ]
    )
    assert 'Called `look`:\n\n```text\n{"path": "."}\n```' in page
    assert "Result:\n\n```text\n3 files\n```" in page
    assert "<details>" not in page


def test_what_was_forgotten_says_so() -> None:
    assert "*forgotten*" in written([{"role": "user", "content": "[forgotten]", "forgotten": True}])


@pytest.mark.parametrize("text", ["```\nopen", "~~~\nopen", "- a\n- b", "# Heading", "`````", "    code"])
def test_nothing_that_is_said_breaks_out_of_its_quotation(text: str) -> None:
    page = written([{"role": "user", "content": text}, {"role": "user", "content": "next"}])
    assert len(re.findall(r"^## user", page, re.MULTILINE)) == 2
    said = page.split("UTC\n\n", 2)[1].split("\n\n## ")[0]
    assert all(line.startswith(">") for line in said.split("\n"))


@given(st.text(st.sampled_from("`~ \nab#>*"), max_size=60))
def test_no_result_closes_its_fence(text: str) -> None:
    page = written([{"role": "tool", "tool_name": "t", "content": f"x{text}"}])
    opening = re.search(r"^(`{3,})text\n", page, re.MULTILINE)
    assert opening is not None
    body, _, rest = page[opening.end() :].partition(f"\n{opening[1]}\n")
    assert body == f"x{text}".removesuffix("\n")
    assert "`" not in rest


def test_halves_of_characters_and_parts_can_be_written(tmp_path: Path) -> None:
    with mnemos.open(tmp_path / "home", embedder="none") as memory:
        memory.sessions.create_session("s", "cli")
        parts = [{"type": "text", "text": "see \ud800\0"}, {"type": "image_url", "image_url": {"url": "x"}}]
        memory.sessions.append_message("s", "user", parts)
        memory.sessions.append_message("s", "assistant", None, tool_calls=[call("\udfff"), "\ud800", 7])
        for name in ("a.md", "b.markdown"):
            memory.call("sessions_export", {"path": str(tmp_path / name), "session": ["s"]})
            page = (tmp_path / name).read_text()
            assert "> see \ufffd\\u0000" in page
            assert "> [image_url]" in page
        memory.call("sessions_export", {"path": str(tmp_path / "c.txt"), "format": "markdown"})
        assert (tmp_path / "c.txt").read_text() == (tmp_path / "a.md").read_text()
        memory.call("sessions_export", {"path": str(tmp_path / "d.md"), "format": "jsonl"})
        assert (tmp_path / "d.md").read_text().startswith('{"id"')


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("<!-- a", r"\<!-- a"),
        ("a <b>c</b>", r"a \<b>c\</b>"),
        (r"\<b> \\<b>", r"\<b> \\\<b>"),
        ("`<i>` and <i>", r"`<i>` and \<i>"),
        ("``a ` <i>`` <i>", r"``a ` <i>`` \<i>"),
        ("one `\ntwo ` <i> `", r"one `|two ` \<i> `"),
        (r"\`<i>`", r"\`\<i>`"),
        ("```html\n<div>\n```\n<p>", r"```html|<div>|```|\<p>"),
        ("~~~\n<div>\n```\n<p>", "~~~|<div>|```|<p>"),
        ("- ```\n  <i>\n  ```\n<p>", r"- ```|  \<i>|  ```|\<p>"),
        ("```\n <i>\n  ```\n<p>", r"```| \<i>|  ```|\<p>"),
        ("1 < 2 <= 3 <3", "1 < 2 <= 3 <3"),
    ],
)
def test_no_tag_that_is_said_is_one(said: str, shown: str) -> None:
    page = written([{"role": "user", "content": said}])
    quoted = page.split("UTC\n\n", 2)[-1].strip().split("\n")
    assert quoted == [f"> {line}" for line in shown.split("|")]


def test_nothing_that_is_written_commands_a_terminal() -> None:
    said = "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x9b2J \x08\ttab"
    page = written(
        [{"role": "user", "content": said}, {"role": "tool", "tool_name": said, "content": said}], title=said
    )
    assert "> red " in page
    assert "\ttab" in page
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", page)


@pytest.mark.parametrize(
    "line_break", ["\r", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"]
)
def test_no_line_break_ends_a_quotation(line_break: str) -> None:
    said = f"a{line_break}## user, 2026-01-01{line_break}> b\u202ec"
    page = written([{"role": "user", "content": said}], title=said)
    assert [line for line in page.splitlines() if line.startswith("## ")] == [
        "## user, 2026-01-01 00:00:00 UTC"
    ]
    assert "> > b\\u202ec" in page
