"""The authorizer of the agent's SQL: decides while SQLite compiles, never by reading the text.

Everything is refused that is not on a list here: pragmas, functions, modules, kinds of action.
"""

from __future__ import annotations

import apsw

from mnemos.workspace import functions

# Pragmas that only tell something. Those that can also set something do so by an argument.
_TELLING = frozenset(
    """application_id collation_list compile_options data_version encoding foreign_key_check foreign_key_list
    foreign_keys freelist_count function_list index_info index_list index_xinfo integrity_check journal_mode
    max_page_count page_count page_size quick_check recursive_triggers schema_version table_info table_list
    table_xinfo trusted_schema user_version""".split()
)
# Of these, an argument names what to tell of, or how much.
_ASKED_ABOUT = frozenset(
    """foreign_key_check foreign_key_list index_info index_list index_xinfo integrity_check quick_check
    table_info table_list table_xinfo""".split()
)
# The only ones that change anything: a number for the agent's own use, and statistics.
_CHANGING = frozenset({"user_version", "application_id", "optimize"})

# Built-in functions without those that reach beyond the database, into its internals or the process:
# load_extension, fts3_tokenizer, sqlite_log, the debugging functions of rtree and FTS.
FUNCTIONS = frozenset(
    """-> ->> abs acos acosh asin asinh atan atan2 atanh avg bm25 ceil ceiling changes char coalesce concat
    concat_ws cos cosh count cume_dist current_date current_time current_timestamp date datetime degrees
    dense_rank exp first_value floor format glob group_concat hex highlight if ifnull iif instr json
    json_array json_array_insert json_array_length json_error_position json_extract json_group_array
    json_group_object
    json_insert json_object json_patch json_pretty json_quote json_remove json_replace json_set json_type
    json_valid jsonb jsonb_array jsonb_array_insert jsonb_extract jsonb_group_array jsonb_group_object
    jsonb_insert jsonb_object jsonb_patch jsonb_remove jsonb_replace jsonb_set julianday lag last_insert_rowid
    last_value lead length like likelihood likely ln log log10 log2 lower ltrim match max median min mod
    nth_value ntile nullif octet_length percent_rank percentile percentile_cont percentile_disc pi pow power
    printf quote radians random randomblob rank replace round row_number rtrim sign sin sinh snippet
    sqlite_source_id sqlite_version sqrt strftime string_agg substr substring sum tan tanh time timediff total
    total_changes trim trunc typeof unhex unicode unistr unistr_quote unixepoch unlikely upper
    zeroblob""".split()
)
# Functions that ALTER TABLE calls while it rewrites the schema.
_INTERNAL = frozenset(
    """sqlite_drop_column sqlite_rename_column sqlite_rename_table sqlite_rename_test sqlite_rename_quotefix
    sqlite_drop_constraint sqlite_add_constraint sqlite_find_constraint sqlite_fail""".split()
)
_MODULES = frozenset({"fts5", "fts5vocab", "rtree", "rtree_i32"})
# Virtual tables that are there without being created and show the file or the process itself.
_CLOSED = frozenset(
    """bytecode carray dbstat fts3tokenize sqlite_dbdata sqlite_dbpage sqlite_dbptr sqlite_stmt
    tables_used""".split()
)

_SCHEMA = frozenset({"sqlite_master", "sqlite_schema", "sqlite_temp_master", "sqlite_temp_schema"})


def _actions(names: str) -> frozenset[int]:
    return frozenset(getattr(apsw, f"SQLITE_{name}") for name in names.split())


_ADDS = _actions("CREATE_INDEX CREATE_TABLE CREATE_TRIGGER CREATE_VIEW CREATE_VTABLE")
_ADDS_FOR_NOW = _actions("CREATE_TEMP_INDEX CREATE_TEMP_TABLE CREATE_TEMP_TRIGGER CREATE_TEMP_VIEW")
_DROPS = _actions("ALTER_TABLE DROP_INDEX DROP_TABLE DROP_TRIGGER DROP_VIEW DROP_VTABLE")
_FREE = _actions(
    """ANALYZE DROP_TEMP_INDEX DROP_TEMP_TABLE DROP_TEMP_TRIGGER DROP_TEMP_VIEW RECURSIVE REINDEX SAVEPOINT
    SELECT"""
)
_WRITES = _actions("INSERT UPDATE DELETE")


class Guard:
    """Answers SQLite's questions about one connection, and remembers what a call has done.

    ``trusted`` is set around statements of our own; nothing is asked then.
    """

    def __init__(self) -> None:
        self.trusted = True
        self.refusal = ""
        self.tables: dict[str, None] = {}
        """The tables a call touched, in order."""
        self.changes_schema = False
        self.drops = False
        """A statement of the call drops or alters something."""
        self.removes = False
        """The statement being compiled deletes or updates rows."""
        self.makes_temporary = False
        self._functions = FUNCTIONS | {function.name.lower() for function in functions.FUNCTIONS}

    def begin_call(self) -> None:
        self.tables.clear()
        self.changes_schema = self.drops = False

    def begin_statement(self) -> None:
        self.refusal = ""
        self.removes = False

    def __call__(
        self, action: int, one: str | None, two: str | None, database: str | None, _within: str | None
    ) -> int:
        if self.trusted:
            return apsw.SQLITE_OK
        if action == apsw.SQLITE_READ:
            return self._reads(one or "")
        if action == apsw.SQLITE_FUNCTION:
            return self._calls(two or "")
        if action in _WRITES:
            return self._writes(action, one or "", database)
        if action == apsw.SQLITE_PRAGMA:
            return self._asks(one or "", two)
        if action in _FREE:
            return apsw.SQLITE_OK
        if database == "temp":
            self.makes_temporary = True
        return self._changes(action, one or "", two or "")

    def _reads(self, table: str) -> int:
        if table.lower() in _CLOSED:
            return self._refuse(
                f"the table {table} exposes the internals of the database and is not available here"
            )
        self._touch(table)
        return apsw.SQLITE_OK

    def _writes(self, action: int, table: str, database: str | None) -> int:
        if table.lower() in _CLOSED:
            return self._refuse(
                f"the table {table} exposes the internals of the database and is not available here"
            )
        if action != apsw.SQLITE_INSERT and table not in _SCHEMA and database != "temp":
            self.removes = True
        self._touch(table)
        return apsw.SQLITE_OK

    def _calls(self, function: str) -> int:
        name = function.lower()
        if name in self._functions or name in _INTERNAL:
            return apsw.SQLITE_OK
        return self._refuse(
            f"The function {function}() is not available here. To list the available ones, call "
            "sqlite_schema with functions."
        )

    def _asks(self, pragma: str, argument: str | None) -> int:
        name = pragma.lower()
        tells = name in _TELLING and (argument is None or name in _ASKED_ABOUT)
        if tells or name in _CHANGING:
            return apsw.SQLITE_OK
        if name in _TELLING:
            return self._refuse(f"PRAGMA {pragma} can be read here and not set")
        return self._refuse(f"PRAGMA {pragma} is not available here")

    def _changes(self, action: int, one: str, two: str) -> int:
        if action == apsw.SQLITE_CREATE_VTABLE and two.lower() not in _MODULES:
            return self._refuse(
                f"Virtual tables of {two} are not available here. Use {', '.join(sorted(_MODULES))}."
            )
        if action in _ADDS or action in _DROPS:
            self.changes_schema = True
            self.drops |= action in _DROPS
            return apsw.SQLITE_OK
        if action in _ADDS_FOR_NOW:
            self.makes_temporary = True
            return apsw.SQLITE_OK
        if action == apsw.SQLITE_ATTACH:
            # VACUUM attaches its own file, whose name is empty.
            return self._refuse(_ATTACH if one else VACUUM)
        if action == apsw.SQLITE_TRANSACTION:
            return self._refuse(
                "a call is one transaction already, all or nothing: leave out BEGIN and COMMIT"
            )
        return self._refuse(_UNKNOWN.get(action, "this kind of statement is not available here"))

    def _touch(self, table: str) -> None:
        if table not in _SCHEMA:
            self.tables[table] = None

    def _refuse(self, why: str) -> int:
        self.refusal = self.refusal or why
        return apsw.SQLITE_DENY


_ATTACH = (
    "ATTACH opens other files and is not available here. To use another database of the workspace, pass "
    "its name as database; to copy rows between two, use the tool sqlite_export and the tool sqlite_import"
)
VACUUM = "VACUUM is not available here: `mnemos workspace compact` gives unused space back"
_UNKNOWN = {apsw.SQLITE_DETACH: "DETACH is not available here: nothing is attached"}
