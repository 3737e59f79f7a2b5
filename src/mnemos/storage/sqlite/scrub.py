"""Erase the traces of deleted data in the file.

``PRAGMA secure_delete`` overwrites deleted rows and FTS5's ``secure-delete`` removes their words, but two
kinds of copies survive both. A row that SQLite moved to another page while balancing leaves its old bytes in
the gap of the first page, between the cell pointers and the cells. And a word that was the first of a leaf of
the full-text index may stay as the key of that leaf.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import apsw

from mnemos.storage.queries import Queries
from mnemos.storage.sqlite.connection import rows, value

SQL = Queries(Path(__file__).parent / "sql" / "scrub.sql")

Key = tuple[int, bytes, bytes]
"""A stale key: its segment, itself, and the word to put in its place."""

# Pages whose gaps are zeroed in one step, so that no writer waits long.
PAGES_A_STEP = 600

_FILE_HEADER = 100
_INTERIOR = (2, 5)
_LEAF = (10, 13)


def stale_keys(connection: apsw.Connection) -> list[Key]:
    """Find the keys of the index that no word begins with."""
    connection.execute(SQL.open_words)
    try:
        return [found for key in rows(connection, SQL.keys) for found in _replacement(connection, *key)]
    finally:
        connection.execute(SQL.close_words)


def replace_keys(connection: apsw.Connection, stale: Sequence[Key]) -> None:
    """Replace each key that is still stale by the next existing word, in the caller's transaction.

    A leaf is found by any key above the last word of the leaf before it and up to its own first word.
    """
    if not stale:
        return
    connection.execute(SQL.open_words)
    now = [found for segment, key, _ in stale for found in _replacement(connection, segment, key)]
    connection.execute(SQL.close_words)
    # DEFENSIVE forbids writing to the tables behind a full-text index.
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
    try:
        connection.executemany(SQL.replace_key, [(new, segment, old) for segment, old, new in now])
    finally:
        connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)


def tree_pages(connection: apsw.Connection) -> list[int]:
    """Return the pages that have cells, and so may have a gap."""
    return [number for (number,) in rows(connection, SQL.tree_pages)]


def empty_gaps(connection: apsw.Connection, path: Path, pages: Iterator[int]) -> int:
    """Zero the gaps of the next pages and return how many pages; the log must be empty.

    Nobody ever reads a gap, so readers are not disturbed and a crash does no harm. The connection holds the
    write lock meanwhile and changes a row, which makes every other connection drop its cached pages: none
    can write an old gap back. The file is written through SQLite's own layer, because closing a file
    that Python opened would drop the locks that SQLite holds on it for this process.
    """
    connection.execute(SQL.touch)
    size = connection.pragma("page_size")
    flags = apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READWRITE
    file = apsw.VFSFile("", str(path), [flags, 0])
    done = 0
    try:
        for number in islice(pages, PAGES_A_STEP):
            done += 1
            start = (number - 1) * size
            gap = _gap(number, file.xRead(size, start))
            if gap is not None:
                file.xWrite(bytes(gap[1] - gap[0]), start + gap[0])
        file.xSync(apsw.SQLITE_SYNC_NORMAL)
    finally:
        file.xClose()
    return done


def _gap(number: int, page: bytes) -> tuple[int, int] | None:
    """Return the range between cell pointers and cells; None if it is all zeros."""
    header = _FILE_HEADER if number == 1 else 0
    kind = page[header]
    if kind not in (*_INTERIOR, *_LEAF):
        return None
    cells = int.from_bytes(page[header + 3 : header + 5], "big")
    first = header + (12 if kind in _INTERIOR else 8) + 2 * cells
    content = int.from_bytes(page[header + 5 : header + 7], "big") or 65536
    if content > len(page) or not any(page[first:content]):
        return None
    return first, content


def _replacement(connection: apsw.Connection, segment: int, key: bytes) -> Iterator[Key]:
    # The first byte separates the main index from prefix indexes, which we don't have. A key is cut after
    # the byte that tells two leaves apart, often inside a character, so it is compared as bytes.
    table, prefix = key[:1], key[1:]
    following: bytes | None = value(connection, SQL.next_word, (prefix,))
    if following is not None and not following.startswith(prefix):
        yield segment, key, table + following
