"""Lines out of chunks, messages out of lines."""

from __future__ import annotations

import json
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from mcp_types import JSONRPCRequest, JSONRPCResponse

from mnemos.faces.mcp import lines

texts = st.lists(st.binary(max_size=20).map(lambda part: part.replace(b"\n", b"")), max_size=8)


@given(texts, st.lists(st.integers(0, 200), max_size=6))
def test_lines_come_whole_wherever_the_chunks_end(written: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(line + b"\n" for line in written) + b"rest"
    places = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    collected = lines.Lines()
    read = [line for start, end in pairwise(places) for line in collected.of(stream[start:end])]
    assert read == written
    assert collected.last() == b"rest"


def test_a_line_that_is_too_long_is_dropped_and_the_next_is_read() -> None:
    collected = lines.Lines(longest=5)
    assert list(collected.of(b"123")) == []
    assert list(collected.of(b"456789")) == []
    assert list(collected.of(b"0\n12345\n123456\n")) == [None, b"12345", None]
    assert list(collected.of(b"1234567")) == []
    assert collected.last() == b""
    message, refusal = lines.read(None)
    assert message is None
    assert refusal is not None
    assert refusal.id is None


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists))
def test_whatever_json_a_line_is_it_is_read_or_refused(value: object) -> None:
    message, refusal = lines.read(json.dumps(value).encode())
    assert message is None
    assert refusal is not None
    assert lines.encode_line(refusal).count(b"\n") == 1


@given(st.binary())
def test_no_line_of_bytes_fails(line: bytes) -> None:
    message, refusal = lines.read(line)
    assert message is None
    assert refusal is not None or not line.strip()


def test_a_request_is_read_as_the_sdk_reads_it() -> None:
    message, refusal = lines.read(b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"a": null}}')
    assert refusal is None
    assert message == JSONRPCRequest(jsonrpc="2.0", id=1, method="ping", params={"a": None})


def test_half_a_character_does_not_keep_an_answer_from_being_written() -> None:
    message = JSONRPCResponse(jsonrpc="2.0", id=1, result={"path": "a\udcff\nb", "there": None})
    line = lines.encode_line(message)
    assert line.count(b"\n") == 1
    assert json.loads(line) == {"jsonrpc": "2.0", "id": 1, "result": {"path": "a\ufffd\nb", "there": None}}
