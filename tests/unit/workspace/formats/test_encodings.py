"""Which characters the bytes of a file are."""

from __future__ import annotations

import codecs

import pytest

from .files import names, opened, rows, stored

TEXT = "name,city\nChloé,São Paulo\nЖеня,東京\n😀,x\n"
EXPECTED = [("Chloé", "São Paulo"), ("Женя", "東京"), ("😀", "x")]


@pytest.mark.parametrize(
    "data",
    [
        TEXT.encode(),
        codecs.BOM_UTF8 + TEXT.encode(),
        TEXT.encode("utf-16"),
        codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"),
        codecs.BOM_UTF16_LE + TEXT.encode("utf-16-le"),
        TEXT.encode("utf-32"),
        TEXT.encode("utf-16-le"),
        TEXT.encode("utf-16-be"),
    ],
)
def test_unicode_is_known_with_and_without_a_mark(data: bytes) -> None:
    table = opened(data, name="x.csv")
    assert names(table) == ["name", "city"]
    assert stored(table) == EXPECTED


@pytest.mark.parametrize("format", ["csv", "jsonl", "json"])
def test_one_letter_after_megabytes_decides_for_windows(format: str) -> None:
    lines = {
        "csv": (b"a,b\n", b"x,1\n", b"caf\xe9 \x80,2\n"),
        "jsonl": (b"", b'{"a":"x"}\n', b'{"a":"caf\xe9 \x80"}\n'),
    }
    before, line, last = lines["csv" if format == "csv" else "jsonl"]
    data = before + line * 60_000 + last
    if format == "json":
        data = b"[" + data.strip().replace(b"\n", b",\n") + b"]"
    table = opened(data, format=format)
    assert table.encoding == "cp1252"
    # The advice can be followed: an import takes no encoding.
    assert any("1252" in note and "save it as UTF-8" in note for note in table.notes)
    assert stored(table)[-1][0] == "café €"


def test_a_few_bytes_that_are_not_utf8_are_repaired_and_reported() -> None:
    data = b"name,n\n" + "Ünï,1\n".encode() * 1_000 + b"caf\xe9,2\n" + "été,3\n".encode() * 1_000
    table = opened(data, name="x.csv")
    values = stored(table)
    assert values[0] == ("Ünï", 1)
    assert values[1_000] == ("café", 2)
    assert values[-1] == ("été", 3)
    assert any("not valid UTF-8" in note for note in table.notes)


def test_bytes_that_windows_leaves_undefined_are_kept() -> None:
    assert rows(b"a,b\n\x81\x8d,\xff\n", name="x.csv", header=True) == [("\x81\x8d", "ÿ")]


def test_a_character_cut_by_the_end_of_the_file_is_repaired() -> None:
    assert rows("name,n\né,1\n2,ß".encode()[:-1], name="x.csv", header=True)[0] == ("é", "1")


def test_characters_on_the_border_of_two_chunks_are_whole() -> None:
    for shift in range(4):
        data = ("a,b\n" + "x" * shift + "😀é," * 1 + "1\n" + "😀é,1\n" * 20_000).encode()
        assert set(stored(opened(data, name="x.csv"))[1:]) == {("😀é", 1)}


def test_half_a_pair_of_utf16_is_replaced() -> None:
    data = codecs.BOM_UTF16_LE + "a,b\n".encode("utf-16-le") + b"\x00\xd8" + ",1\n".encode("utf-16-le")
    assert rows(data, name="x.csv", header=True) == [("\ufffd", 1)]
