"""Files of rows, read and written: CSV, TSV, JSON, JSON lines, and Markdown for reading by people.

Everything here works on streams in constant memory and knows nothing of databases. It runs in the worker of
the sandbox, since what is read is hostile input.
"""

from mnemos.workspace.formats.encoding import NotUtf8
from mnemos.workspace.formats.model import BadLine, Column, Kind, Limits, Table
from mnemos.workspace.formats.opening import READABLE, open_table
from mnemos.workspace.formats.writing import WRITABLE, Writer, writer

__all__ = [
    "READABLE",
    "WRITABLE",
    "BadLine",
    "Column",
    "Kind",
    "Limits",
    "NotUtf8",
    "Table",
    "Writer",
    "open_table",
    "writer",
]
