"""Changing one member of a JSON text leaves every other byte where it was."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemos.errors import InvalidInput
from mnemos.integrations.clients.edits import Addition, Trace, located
from mnemos.integrations.clients.json_edits import Json
from mnemos.integrations.clients.jsonc import decoded

SERVER = Addition(path=("mcpServers", "mnemos"), value={"command": "/bin/mnemos", "args": ["mcp"]})
HOOK = Addition(
    path=("hooks", "Stop"),
    value={"hooks": [{"type": "command", "command": "mnemos hook stop", "timeout": 10}]},
    is_item=True,
)
LENIENT = Json(comments=True)
additions = st.sampled_from([SERVER, HOOK])
keys = st.sampled_from(["mcpServers", "hooks", "Stop", "a", 'quo"te', "b // no comment", "", "é", "x"])
scalars = st.sampled_from(["1", "-2.50e3", "true", "null", '"text"', '"/* not one */"', '"\\"\\\\"', "10"])
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: ("[", None, items))
        | st.lists(st.tuples(keys, inner), max_size=4, unique_by=lambda pair: pair[0]).map(
            lambda pairs: ("{", [pair[0] for pair in pairs], [pair[1] for pair in pairs])
        )
    ),
    max_leaves=8,
)
documents = st.lists(st.tuples(keys, values), max_size=4, unique_by=lambda pair: pair[0])


def blanks(draw: st.DrawFn, newline: str, *, comments: bool) -> str:
    plain = ["", "", " ", "  ", "\t", newline, newline + "    ", newline + "\t", newline * 2]
    noted = [f" // note{newline}", "/* a */", f" /* a{newline} b */ ", f"//{newline}", "// [{\",'" + newline]
    return draw(st.sampled_from(plain + noted if comments else plain))


def written(draw: st.DrawFn, value: object, newline: str, *, comments: bool) -> str:
    if isinstance(value, str):
        return value
    opened, names, inner = value  # type: ignore[misc]
    closed = "}" if opened == "{" else "]"
    parts = []
    for number, one in enumerate(inner):
        before, middle, after = (blanks(draw, newline, comments=comments) for _ in range(3))
        name = "" if names is None else f"{json.dumps(names[number])}{middle}:{after}"
        end = blanks(draw, newline, comments=comments)
        parts.append(f"{before}{name}{written(draw, one, newline, comments=comments)}{end}")
    last = "," if comments and parts and draw(st.booleans()) else ""
    return opened + ",".join(parts) + last + blanks(draw, newline, comments=comments) + closed


@st.composite
def texts(draw: st.DrawFn, *, comments: bool) -> str:
    """Settings in any hand."""
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    pairs = draw(documents)
    whole = ("{", [pair[0] for pair in pairs], [pair[1] for pair in pairs])
    around = [blanks(draw, newline, comments=comments) for _ in range(2)]
    body = written(draw, whole, newline, comments=comments)
    return draw(st.sampled_from(["", "\ufeff"])) + around[0] + body + around[1]


def fits(text: str, addition: Addition) -> bool:
    """Whether the settings have a place for it, and not that very thing already."""
    value = LENIENT.value(text, "f")
    if located(value, addition):
        return False
    outer = value.get(addition.path[0], {})
    if not isinstance(outer, dict):
        return False
    return not addition.is_item or isinstance(outer.get(addition.path[1], []), list)


@given(texts(comments=True), additions)
def test_what_is_put_in_and_taken_out_leaves_the_same_bytes(text: str, addition: Addition) -> None:
    if not fits(text, addition):
        return
    changed, trace = LENIENT.add(text, addition, "f")
    found = located(LENIENT.value(changed, "f"), addition)
    assert found is not None
    assert LENIENT.remove(changed, found, trace, "f") == text


@given(texts(comments=False), additions)
def test_strict_json_stays_strict(text: str, addition: Addition) -> None:
    if not fits(text, addition):
        return
    changed, _ = Json().add(text, addition, "f")
    said = json.loads(changed.removeprefix("\ufeff"))
    inside = said[addition.path[0]][addition.path[1]]
    assert decoded(inside[-1] if addition.is_item else inside) == decoded(addition.value)


@given(texts(comments=True), texts(comments=True), additions)
def test_what_others_write_beside_it_stays_when_it_is_taken_out(
    text: str, other: str, addition: Addition
) -> None:
    if not fits(text, addition):
        return
    beside = Addition(path=("mcpServers", "beside"), value={"command": "other"})
    changed, trace = LENIENT.add(text, addition, "f")
    if not fits(changed, beside):
        return
    more, _ = LENIENT.add(changed, beside, "f")
    found = located(LENIENT.value(more, "f"), addition)
    assert found is not None
    left = LENIENT.value(LENIENT.remove(more, found, trace, "f"), "f")
    expected, _ = LENIENT.add(text, beside, "f")
    assert left == LENIENT.value(expected, "f")


@given(texts(comments=True), additions)
def test_no_comment_is_lost(text: str, addition: Addition) -> None:
    if not fits(text, addition):
        return
    changed, _ = LENIENT.add(text, addition, "f")
    found = located(LENIENT.value(changed, "f"), addition)
    assert found is not None
    # Without a trace, as when a person typed the entry.
    left = LENIENT.remove(changed, found, Trace(), "f")
    for word in ("note", "/* a", "//"):
        assert left.count(word) == text.count(word)


@pytest.mark.parametrize(
    "text", ["", " \n", "// only this", "/* a */", "{}", "{ }", "{\n}", "\ufeff", "\ufeff{}"]
)
@pytest.mark.parametrize("addition", [SERVER, HOOK], ids=["server", "hook"])
def test_settings_that_say_nothing_say_nothing_afterwards(text: str, addition: Addition) -> None:
    changed, trace = LENIENT.add(text, addition, "f")
    found = located(LENIENT.value(changed, "f"), addition)
    assert found is not None
    assert LENIENT.remove(changed, found, trace, "f") == text


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ('{"a": }', 1, 7),
        ('{\n  "a": 1,\n}', 2, 9),
        ('{\n  // why\n  "a": 1\n}', 2, 3),
        ('{"a": NaN}', 1, 7),
        ('\ufeff{"a" 1}', 1, 6),
        ("{} x", 1, 4),
        ('{"a": "\n"}', 1, 8),
        ("{", 1, 2),
    ],
)
def test_what_is_no_json_is_named_with_its_line_and_column(text: str, line: int, column: int) -> None:
    with pytest.raises(InvalidInput) as raised:
        Json().add(text, SERVER, "some.json")
    assert re.search(rf"some\.json .*line {line}, column {column}\b", str(raised.value))


@pytest.mark.parametrize(
    "text",
    ["[]", "1", '{"mcpServers": []}', '{"mcpServers": {}, "mcpServers": {}}', '{,}', '{"a": 1,,}',
     "{} /* open", "[" * 100_000, '{"a":' * 100_000],
)  # fmt: skip
def test_settings_of_another_shape_are_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        LENIENT.add(text, SERVER, "f")


def test_an_entry_is_written_in_the_hand_of_the_others() -> None:
    text = '{\r\n\t"mcpServers": {\r\n\t\t"a": {} // mine\r\n\t}\r\n}'
    changed, _ = LENIENT.add(text, SERVER, "f")
    assert changed == (
        '{\r\n\t"mcpServers": {\r\n\t\t"a": {}, // mine\r\n\t\t"mnemos": {\r\n\t\t\t"command": "/bin/mnemos",'
        '\r\n\t\t\t"args": ["mcp"]\r\n\t\t}\r\n\t}\r\n}'
    )
    compact, _ = LENIENT.add('{"a":1}', SERVER, "f")
    assert compact == '{"a":1,"mcpServers":{"mnemos":{"command":"/bin/mnemos","args":["mcp"]}}}'


def test_an_entry_before_others_in_the_same_line_is_taken_out_and_nothing_moves_into_a_comment() -> None:
    text = '{"mcpServers": { // mine\n  "mnemos": {}, "b": 1}}'
    left = LENIENT.remove(text, ("mcpServers", "mnemos"), Trace(), "f")
    assert LENIENT.value(left, "f") == {"mcpServers": {"b": "1"}}
    assert "// mine" in left
