"""Gzip, bounded while it is unpacked; and files that hold no rows."""

from __future__ import annotations

import gzip
import io
import zlib

import pytest

from mnemos.errors import InvalidInput, TooLarge
from mnemos.workspace.formats import Limits, open_table

from .files import opened, rows

CSV = b"a,b\n1,2\n3,4\n"


def bomb(megabytes: int) -> bytes:
    """Gzip of that number of megabytes of zeros, made of one piece that is repeated."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    million = bytes(1 << 20)
    parts = [packer.compress(million) for _ in range(8)]
    parts.append(packer.flush(zlib.Z_FULL_FLUSH))
    # After a full flush nothing refers back, so the deflated block can be repeated as it is.
    piece = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = piece.compress(million) + piece.flush(zlib.Z_FULL_FLUSH)
    return b"".join(parts) + block * megabytes


@pytest.mark.parametrize("name", ["x.csv.gz", "x.csv", "", "x.gz"])
def test_gzip_is_known_by_its_bytes(name: str) -> None:
    assert rows(gzip.compress(CSV), name=name) == [(1, 2), (3, 4)]


def test_the_name_inside_of_the_gz_ending_tells_the_format() -> None:
    assert rows(gzip.compress(b'{"a":1}\n'), name="x.jsonl.gz") == [(1,)]


@pytest.mark.parametrize("format", ["csv", "tsv", "json", "jsonl"])
def test_a_bomb_is_stopped_at_the_limit(format: str) -> None:
    packed = bomb(10_000)
    assert len(packed) < 20_000_000
    with pytest.raises((TooLarge, InvalidInput)) as caught:
        opened(packed, format=format, limits=Limits(size=50_000_000))
    if format != "json":
        assert isinstance(caught.value, TooLarge)
        assert "50,000,000" in str(caught.value)


def test_a_plain_file_has_the_same_limit() -> None:
    with pytest.raises(TooLarge):
        opened(b"a,b\n" + b"1,2\n" * 1_000, name="x.csv", limits=Limits(size=1_000))


def test_members_one_after_the_other_are_one_file() -> None:
    packed = gzip.compress(b"a,b\n1,2\n") + gzip.compress(b"") + gzip.compress(b"3,4\n")
    assert rows(packed, name="x.csv") == [(1, 2), (3, 4)]


def test_ten_thousand_members_are_read() -> None:
    packed = gzip.compress(b"a,b\n") + gzip.compress(b"1,2\n") * 10_000
    assert opened(packed, name="x.csv").rows == 10_000


def test_zeros_after_the_end_are_padding_and_garbage_is_reported() -> None:
    packed = gzip.compress(CSV)
    assert not opened(packed + bytes(1_000), name="x.csv").notes
    table = opened(packed + b"garbage", name="x.csv")
    assert table.rows == 2
    assert any("gzip" in note for note in table.notes)


@pytest.mark.parametrize("cut", [1, 4, 8, 9, 20])
def test_gzip_that_breaks_off_is_refused(cut: int) -> None:
    with pytest.raises(InvalidInput):
        opened(gzip.compress(CSV)[:-cut], name="x.csv")


def test_damaged_gzip_is_refused() -> None:
    packed = bytearray(gzip.compress(CSV * 1_000))
    packed[20] ^= 0xFF
    with pytest.raises(InvalidInput):
        opened(bytes(packed), name="x.csv")


def test_gzip_of_gzip_is_refused() -> None:
    with pytest.raises(InvalidInput):
        opened(gzip.compress(gzip.compress(CSV)), name="x.csv")


@pytest.mark.parametrize(
    "magic", [b"PK\x03\x04", b"SQLite format 3\0", b"PAR1", b"%PDF-1.4", b"BZh9", b"\xfd7zXZ\0"]
)
def test_files_of_other_programs_are_refused_by_name(magic: bytes) -> None:
    with pytest.raises(InvalidInput):
        opened(magic + bytes(100), name="report.csv")


def test_a_file_is_read_where_it_begins_whatever_the_position_of_the_stream() -> None:
    stream = io.BytesIO(CSV)
    stream.seek(5)
    assert open_table(stream, format=None, name="x.csv", limits=Limits()).rows == 2
    assert not stream.closed
