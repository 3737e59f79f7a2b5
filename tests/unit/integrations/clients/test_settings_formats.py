"""Adding and removing one entry of a settings file leaves every other byte as it was."""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemos.errors import InvalidInput, Refused
from mnemos.integrations.clients.additions import Addition, Keys, locate, value_at
from mnemos.integrations.clients.formats import Json, Toml

SERVER = Addition(path=("mcpServers", "mnemos"), value={"command": "/bin/mnemos", "args": ["mcp"]})
HOOK = Addition(
    path=("hooks", "Stop"),
    value={"hooks": [{"type": "command", "command": "mnemos hook stop", "timeout": 10}]},
    is_item=True,
)
JSON = Json()
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


def draw_blanks(draw: st.DrawFn, newline: str, *, comments: bool) -> str:
    plain = ["", "", " ", "  ", "\t", newline, newline + "    ", newline + "\t", newline * 2]
    noted = [f" // note{newline}", "/* a */", f" /* a{newline} b */ ", f"//{newline}", "// [{\",'" + newline]
    return draw(st.sampled_from(plain + noted if comments else plain))


def render(draw: st.DrawFn, value: object, newline: str, *, comments: bool) -> str:
    if isinstance(value, str):
        return value
    opened, names, inner = value  # type: ignore[misc]
    closed = "}" if opened == "{" else "]"
    parts = []
    for number, one in enumerate(inner):
        before, middle, after = (draw_blanks(draw, newline, comments=comments) for _ in range(3))
        name = "" if names is None else f"{json.dumps(names[number])}{middle}:{after}"
        end = draw_blanks(draw, newline, comments=comments)
        parts.append(f"{before}{name}{render(draw, one, newline, comments=comments)}{end}")
    last = "," if comments and parts and draw(st.booleans()) else ""
    return opened + ",".join(parts) + last + draw_blanks(draw, newline, comments=comments) + closed


@st.composite
def texts(draw: st.DrawFn, *, comments: bool) -> str:
    """Settings in any style."""
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    pairs = draw(documents)
    whole = ("{", [pair[0] for pair in pairs], [pair[1] for pair in pairs])
    around = [draw_blanks(draw, newline, comments=comments) for _ in range(2)]
    body = render(draw, whole, newline, comments=comments)
    return draw(st.sampled_from(["", "\ufeff"])) + around[0] + body + around[1]


def fits(text: str, addition: Addition) -> bool:
    """True if there is room for an addition that is not there yet."""
    settings = JSON.parse(text, "f")
    if locate(settings, addition):
        return False
    outer = settings.get(addition.path[0], {})
    if not isinstance(outer, dict):
        return False
    return not addition.is_item or isinstance(outer.get(addition.path[1], []), list)


def find_added(before: str, after: str, addition: Addition) -> Keys:
    """Return the path of the outermost value that adding made."""
    keys = locate(JSON.parse(after, "f"), addition)
    assert keys is not None
    former = JSON.parse(before, "f")
    missing = [keys[:depth] for depth in range(1, len(keys)) if value_at(former, keys[:depth]) is None]
    return missing[0] if missing else keys


@given(texts(comments=True), additions)
def test_removing_what_was_added_leaves_the_same_bytes(text: str, addition: Addition) -> None:
    if not fits(text, addition):
        return
    changed = JSON.add(text, addition, "f")
    keys = find_added(text, changed, addition)
    left = JSON.remove(changed, keys, "f")
    assert JSON.parse(left, "f") == JSON.parse(text, "f")
    if value_at(JSON.parse(text, "f"), keys[:-1]):
        assert left == text
    else:
        # Only blanks may differ in a container that was empty.
        assert "".join(left.split()) == "".join(text.split())


@given(texts(comments=False), additions)
def test_strict_json_stays_strict(text: str, addition: Addition) -> None:
    if not fits(text, addition):
        return
    settings = json.loads(JSON.add(text, addition, "f").removeprefix("\ufeff"))
    inside = settings[addition.path[0]][addition.path[1]]
    assert (inside[-1] if addition.is_item else inside) == addition.value


@given(texts(comments=True), additions)
def test_entries_of_others_stay_when_ours_is_removed(text: str, addition: Addition) -> None:
    beside = Addition(path=("mcpServers", "beside"), value={"command": "other"})
    if not fits(text, addition):
        return
    changed = JSON.add(text, addition, "f")
    if not fits(changed, beside):
        return
    more = JSON.add(changed, beside, "f")
    keys = locate(JSON.parse(more, "f"), addition)
    assert keys is not None
    left = JSON.parse(JSON.remove(more, keys, "f"), "f")
    assert left["mcpServers"]["beside"] == beside.value
    assert locate(left, addition) is None


@given(texts(comments=True), additions)
def test_no_comment_is_lost(text: str, addition: Addition) -> None:
    if not fits(text, addition):
        return
    changed = JSON.add(text, addition, "f")
    keys = locate(JSON.parse(changed, "f"), addition)
    assert keys is not None
    left = JSON.remove(changed, keys, "f")
    for word in ("note", "/* a", "//"):
        assert left.count(word) == text.count(word)


def test_a_container_with_a_comment_is_not_removed() -> None:
    text = '{"mcpServers": { // mine\n}}'
    assert JSON.remove(text, ("mcpServers",), "f") == text


@pytest.mark.parametrize(
    "text", ["", " \n", "// only this", "/* a */", "{}", "{ }", "{\n}", "\ufeff", "\ufeff{}"]
)
@pytest.mark.parametrize("addition", [SERVER, HOOK], ids=["server", "hook"])
def test_empty_settings_take_an_addition(text: str, addition: Addition) -> None:
    changed = JSON.add(text, addition, "f")
    assert changed.startswith(text.rstrip("{ \n}"))
    assert locate(JSON.parse(changed, "f"), addition) is not None


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ('{"a": }', 1, 7),
        ('{\n  // why\n  "a": 1 2\n}', 3, 10),
        ('{"a": NaN}', 1, 7),
        ('\ufeff{"a" 1}', 1, 6),
        ("{} x", 1, 4),
        ('{"a": "\n"}', 1, 8),
        ("{", 1, 2),
    ],
)
def test_invalid_json_is_reported_with_line_and_column(text: str, line: int, column: int) -> None:
    with pytest.raises(InvalidInput) as raised:
        JSON.add(text, SERVER, "some.json")
    assert re.search(rf"some\.json .*line {line}, column {column}\b", str(raised.value))


@pytest.mark.parametrize(
    "text",
    ["[]", "1", '{"mcpServers": []}', '{"mcpServers": {}, "mcpServers": {}}', '{,}', '{"a": 1,,}',
     "{} /* open", "[" * 100_000, '{"a":' * 100_000],
)  # fmt: skip
def test_json_of_another_shape_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        JSON.add(text, SERVER, "f")


def test_an_entry_has_the_style_of_the_others() -> None:
    text = '{\r\n\t"mcpServers": {\r\n\t\t"a": {} // mine\r\n\t}\r\n}'
    assert JSON.add(text, SERVER, "f") == (
        '{\r\n\t"mcpServers": {\r\n\t\t"a": {}, // mine\r\n\t\t"mnemos": {\r\n\t\t\t"command": "/bin/mnemos",'
        '\r\n\t\t\t"args": [\r\n\t\t\t\t"mcp"\r\n\t\t\t]\r\n\t\t}\r\n\t}\r\n}'
    )
    compact = JSON.add('{"a":1}', SERVER, "f")
    assert compact == '{"a":1,"mcpServers":{"mnemos":{"command":"/bin/mnemos","args":["mcp"]}}}'


def test_the_rest_of_a_line_does_not_move_into_a_comment() -> None:
    text = '{"mcpServers": { // mine\n  "mnemos": {}, "b": 1}}'
    left = JSON.remove(text, ("mcpServers", "mnemos"), "f")
    assert JSON.parse(left, "f") == {"mcpServers": {"b": 1}}
    assert "// mine" in left


def test_a_number_of_thousands_of_digits_is_left_alone() -> None:
    text = '{"n": ' + "1" * 5_000 + "}"
    assert JSON.add(text, SERVER, "f").startswith(text.removesuffix("}"))


# --- TOML -----------------------------------------------------------------------------------------

TABLE = Addition(path=("mcp_servers", "mnemos"), value={"command": 'C:\\a "b"\\mnemos', "args": ["mcp"]})
lines = st.lists(
    st.sampled_from(
        ["", "# a note", 'model = "o"', "[a]", "[[b]]", "  [mcp_servers.other] # mine", "x = [\n  1,\n]",
         "y = nan", 's = """\n[mcp_servers.mnemos]\n"""', "d = 1979-05-27"]
    ),
    max_size=8,
)  # fmt: skip


@given(lines, st.sampled_from(["\n", "\r\n"]), st.booleans(), st.booleans())
def test_a_table_is_appended_and_removed_again(some: list[str], newline: str, ends: bool, bom: bool) -> None:
    text = ("\ufeff" if bom else "") + newline.join(some).replace("\r\n", "\n").replace("\n", newline)
    text += newline if ends else ""
    try:
        Toml().parse(text, "f")
    except InvalidInput:
        return
    changed = Toml().add(text, TABLE, "f")
    assert changed.startswith(text)
    assert tomllib.loads(changed.removeprefix("\ufeff"))["mcp_servers"]["mnemos"] == TABLE.value
    assert Toml().remove(changed, TABLE.path, "f").rstrip("\r\n") == text.rstrip("\r\n")


@pytest.mark.parametrize(
    "text",
    ["mcp_servers = {}\n", 'mcp_servers = {a = {command = "b"}} # mine\n', '[mcp_servers]\na.command = "b"\n',
     'mcp_servers.a.command = "b"\n'],
)  # fmt: skip
def test_an_entry_fits_beside_others_however_they_are_written(text: str) -> None:
    changed = Toml().add(text, TABLE, "f")
    expected: dict[str, Any] = tomllib.loads(text)
    expected["mcp_servers"]["mnemos"] = TABLE.value
    assert tomllib.loads(changed) == expected
    assert tomllib.loads(Toml().remove(changed, TABLE.path, "f")) == tomllib.loads(text)


def test_removing_a_table_removes_what_was_added_to_it_and_keeps_the_next_comment() -> None:
    entry = '[mcp_servers.mnemos]\ncommand = "m"\nargs = [\n  "mcp",\n]\n[mcp_servers.mnemos.env]\nX = "1"\n'
    text = f"a = 1\n\n{entry}\n# next\n[b]\n"
    assert Toml().remove(text, TABLE.path, "f") == "a = 1\n\n\n# next\n[b]\n"


def test_a_table_appended_later_stays() -> None:
    changed = Toml().add("a = 1", TABLE, "f")
    left = Toml().remove(changed + "[later]\nb = 2\n", TABLE.path, "f")
    assert tomllib.loads(left) == {"a": 1, "later": {"b": 2}}


def test_invalid_toml_is_reported_with_line_and_column() -> None:
    with pytest.raises(InvalidInput) as raised:
        Toml().add("a = 1\nb = \n", TABLE, "some.toml")
    assert re.search(r"some\.toml .*line 2, column 5", str(raised.value))


@pytest.mark.parametrize("text", ["mcp_servers = 1\n", "[[mcp_servers]]\n"])
def test_toml_of_another_shape_is_refused(text: str) -> None:
    with pytest.raises((InvalidInput, Refused)):
        Toml().add(text, TABLE, "f")
