"""Every limit of the sandbox with its reason, for the guard, the worker and the docs."""

from __future__ import annotations

from dataclasses import dataclass

MB = 1_000_000


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit of one call, one database or the worker."""

    name: str
    value: int
    reason: str


@dataclass(frozen=True, slots=True)
class Quota:
    """The limits of the workspace of a space. All but ``database_bytes`` are totals."""

    databases: int = 100
    database_bytes: int = 50 * MB
    databases_bytes: int = 250 * MB
    snapshots_bytes: int = 1_000 * MB
    exports_bytes: int = 500 * MB


# Enforced by SQLite.
LENGTH = Limit(
    "LENGTH", 4 * MB, "bytes of a value or row: enough for a web page, too few for a zeroblob or printf bomb"
)
SQL_LENGTH = Limit("SQL_LENGTH", 4 * MB, "bytes of a statement: a page written as a literal must fit")
COLUMN = Limit("COLUMN", 2_000, "columns of a table or result: about as many as spreadsheets have")
EXPR_DEPTH = Limit("EXPR_DEPTH", 500, "depth of an expression, so that the parser's stack stays small")
COMPOUND_SELECT = Limit(
    "COMPOUND_SELECT", 500, "SELECTs joined by UNION: enough for VALUES written as SELECTs"
)
VDBE_OP = Limit("VDBE_OP", 250_000, "instructions of a compiled statement: bounds its memory")
FUNCTION_ARG = Limit("FUNCTION_ARG", 127, "arguments of a function: a JSON object of 63 fields")
ATTACHED = Limit("ATTACHED", 0, "databases to attach; a database can't reach other files")
LIKE_PATTERN_LENGTH = Limit(
    "LIKE_PATTERN_LENGTH", 200, "characters of a LIKE or GLOB pattern: many % in a long one take forever"
)
VARIABLE_NUMBER = Limit("VARIABLE_NUMBER", 32_766, "parameters of a statement: SQLite's own default")
TRIGGER_DEPTH = Limit("TRIGGER_DEPTH", 20, "triggers that call each other, so that recursion ends soon")
PARSER_DEPTH = Limit("PARSER_DEPTH", 1_000, "nesting that the parser follows: bounds its stack on the heap")
WORKER_THREADS = Limit("WORKER_THREADS", 0, "helper threads of a sort, because a call has one core")

OF_SQLITE = tuple(limit for limit in list(vars().values()) if isinstance(limit, Limit))

# Enforced by the operating system and the worker.
HEAP = Limit(
    "HEAP", 256 * MB, "memory of SQLite, including sorts and temporary tables; beyond it, a statement fails"
)
ADDRESS_SPACE = Limit(
    "ADDRESS_SPACE",
    1_000 * MB,
    "all memory of the worker; beyond it, an allocation fails and the worker is replaced",
)
CPU_GRACE = Limit("CPU_GRACE", 2, "seconds of CPU time beyond a call's limit, if no parent is left")
OPEN_FILES = Limit("OPEN_FILES", 128, "files: eight databases with their journals, and what Python needs")
OPEN_DATABASES = Limit(
    "OPEN_DATABASES", 8, "databases that a worker keeps open; the least recently used is closed"
)
TABLES = Limit(
    "TABLES", 1_000, "tables, indexes, views and triggers of a database; more would slow down every open"
)
FRAME = Limit("FRAME", 64 * MB, "bytes of a request or an answer: rows to insert, rows to return")
ANSWER = Limit("ANSWER", 32 * MB, "bytes of rows that one call returns to Python; for more, export or page")
PARAMETER_ROWS = Limit("PARAMETER_ROWS", 1_000_000, "rows= of one call; for more, import a file")
STATEMENTS = Limit("STATEMENTS", 1_000, "statements in one call, each of which has its own answer")

OF_THE_WORKER = tuple(
    limit for limit in list(vars().values()) if isinstance(limit, Limit) and limit not in OF_SQLITE
)

# Defaults for the part of a result that a model gets; the rest is a page away.
ROWS = 100
BYTES = 8_000
CELL = 1_000
SECONDS = 30.0
MOST_SECONDS = 600.0
# Imports and exports take longer than queries.
FILE_SECONDS = 300.0
# The host uses it for numbers that no message can carry, the worker for those SQLite cannot hold.
NUMBER_TOO_LARGE = (
    "a value is a whole number outside of -2^63 to 2^63 - 1, which SQLite cannot hold; pass it as a text"
)

# The parts of the history that an agent may read as tables, and how much of one travels at a time.
HISTORY_PARTS = ("sessions", "messages", "facts")
FIRST_ROWS = 16
MOST_ROWS = 1_000
PAGE_CHARACTERS = 2_000_000
