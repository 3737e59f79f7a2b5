"""After a fork, the child uses connections of its own and the parent goes on."""

from __future__ import annotations

import os
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest

from mnemos import SessionDB

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork"),
    # Python 3.12 warns of forking with threads; that hosts do it all the same is what is tested.
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
]


def in_child(work: Callable[[], None]) -> int:
    """Run work in a forked child; its exit status, 0 when nothing was raised."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


@pytest.fixture
def db(tmp_path: Path) -> SessionDB:
    opened = SessionDB(tmp_path / "x.db")
    opened.create_session("s", "cli")
    opened.append_message("s", "user", "parrot of the parent")
    assert len(opened.search_messages("parrot")) == 1
    return opened


def test_a_child_writes_and_the_parent_goes_on(db: SessionDB) -> None:
    def work() -> None:
        assert len(db.search_messages("parrot")) == 1
        db.append_message("s", "user", "parrot of the child")
        assert len(db.search_messages("parrot")) == 2
        db.close()

    for n in range(3):
        assert in_child(work if n == 0 else lambda: db.append_message("s", "user", "parrot") and None) == 0
        db.append_message("s", "user", "parrot of the parent")
    assert db.message_count("s") == 7
    assert len(db.search_messages("parrot")) == 7
    db.close()


def test_a_child_that_closes_does_not_close_for_the_parent(db: SessionDB) -> None:
    assert in_child(db.close) == 0
    db.append_message("s", "user", "still here")
    assert db.message_count() == 2
    db.close()


def test_a_child_that_only_exits_does_no_harm(db: SessionDB, tmp_path: Path) -> None:
    assert in_child(lambda: None) == 0
    db.append_message("s", "user", "still here")
    db.close()
    with SessionDB(tmp_path / "x.db") as again:
        assert again.message_count() == 2


def test_children_at_once_lose_nothing(db: SessionDB, tmp_path: Path) -> None:
    children = []
    for n in range(4):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                for m in range(25):
                    db.append_message("s", "user", f"child{n} number{m}")
                status = 0
            finally:
                os._exit(status)
        children.append(child)
    for m in range(25):
        db.append_message("s", "user", f"parent number{m}")
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * 4
    assert db.message_count("s") == len(db.get_messages("s")) == 126
    db.close()
    with SessionDB(tmp_path / "x.db") as again:
        assert len(again.search_messages("number24")) == 5


def test_a_fork_in_the_middle_of_many_appends_does_no_harm(db: SessionDB) -> None:
    for n in range(6):
        for _ in range(120):
            db.append_message("s", "user", "parrot")
        assert in_child(lambda: db.append_message("s", "user", "pigeon") and None) == 0, n
    assert db.message_count("s") == 1 + 6 * 121
    assert len(db.search_messages("pigeon", limit=20)) == 6
    db.close()


HOST = """
import os, sys
from mnemos import SessionDB

db = SessionDB(sys.argv[1])
db.create_session("s", "cli")
db.append_message("s", "user", "parrot")
db.search_messages("parrot")
child = os.fork()
if child == 0:
    if sys.argv[2] == "writes":
        db.append_message("s", "user", "parrot")
    sys.exit(0)
os.waitpid(child, 0)
for _ in range(10):
    db.append_message("s", "user", "parrot")
assert len(db.search_messages("parrot", limit=50)) == db.message_count()
print(db.message_count())
"""


@pytest.mark.parametrize(("child", "count"), [("writes", 12), ("reads nothing", 11)])
def test_a_child_that_ends_like_any_program_does_no_harm(tmp_path: Path, child: str, count: int) -> None:
    command = [sys.executable, "-W", "ignore", "-c", HOST, str(tmp_path / "x.db"), child]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.stdout.split(), ran.stderr, ran.returncode) == ([str(count)], "", 0)
    with SessionDB(tmp_path / "x.db") as db:
        assert len(db.search_messages("parrot", limit=50)) == db.message_count() == count


def test_a_database_in_memory_is_copied_by_a_fork(tmp_path: Path) -> None:
    with SessionDB(":memory:") as db:
        db.create_session("s", "cli")
        db.append_message("s", "user", "parrot")

        def work() -> None:
            db.append_message("s", "user", "parrot")
            assert db.message_count() == 2

        assert in_child(work) == 0
        assert db.message_count() == 1
