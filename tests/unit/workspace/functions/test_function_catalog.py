"""Promises of every function: names, examples, NULL, blobs, numbers, huge text, numbers of arguments."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import apsw
import pytest

from mnemos.workspace import limits
from mnemos.workspace.functions import FUNCTIONS, register, scalar
from mnemos.workspace.functions import function as base
from mnemos.workspace.functions.function import Function, FunctionFailed, Value

PROMISED = """
    regexp regexp_extract regexp_replace regexp_find_all grep_context grep_context_all split_sections
    json_length word_count char_count split_part substr_range slugify levenshtein similarity csv_parse
    csv_column csv_headers html_to_text clean_text parse_number parse_date extract_json extract_emails
    extract_urls url_extract now
    curdate getdate len nvl left right reverse lpad rpad concat concat_ws date_trunc datediff if stddev
    stddev_pop variance var_pop median percentile corr mode
""".split()

SCALARS = [function for function in FUNCTIONS if function.call]
STRICT = [function for function in SCALARS if not function.wants_null and function.arity != (0,)]
SAMPLES = (
    "",
    " ",
    "plain words, and 12.5 numbers",
    "👨‍👩‍👧 🏴󠁧󠁢󠁳󠁣󠁴󠁿 emoji",
    "你好，世界",
    "cafe\u0301 na\u00efve",
    "שלום עולם",
    "a\x00b",
    '{"a": [1, 2]}',
    "2024-02-29T10:11:12+02:00",
    "<p>x &lt; y</p>",
    "http://ada@[::1]:80/x?y=z#w",
)


def is_storable(value: object) -> bool:
    if isinstance(value, int):
        return base.SMALLEST <= value <= base.LARGEST
    return value is None or (type(value) in (str, float, bytes) and value == value)


def counts(function: Function) -> list[int]:
    return [3 if count < 0 else count for count in function.arity if count]


def with_first(function: Function, value: Value, count: int) -> list[Value]:
    """Arguments that make sense, with the first one given."""
    others: dict[str, list[Value]] = {
        "split_part": [",", 1],
        "substr_range": [1, 2],
        "url_extract": ["host", "key"],
        "csv_parse": [1, ","],
        "csv_column": [1, 1, ","],
        "csv_headers": [","],
        "grep_context": ["w.rds", 5],
        "grep_context_all": ["w.rds", 5, 5],
        "parse_date": ["dmy"],
        "parse_number": ["."],
        "json_length": ["$"],
        "regexp_replace": ["w.rds", "b"],
        "lpad": [5, "."],
        "rpad": [5, "."],
    }
    numbers: list[Value] = [1, 1, 1]
    return [value, *others.get(function.name, numbers)[: count - 1]]


def test_every_function_of_the_specification_is_there() -> None:
    assert set(PROMISED) <= {function.name for function in FUNCTIONS}


def test_no_name_occurs_twice() -> None:
    names = [function.name for function in FUNCTIONS]
    assert sorted(set(names)) == sorted(names)
    assert names == [name.lower() for name in names]


def test_a_function_has_a_line_of_documentation_that_names_it() -> None:
    for function in FUNCTIONS:
        assert function.name in function.signature.lower()
        assert function.doc
        assert "\n" not in f"{function.signature}{function.doc}{function.example}{function.gives}"
        assert bool(function.gives) or not function.pure


def test_the_example_gives_what_the_documentation_says(connection: apsw.Connection) -> None:
    for function in FUNCTIONS:
        expected = function.gives or "(SELECT NULL)"
        answer, right = connection.execute(
            f"SELECT (SELECT {function.example}), (SELECT {function.example}) IS {expected}"
        ).fetchall()[0]
        assert right or (not function.pure and answer is not None), function.name


def test_sqlite_knows_the_function_as_it_is_listed(connection: apsw.Connection) -> None:
    for function in FUNCTIONS:
        known = connection.execute(
            "SELECT builtin, flags FROM pragma_function_list WHERE name = ? ORDER BY builtin",
            (function.name,),
        ).fetchall()
        assert known, function.name
        if not function.builtin:
            assert known[0][0] == 0
        assert known[0][1] & apsw.SQLITE_INNOCUOUS
        if not function.builtin:
            assert bool(known[0][1] & apsw.SQLITE_DETERMINISTIC) is function.pure


def test_null_in_any_place_gives_null(call: Callable[..., Value]) -> None:
    for function in STRICT:
        for count in counts(function):
            for place in range(count):
                values: list[Value] = ["1"] * count
                values[place] = None
                assert call(function.name, *values) is None, function.name


def test_another_number_of_arguments_is_an_error_of_sqlite(call: Callable[..., Value]) -> None:
    for function in SCALARS:
        if -1 in function.arity:
            continue
        with pytest.raises(apsw.SQLError):
            call(function.name, *[1] * (max(function.arity) + 1))


def test_a_blob_is_read_as_the_text_it_holds(call: Callable[..., Value]) -> None:
    for function in STRICT:
        if function.name in {"greatest", "least", "csv_column"}:
            continue
        for sample in SAMPLES:
            values = with_first(function, sample, max(counts(function)))
            assert outcome(call, function, [sample.encode(), *values[1:]]) == outcome(call, function, values)


def test_a_number_is_read_as_the_text_it_is_written_as(call: Callable[..., Value]) -> None:
    for function in STRICT:
        if function.name in {"greatest", "least", "parse_number", "csv_column"}:
            continue
        for number in (0, 7, -3, 20240229, 1.5):
            values = with_first(function, str(number), max(counts(function)))
            assert outcome(call, function, [number, *values[1:]]) == outcome(call, function, values)


def outcome(call: Callable[..., Value], function: Function, values: list[Value]) -> object:
    """The answer, or that it failed, with a message that names the function and is short."""
    try:
        return call(function.name, *values)
    except FunctionFailed as failed:
        message = str(failed)
    assert message.startswith(f"{function.name}: ")
    assert len(message) < 500
    return FunctionFailed


def test_no_script_sign_or_form_breaks_a_function(call: Callable[..., Value]) -> None:
    for function in STRICT:
        for sample in (*SAMPLES, b"\xff\xfe\x00", 2**63 - 1, -(2**63), float("inf"), 1e-300):
            for count in counts(function):
                answer = outcome(call, function, with_first(function, sample, count))
                assert answer is FunctionFailed or is_storable(answer)


def test_a_megabyte_is_answered_or_refused(call: Callable[..., Value]) -> None:
    for function in STRICT:
        for unit in ("naïve words, 12 of them\n", "<a "):
            values = with_first(function, unit * (1_000_000 // len(unit)), counts(function)[0])
            answer = outcome(call, function, values)
            assert answer is FunctionFailed or is_storable(answer)


def test_a_failure_names_the_function(call: Callable[..., Value]) -> None:
    with pytest.raises(FunctionFailed) as failed:
        call("parse_date", "1/2/2024", "xyz")
    assert str(failed.value).startswith("parse_date: ")


def test_a_failure_of_an_aggregate_names_it(over: Callable[..., Value]) -> None:
    with pytest.raises(FunctionFailed) as failed:
        over("stddev", ("a",))
    assert str(failed.value).startswith("stddev: ")


def test_names_are_found_in_any_case(connection: apsw.Connection) -> None:
    assert connection.execute("SELECT Left('abc', 1) || RIGHT('abc', 1) || Nvl(NULL, 'x')").get == "acx"


def test_views_indexes_and_defaults_may_use_the_functions_where_the_schema_is_not_trusted(
    connection: apsw.Connection,
) -> None:
    connection.execute(
        """
        CREATE TABLE page (address TEXT, price TEXT, seen TEXT DEFAULT (now()));
        CREATE INDEX by_host ON page (url_extract(address, 'host'));
        CREATE VIEW middle AS SELECT median(parse_number(price)) AS price FROM page;
        INSERT INTO page (address, price) VALUES ('https://a.example/x', '$5'), ('https://b.example/', '$7');
        """
    )
    assert connection.execute("SELECT price FROM middle").get == 6.0
    assert connection.execute("SELECT COUNT(*) FROM page WHERE seen LIKE '____-__-__ __:__:__'").get == 2
    plan = connection.execute(
        "EXPLAIN QUERY PLAN SELECT * FROM page WHERE url_extract(address, 'host') = 'a.example'"
    ).fetchall()
    assert "by_host" in plan[0][3]


def test_a_result_that_no_value_can_hold_is_refused(call: Callable[..., Value]) -> None:
    assert len(call("lpad", "x", base.LONGEST)) == base.LONGEST
    for name, *values in (
        ("lpad", "x", base.LONGEST + 1),
        ("rpad", "x", 2**62, "ab"),
        ("csv_headers", ";" * 1_400_000),
        ("csv_parse", "x" * 100_000 + "\n" + "1\n" * 1_000),
        ("regexp_replace", "a" * 10_000, "a", "b" * 10_000),
        ("regexp_find_all", "a" * 100_000, "(" * 50 + "a{100}" + ")" * 50),
    ):
        with pytest.raises(FunctionFailed):
            call(name, *values)


def test_the_longest_result_is_the_longest_value_of_the_sandbox() -> None:
    assert limits.LENGTH.value == base.LONGEST


def test_numbers_that_sqlite_cannot_hold_are_made_so() -> None:
    assert base.storable(2**63) == float(2**63)
    assert base.storable(float("nan")) is None
    assert base.storable(-(2**63)) == -(2**63)


def test_what_sqlite_brings_itself_is_not_called_here() -> None:
    with pytest.raises(TypeError):
        scalar(next(function for function in FUNCTIONS if function.builtin))


def test_registering_twice_changes_nothing(connection: apsw.Connection) -> None:
    register(connection)
    assert connection.execute("SELECT len('abc')").get == 3


def test_importing_the_catalog_loads_none_of_what_few_functions_need() -> None:
    heavy = ["re2", "csv", "json", "html", "datetime", "unicodedata", "calendar", "urllib.parse", "apsw"]
    code = (
        "import sys; import mnemos.workspace.functions;"
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
