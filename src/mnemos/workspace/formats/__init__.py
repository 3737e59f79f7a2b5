"""Files of rows, read and written: CSV, TSV, JSON, JSON lines, and Markdown for people.

Everything here works on streams in constant memory and does not know databases. It runs in the sandboxed
worker, because the files are hostile input.
"""

from mnemos.workspace.formats.columns import BadLine, Column, Kind, Limits, Row, Table
from mnemos.workspace.formats.detection import open_table
from mnemos.workspace.formats.source import NotUtf8
from mnemos.workspace.formats.writers import write

__all__ = [
    "BadLine",
    "Column",
    "Kind",
    "Limits",
    "NotUtf8",
    "Row",
    "Table",
    "open_table",
    "write",
]
