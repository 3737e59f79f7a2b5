"""Erasing what deletion leaves behind in the file.

``PRAGMA secure_delete`` overwrites deleted rows and FTS5's ``secure-delete`` removes their words, but two
kinds of copies survive both: a row that SQLite moved to another page while balancing leaves its old bytes in
the unused middle of the first page, and a word that was the first of a leaf of the index may stay as the key
by which that leaf is found. Here such copies are looked for, and removed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import apsw

from mnemos.storage.queries import Queries
from mnemos.storage.sqlite.connection import rows, value

SQL = Queries(Path(__file__).parent / "sql" / "scrub.sql")

# A text is looked for by pieces, because a leftover may be half overwritten.
_PIECE = 20
_SHORTEST_PIECE = 8
_MOST_PIECES = 32
_CHUNK = 4 * 1024 * 1024


def _stale_keys(connection: apsw.Connection) -> list[tuple[int, bytes, bytes]]:
    """Keys of the index that are no beginning of a word it has: segment, key, the word to put instead."""
    connection.execute(SQL.open_words)
    try:
        stale = []
        for segment, key in rows(connection, SQL.keys):
            # The first byte tells the main index from prefix indexes, of which there are none.
            word = bytes(key)[1:].decode("utf-8", "replace")
            following = value(connection, SQL.next_word, (word,))
            if following is not None and not following.startswith(word):
                stale.append((segment, bytes(key), bytes(key)[:1] + following.encode()))
        return stale
    finally:
        connection.execute(SQL.close_words)


def replace_keys(connection: apsw.Connection) -> None:
    """Put the next word that exists in the place of each stale key, inside the caller's transaction.

    Any key above the last word of the leaf before and not above the first of its own finds the leaf.
    """
    stale = _stale_keys(connection)
    # The tables behind a full-text index are closed to plain SQL while DEFENSIVE is on.
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
    try:
        connection.executemany(SQL.replace_key, [(new, segment, old) for segment, old, new in stale])
    finally:
        connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)


def has_traces(path: Path, texts: Sequence[str]) -> bool:
    """Whether a piece of these texts stands anywhere in the file.

    Read through SQLite's own file layer: closing a file that Python opened would drop the locks that
    SQLite holds on it for this process.
    """
    wanted = _pieces(texts)
    return bool(wanted) and any(piece in chunk for chunk in _chunks(path) for piece in wanted)


def rewrite(connection: apsw.Connection) -> None:
    """Write the whole file anew, without anything that is not in use. Takes as long as copying it."""
    connection.execute("PRAGMA temp_store = FILE")
    try:
        connection.execute("VACUUM")
    finally:
        connection.execute("PRAGMA temp_store = MEMORY")


def _pieces(texts: Sequence[str]) -> list[bytes]:
    found: list[bytes] = []
    for text in texts:
        data = text.encode("utf-8", "replace")
        found += [data[at : at + _PIECE] for at in range(0, len(data), _PIECE)]
    telling = [piece for piece in dict.fromkeys(found) if len(piece) >= _SHORTEST_PIECE]
    return telling[:: max(1, len(telling) // _MOST_PIECES)]


def _chunks(path: Path) -> Iterator[bytes]:
    file = apsw.VFSFile("", str(path), [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY, 0])
    try:
        size = file.xFileSize()
        at = 0
        while at < size:
            yield file.xRead(min(_CHUNK, size - at), at)
            # Overlapping, so that no piece falls between two chunks.
            at += _CHUNK - _PIECE if size - at > _CHUNK else _CHUNK
    finally:
        file.xClose()
