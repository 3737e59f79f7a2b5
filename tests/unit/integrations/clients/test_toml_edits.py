"""Changing one table of a TOML text leaves every other byte where it was."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemos.errors import InvalidInput, Refused
from mnemos.integrations.clients.edits import Addition, Trace
from mnemos.integrations.clients.toml_edits import Toml

SERVER = Addition(path=("mcp_servers", "mnemos"), value={"command": 'C:\\a "b"\\mnemos', "args": ["mcp"]})
KEYS = SERVER.path
lines = st.lists(
    st.sampled_from(
        ["", "# a note", 'model = "o"', "[a]", "[[b]]", "  [mcp_servers.other] # mine", "x = [\n  1,\n]",
         "y = nan", 's = """\n[mcp_servers.mnemos]\n"""', "d = 1979-05-27"]
    ),
    max_size=8,
)  # fmt: skip


@given(lines, st.sampled_from(["\n", "\r\n"]), st.booleans(), st.booleans())
def test_what_is_put_in_and_taken_out_leaves_the_same_bytes(
    some: list[str], newline: str, ends: bool, bom: bool
) -> None:
    text = ("\ufeff" if bom else "") + newline.join(some).replace("\r\n", "\n").replace("\n", newline)
    text += newline if ends else ""
    try:
        Toml().value(text, "f")
    except InvalidInput:
        return
    changed, trace = Toml().add(text, SERVER, "f")
    assert changed.startswith(text)
    assert tomllib.loads(changed.removeprefix("\ufeff"))["mcp_servers"]["mnemos"] == SERVER.value
    assert Toml().remove(changed, KEYS, trace, "f") == text


@pytest.mark.parametrize(
    "text",
    ["mcp_servers = {}\n", 'mcp_servers = {a = {command = "b"}} # mine\n', '[mcp_servers]\na.command = "b"\n',
     'mcp_servers.a.command = "b"\n'],
)  # fmt: skip
def test_an_entry_fits_beside_any_way_of_writing_the_others(text: str) -> None:
    changed, trace = Toml().add(text, SERVER, "f")
    expected = tomllib.loads(text)
    expected["mcp_servers"]["mnemos"] = SERVER.value
    assert tomllib.loads(changed) == expected
    assert tomllib.loads(Toml().remove(changed, KEYS, trace, "f")) == tomllib.loads(text)


def test_what_was_added_to_the_entry_goes_with_it_and_the_comment_of_the_next_one_stays() -> None:
    entry = '[mcp_servers.mnemos]\ncommand = "m"\nargs = [\n  "mcp",\n]\n[mcp_servers.mnemos.env]\nX = "1"\n'
    text = f"a = 1\n\n{entry}\n# next\n[b]\n"
    assert Toml().remove(text, KEYS, Trace(), "f") == "a = 1\n\n\n# next\n[b]\n"


def test_something_appended_since_stays() -> None:
    changed, trace = Toml().add("a = 1", SERVER, "f")
    left = Toml().remove(changed + "[later]\nb = 2\n", KEYS, trace, "f")
    assert tomllib.loads(left) == {"a": 1, "later": {"b": 2}}


def test_what_is_no_toml_is_named_with_its_line_and_column() -> None:
    with pytest.raises(InvalidInput, match=r"some\.toml .*line 2, column 5"):
        Toml().add("a = 1\nb = \n", SERVER, "some.toml")


@pytest.mark.parametrize("text", ["mcp_servers = 1\n", "[[mcp_servers]]\n"])
def test_settings_of_another_shape_are_refused(text: str) -> None:
    with pytest.raises((InvalidInput, Refused)):
        Toml().add(text, SERVER, "f")
