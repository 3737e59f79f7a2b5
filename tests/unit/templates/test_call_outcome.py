"""Results of tool calls that count as success or failure."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemos.templates.call_outcome import is_success

TRACEBACK = 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\nKeyError: 1'

FAILED_TEXTS = [
    "Error: no module named x",
    "error: pathspec 'x' did not match",
    "ERROR - could not connect",
    "[ERROR] disk",
    "Tool error: bad arguments",
    "Error executing tool terminal: timed out",
    "An error occurred while reading",
    "HTTP error 404",
    TRACEBACK,
    f"running…\n{TRACEBACK}",
    "ValueError: bad",
    "checking\nsqlite3.OperationalError: no such table: t",
    "java.lang.NullPointerException: x",
    "bash: frobnicate: command not found",
    "sh: 1: frobnicate: not found",
    "cat: x.txt: No such file or directory",
    "ls: cannot open directory '.': Permission denied",
    "fatal: not a git repository",
    "panic: runtime error",
    "main.c:3:5: error: expected ';'",
    "error[E0308]: mismatched types",
    "npm ERR! code ELIFECYCLE",
    "make: *** [Makefile:3: test] Error 2",
    "== short test summary info ==\n=== 2 failed, 3 passed in 0.12s ===",
    "Ran 3 tests in 0.1s\n\nFAILED (failures=1)",
    "some output\nexit code: 1",
    "some output\n[exit code 127]",
    "Command exited with code 2",
    "Exit status 1",
    "returned non-zero exit status 3",
    "Process exited with -9",
    "Request timed out after 30 s",
    "Operation cancelled by user",
    "Permission denied",
    "Failed to write a.txt",
    "Cannot read a.txt",
    "404 Not Found",
    "Unknown command 'x'",
    "Segmentation fault (core dumped)",
    "{'error': 'no such key'}",
    "Fehler: Datei nicht gefunden",
    "错误：文件不存在",
]

GOOD_TEXTS = [
    "",
    "ok",
    "3 passed in 0.1s",
    "=== 5 passed, 1 warning in 0.12s ===",
    "no errors found",
    "No error: all fine",
    "0 errors, 0 warnings",
    "error handling lives in errors.py",
    "Failed: 0, passed: 7",
    "exit code: 0",
    "warning: unused variable\nexit code 0",
    "errors.log\nfailures.txt",
    "The command succeeded",
    "total 12\ndrwxr-xr-x 2 a a 4096 Jan 1 10:00 errors",
    "def timed_out():\n    raise TimeoutError",
    "[1, 2, 3]",
    '[{"status": "failed"}]',
    "{not json",
    "null",
]

FAILED_DATA: list[dict[str, Any]] = [
    {"error": "no such file"},
    {"error": {"code": 3}},
    {"error": True},
    {"success": False, "output": "x"},
    {"ok": False},
    {"success": "false"},
    {"exit_code": 1, "output": "x"},
    {"exitCode": 127},
    {"returncode": -9},
    {"return_code": "2"},
    {"exit_code": 1, "success": True},
    {"is_error": True, "content": "x"},
    {"isError": True, "content": [{"type": "text", "text": "x"}]},
    {"status": "error"},
    {"status": "timed_out"},
    {"status": 500},
    {"status_code": 404},
    {"timed_out": True},
    {"output": TRACEBACK, "exit_code": 0},
    {"stdout": "", "stderr": "bash: x: command not found"},
    {"result": {"error": "bad"}},
    {"content": [{"type": "text", "text": "Error: bad"}]},
    {"errors": ["bad"]},
    {"traceback": "…"},
]

GOOD_DATA: list[dict[str, Any]] = [
    {},
    {"error": None, "output": "x"},
    {"error": ""},
    {"error": False},
    {"success": True, "output": "Error handling is in errors.py"},
    {"success": True, "errors": ["a linter's find"]},
    {"success": True, "result": {"status": "failed"}},
    {"exit_code": 0, "output": "error: shown by a test that expects it"},
    {"exit_code": "0"},
    {"returncode": 0, "stderr": "warning: x"},
    {"status": "ok"},
    {"status": 200},
    {"timeout": 30, "output": "x"},
    {"timed_out": False},
    {"errors": []},
    {"failed": 0, "passed": 3},
    {"data": {"status": "failed"}},
    {"exit_code": None},
]


keys = st.sampled_from(["error", "result", "output", "content", "status", "exit_code", "success", "errors"])
answers = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.dictionaries(keys, inner | st.lists(inner, max_size=2), max_size=3),
)


@pytest.mark.parametrize("text", FAILED_TEXTS)
def test_text_that_reports_a_failure_is_not_a_success(text: str) -> None:
    assert not is_success(text)


@pytest.mark.parametrize("text", GOOD_TEXTS)
def test_a_text_that_mentions_errors_or_nothing_is_a_success(text: str) -> None:
    assert is_success(text)


@pytest.mark.parametrize("data", FAILED_DATA, ids=str)
def test_data_that_reports_a_failure_is_not_a_success(data: dict[str, Any]) -> None:
    assert not is_success(json.dumps(data))
    assert not is_success(f"\n {json.dumps(data, indent=2)}\n")


@pytest.mark.parametrize("data", GOOD_DATA, ids=str)
def test_data_that_reports_no_failure_is_a_success(data: dict[str, Any]) -> None:
    assert is_success(json.dumps(data))


@pytest.mark.parametrize("flags", [{"is_error": True}, {"success": False}, {"exit_code": 3}], ids=str)
def test_a_flag_beside_the_result_outweighs_its_words(flags: dict[str, Any]) -> None:
    assert not is_success("all good", flags)
    assert is_success("all good", {"is_error": False, "exit_code": 0, "model": "x"})


def test_errors_quoted_in_a_file_are_data() -> None:
    log = f"started\n{TRACEBACK}\nexit code: 1\ncat: x: No such file or directory"
    assert is_success(log, shows_contents=True)
    assert not is_success(log)
    for text in ("Error: no such file", "a.txt: No such file or directory", "File not found", TRACEBACK):
        assert not is_success(text, shows_contents=True), text
    assert not is_success(json.dumps({"error": "no such file"}), shows_contents=True)
    assert is_success(json.dumps({"content": log}), shows_contents=True)


def test_a_failure_is_found_at_the_end_of_a_very_long_answer() -> None:
    assert not is_success("line\n" * 200_000 + "Process exited with code 1")
    assert not is_success("line\n" * 200_000 + "main.c:3:5: error: x")
    assert is_success("line\n" * 200_000)


@given(st.text() | st.sampled_from(FAILED_TEXTS + GOOD_TEXTS))
def test_any_text_is_judged(text: str) -> None:
    for shows in (True, False):
        assert is_success(text, shows_contents=shows) in (True, False)


@given(answers)
def test_any_data_is_judged(data: Any) -> None:
    assert is_success(json.dumps(data)) in (True, False)


def test_deeply_nested_data_is_judged_by_its_words() -> None:
    assert is_success('{"a":' * 100_000 + "1" + "}" * 100_000)
