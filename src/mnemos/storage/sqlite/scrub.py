"""Erase the traces of deleted data in the file.

``PRAGMA secure_delete`` overwrites deleted rows and FTS5's ``secure-delete`` removes their words, but two
kinds of copies survive both. A row that SQLite moved to another page while balancing leaves its old bytes in
the gap of the first page, between the cell pointers and the cells. And a word that was the first of a leaf of
the full-text index may stay as the key of that leaf.

Both are looked for in the whole file, because a row may have been moved long ago: 0.1 s for each 100 MB. Only
pages where something is found are locked and written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import apsw

from mnemos.storage.queries import Queries
from mnemos.storage.sqlite.connection import rows
from mnemos.storage.sqlite.files import is_log_empty, truncate_log

SQL = Queries(Path(__file__).parent / "sql" / "scrub.sql")

Key = tuple[int, bytes]
"""A key of the index: its segment and itself."""

# The number of gaps zeroed in one step, so that no writer waits long.
PAGES_A_STEP = 600
# The file is read again after a write by another process, which may have moved a page before it was zeroed.
_ROUNDS = 3
_READ_BYTES = 1 << 20

_FILE_HEADER = 100
# The size of the header of a page with cells, by the first byte of the page.
_HEADERS = {2: 12, 5: 12, 10: 8, 13: 8}
# An overflow or free page begins with the number of another page, so below this with a zero.
_FEW_PAGES = 1 << 24


def find_stale_keys(connection: apsw.Connection) -> list[Key]:
    """Find the keys of the index that their leaf does not begin with."""
    return [(segment, key) for segment, key, _ in _check_keys(connection.execute(SQL.keys))]


def replace_keys(connection: apsw.Connection, stale: Sequence[Key]) -> None:
    """Replace stale keys by the first words of their leaves.

    A leaf is found by any key above the last word of the leaf before it and up to its own first word. The key
    of a leaf that was merged away is not needed any more.
    """
    found = [one for key in stale for one in _check_keys(connection.execute(SQL.key, key))]
    if not found:
        return
    # DEFENSIVE forbids writing to the tables behind a full-text index.
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
    try:
        connection.executemany(SQL.remove_key, [one[:2] for one in found if one[2] is None])
        connection.executemany(SQL.replace_key, [(word, *key) for *key, word in found if word is not None])
    finally:
        connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)


def empty_gaps(path: Path, connect: Callable[[], apsw.Connection], busy_seconds: float) -> bool:
    """Zero the gaps of all pages and empty the log; False if a reader keeps it from being emptied.

    Nobody ever reads a gap, so readers are not disturbed and a crash does no harm. A step holds the write
    lock, with an empty log, and changes a row, which makes every other connection drop its cached pages: none
    can write an old gap back.
    """
    for _ in range(_ROUNDS):
        with closing(connect()) as connection:
            if not truncate_log(connection, busy_seconds):
                return False
            dirty = list(_find_gaps(connection, path))
        is_quiet = True
        for start in range(0, len(dirty), PAGES_A_STEP):
            # A connection without cached pages can't write an old gap back.
            with closing(connect()) as connection:
                connection.execute("BEGIN IMMEDIATE")
                while not is_log_empty(path):
                    is_quiet = False
                    connection.execute("ROLLBACK")
                    if not truncate_log(connection, busy_seconds):
                        return False
                    connection.execute("BEGIN IMMEDIATE")
                _zero_gaps(connection, path, dirty[start : start + PAGES_A_STEP])
                connection.execute("COMMIT")
                if not truncate_log(connection, busy_seconds):
                    return False
        if is_quiet and is_log_empty(path):
            break
    return True


def _find_gaps(connection: apsw.Connection, path: Path) -> Iterator[int]:
    """Yield the numbers of the pages whose gap is not all zeros."""
    size = connection.pragma("page_size")
    is_plain = connection.pragma("auto_vacuum") == 0 and connection.pragma("page_count") < _FEW_PAGES
    trees = None if is_plain else {number for (number,) in rows(connection, SQL.tree_pages)}
    with closing(_File(path)) as file:
        for start in range(0, file.size, _READ_BYTES):
            block = file.read(_READ_BYTES, start)
            for at in range(0, len(block), size):
                number = (start + at) // size + 1
                if _find_gap(number, block[at : at + size]) and (trees is None or number in trees):
                    yield number


def _zero_gaps(connection: apsw.Connection, path: Path, pages: Iterable[int]) -> None:
    connection.execute(SQL.touch)
    size = connection.pragma("page_size")
    with closing(_File(path)) as file:
        for number in pages:
            start = (number - 1) * size
            gap = _find_gap(number, file.read(size, start))
            if gap is not None:
                file.write(bytes(gap[1] - gap[0]), start + gap[0])
        file.sync()


class _File:
    """The database file, through SQLite's own layer.

    Closing a file that Python opened would drop the locks that SQLite holds on it for this process.
    """

    def __init__(self, path: Path) -> None:
        flags = apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READWRITE
        self._file = apsw.VFSFile("", str(path), [flags, 0])
        self.size = self._file.xFileSize()
        self.write = self._file.xWrite
        self.close = self._file.xClose

    def read(self, count: int, start: int) -> bytes:
        return self._file.xRead(min(count, self.size - start), start)

    def sync(self) -> None:
        self._file.xSync(apsw.SQLITE_SYNC_NORMAL)


def _find_gap(number: int, page: bytes) -> tuple[int, int] | None:
    """Return the range between cell pointers and cells; None if it is all zeros."""
    header = _FILE_HEADER if number == 1 else 0
    length = _HEADERS.get(page[header])
    if length is None:
        return None
    first = header + length + 2 * int.from_bytes(page[header + 3 : header + 5], "big")
    content = int.from_bytes(page[header + 5 : header + 7], "big") or 65536
    if content > len(page) or not page[first:content].strip(b"\0"):
        return None
    return first, content


def _check_keys(
    found: Iterable[tuple[int, bytes, bytes | None]],
) -> Iterator[tuple[int, bytes, bytes | None]]:
    """Yield each stale key with the first word of its leaf; None if the leaf or its words are gone."""
    for segment, key, leaf in found:
        word = None if leaf is None else _read_first_word(leaf)
        if word is None or not word.startswith(key):
            yield segment, key, word


def _read_first_word(leaf: bytes) -> bytes | None:
    """Read the first word of a leaf; None if it has none.

    After the words come their places, and before each word is its length.
    """
    words_end = int.from_bytes(leaf[2:4], "big")
    if words_end == len(leaf):
        return None
    try:
        place, _ = _read_number(leaf, words_end)
        length, start = _read_number(leaf, place)
    except IndexError as exc:
        raise apsw.CorruptError("a leaf of the full-text index is damaged") from exc
    return leaf[start : start + length]


def _read_number(data: bytes, at: int) -> tuple[int, int]:
    """Read a number of seven bits per byte; return it and where it ends."""
    number = 0
    while True:
        byte = data[at]
        at += 1
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            return number, at
