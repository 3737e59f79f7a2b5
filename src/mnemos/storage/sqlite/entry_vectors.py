"""The vectors of one user's entries: chunks that are filled in order, erased in place and scanned by bits."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from mnemos.storage.entries import Likeness
from mnemos.storage.queries import Queries
from mnemos.storage.sqlite.connection import rows, value

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SQL = Queries(Path(__file__).parent / "sql" / "entries.sql")

_ID = struct.Struct("<q")
_NOBODY = _ID.pack(0)
# Vectors in a chunk. The last one is written anew as vectors come.
_CHUNK = 128
# Of the vectors whose signs differ least, so many are compared exactly.
_COMPARED = 48


def add(connection: apsw.Connection, user: int, entry_id: int, bits: bytes, codes: bytes) -> tuple[int, int]:
    """Store a vector; the chunk of its signs and its place in it."""
    connection.execute(SQL.set_codes, (entry_id, codes))
    last = rows(connection, SQL.last_chunk, (user,))
    if last and len(last[0][1]) < _CHUNK * _ID.size:
        chunk, ids, signs = last[0]
        connection.execute(SQL.set_chunk, (ids + _ID.pack(entry_id), signs + bits, chunk))
        return chunk, len(ids) // _ID.size
    chunk = value(connection, SQL.add_chunk, (user, _ID.pack(entry_id), bits))
    return chunk, 0


def erase(connection: apsw.Connection, entry_id: int, chunk: int, slot: int) -> None:
    """Leave nothing of a vector but an empty place; the last of a chunk takes the chunk with it."""
    connection.execute(SQL.drop_codes, (entry_id,))
    found = rows(connection, SQL.chunk, (chunk,))
    if not found:
        return
    ids, bits = found[0]
    count = len(ids) // _ID.size
    ids = _emptied(ids, _ID.size, slot)
    if ids == _NOBODY * count:
        connection.execute(SQL.drop_chunk, (chunk,))
    else:
        connection.execute(SQL.set_chunk, (ids, _emptied(bits, len(bits) // count, slot), chunk))


def drop(connection: apsw.Connection, user: int) -> None:
    """Remove all vectors of a user."""
    connection.execute(SQL.drop_vectors, (user,))
    connection.execute(SQL.drop_signs, (user,))


def nearest(
    connection: apsw.Connection, user: int, vector: NDArray[np.float32], limit: int, least: float
) -> list[Likeness]:
    """The entries nearest to a vector of length 1, best first."""
    import numpy as np

    found = rows(connection, SQL.chunks, (user,))
    if not found:
        return []
    ids = np.frombuffer(b"".join(row[0] for row in found), "<i8")
    bits = np.frombuffer(b"".join(row[1] for row in found), np.uint64).reshape(len(ids), -1)
    distance = np.zeros(len(ids), np.uint16)
    for column, sign in enumerate(np.packbits(vector > 0).view(np.uint64)):
        distance += np.bitwise_count(bits[:, column] ^ sign)
    distance[ids == 0] = np.iinfo(np.uint16).max
    most = min(max(_COMPARED, 2 * limit), len(ids))
    likely = ids[np.argpartition(distance, most - 1)[:most]].tolist()
    read = rows(connection, SQL.codes, (str(likely),))
    if not read:
        return []
    codes = np.frombuffer(b"".join(row[1] for row in read), np.int8).reshape(len(read), -1).astype(np.float32)
    cosines = np.einsum("ij,j->i", codes, vector) / np.sqrt(np.einsum("ij,ij->i", codes, codes))
    near = [Likeness(row[0], cosine) for row, cosine in zip(read, cosines.tolist(), strict=True)]
    return sorted((one for one in near if one.cosine >= least), key=lambda one: (-one.cosine, one.entry))[
        :limit
    ]


def _emptied(data: bytes, width: int, slot: int) -> bytes:
    start = slot * width
    return data[:start] + bytes(width) + data[start + width :]
