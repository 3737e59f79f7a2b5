"""Imports store everything exactly once."""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import mnemos
from mnemos.errors import Disabled, DiskFull, InvalidInput, NotFound, Refused
from mnemos.transfer import import_writer, imports
from mnemos.transfer.reader import Conversation, ImportedMessage, ImportReport, Item, Mark, Reader, SourceFile
from mnemos.transfer.readers.claude_code import READER

FIXTURES = Path(__file__).parents[2] / "data" / "imports" / "claude-code"
SHOP = "3f2c9a10-0000-4000-8000-000000000001"
BLOG = "8d4e7b20-0000-4000-8000-000000000002"
RESUMED = "8d4e7b20-0000-4000-8000-000000000003"


@pytest.fixture
def memory(home: Path) -> Iterator[mnemos.Memory]:
    with mnemos.open(home, embedder="none") as opened:
        yield opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FIXTURES, tmp_path / "transcripts"))


def bring(memory: mnemos.Memory, path: Path, **options: Any) -> ImportReport:
    return memory.imports.import_files(READER, path, **options)


def line(number: int, text: str, session: str = "s") -> str:
    return json.dumps(
        {
            "type": "user",
            "sessionId": session,
            "uuid": f"{session}-{number}",
            "timestamp": f"2026-01-01T00:00:{number % 60:02}Z",
            "message": {"role": "user", "content": text},
        }
    )


def answer_lines(blocks: list[dict[str, Any]]) -> list[str]:
    """The lines of one answer, as Claude Code writes them: one for each block."""
    about = {"type": "assistant", "sessionId": "s"}
    message = {"id": "m", "role": "assistant"}
    return [
        json.dumps(about | {"uuid": f"a{number}", "message": message | {"content": [block]}})
        for number, block in enumerate(blocks)
    ]


def texts(memory: mnemos.Memory, session: str = "s") -> list[str]:
    return [message["content"] for message in memory.sessions.get_messages(session)]


def test_what_was_imported_is_recalled(memory: mnemos.Memory, folder: Path) -> None:
    bring(memory, folder)
    assert "Redis streams" in memory.recall("which queue sends the order mails?").text


def test_searches_during_an_import_find_little_that_is_not_indexed(
    memory: mnemos.Memory, tmp_path: Path
) -> None:
    lines = [line(number, "We moved the order mails to Redis streams. " * 3) for number in range(3_000)]
    (tmp_path / "long.jsonl").write_text("\n".join(lines))
    pending: list[int] = []
    bring(memory, tmp_path / "long.jsonl", progress=lambda _: pending.append(memory.storage.usage().pending))
    assert len(pending) > 10
    assert max(pending) < 1_000


def test_the_background_goes_on_with_what_was_imported(memory: mnemos.Memory, folder: Path) -> None:
    awake = threading.Event()
    memory.storage.when_idle(lambda: bool(awake.set()))
    bring(memory, folder, dry_run=True)
    assert not awake.wait(0)
    bring(memory, folder)
    assert awake.wait(30)


def test_importing_again_adds_nothing(memory: mnemos.Memory, folder: Path) -> None:
    first = bring(memory, folder)
    count = memory.sessions.message_count()
    again = bring(memory, folder)
    assert (first.sessions, first.messages) == (7, 29)
    assert (again.sessions, again.messages, again.files, again.unchanged) == (0, 0, 0, first.files)
    assert memory.sessions.message_count() == count == first.messages


def test_files_that_were_only_touched_add_nothing(memory: mnemos.Memory, folder: Path) -> None:
    bring(memory, folder)
    for path in folder.rglob("*.jsonl"):
        os.utime(path, (1, 1))
    again = bring(memory, folder)
    assert (again.messages, again.unchanged) == (0, 0)


def test_files_that_were_moved_add_nothing(memory: mnemos.Memory, folder: Path) -> None:
    first = bring(memory, folder)
    again = bring(memory, folder.rename(folder.with_name("elsewhere")))
    assert (again.sessions, again.messages) == (0, 0)
    assert again.known == first.messages + first.known


def test_a_file_that_grew_adds_what_is_new(memory: mnemos.Memory, tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(line(1, "one") + "\n")
    bring(memory, path)
    with path.open("a") as file:
        file.write(line(2, "two") + "\n")
    report = bring(memory, path)
    assert (report.messages, report.known, report.continued, report.sessions) == (1, 0, 1, 0)
    assert texts(memory) == ["one", "two"]


def test_a_file_that_was_rewritten_is_read_from_its_beginning(memory: mnemos.Memory, tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(line(1, "one") + "\n" + line(2, "two") + "\n")
    bring(memory, path)
    path.write_text(line(0, "before all") + "\n" + line(2, "two") + "\n" + line(3, "three") + "\n")
    report = bring(memory, path)
    assert (report.messages, report.known) == (2, 1)
    assert texts(memory) == ["one", "two", "before all", "three"]


def test_a_file_that_became_shorter_loses_nothing(memory: mnemos.Memory, tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(line(1, "one") + "\n" + line(2, "two") + "\n")
    bring(memory, path)
    path.write_text(line(1, "one") + "\n")
    assert bring(memory, path).messages == 0
    assert texts(memory) == ["one", "two"]


def test_the_rest_of_an_answer_is_stored_when_its_file_was_moved(
    memory: mnemos.Memory, tmp_path: Path
) -> None:
    path = tmp_path / "s.jsonl"
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}
    blocks = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Let me look."}, call]
    lines = answer_lines(blocks)
    path.write_text("\n".join(lines[:2]) + "\n")
    bring(memory, path)
    path = path.rename(tmp_path / "moved.jsonl")
    path.write_text("\n".join(lines) + "\n")
    for _ in range(2):
        bring(memory, path)
    first, second = memory.sessions.get_messages("s")
    assert (first["content"], first["tool_calls"]) == ("Let me look.", None)
    assert [one["function"]["name"] for one in second["tool_calls"]] == ["Bash"]


def test_an_answer_waits_until_more_than_its_thoughts_is_written(
    memory: mnemos.Memory, tmp_path: Path
) -> None:
    path = tmp_path / "s.jsonl"
    thoughts = [{"type": "thinking", "thinking": text} for text in ("hm \ud800", "well")]
    lines = answer_lines([*thoughts, {"type": "text", "text": "Let me look."}])
    for count in range(1, 4):
        path.write_text("\n".join([line(1, "Why?"), *lines[:count]]) + "\n")
        bring(memory, path)
        assert texts(memory) == ["Why?", "Let me look."][: 1 + count // 3]
    assert memory.sessions.get_messages("s")[1]["metadata"]["thinking"].endswith("well")


@pytest.mark.parametrize("how", ["renamed", "rewritten"])
def test_a_file_that_is_replaced_while_it_is_read_is_read_from_its_beginning(
    memory: mnemos.Memory, tmp_path: Path, how: str
) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(line(1, "one") + "\n")
    other = line(2, "two") + "\n"

    def read(source: SourceFile, mark: Mark) -> Iterator[Item]:
        *items, last = READER.read(source, mark)
        yield from items
        if how == "renamed":
            (tmp_path / "new").write_text(other)
            (tmp_path / "new").replace(path)
        else:
            path.write_text(other)
        os.utime(path, (7, 7))
        yield last

    memory.imports.import_files(replace(READER, read=read), path)
    with path.open("a") as file:
        file.write(line(3, "three") + "\n")
    assert bring(memory, path).messages == 2
    assert texts(memory) == ["one", "two", "three"]


def test_a_full_disk_is_reported(
    memory: mnemos.Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(line(1, "one") + "\n")

    def full(*_: object) -> None:
        raise DiskFull("no room left for x; nothing of this call was stored")

    monkeypatch.setattr(import_writer.ImportWriter, "index", full)
    with pytest.raises(DiskFull):
        bring(memory, path)


def test_a_conversation_that_begins_with_a_copy_continues_it(memory: mnemos.Memory, folder: Path) -> None:
    bring(memory, folder)
    resumed = memory.sessions.get_session(RESUMED)
    assert resumed is not None
    assert (resumed["parent_session_id"], resumed["message_count"]) == (BLOG, 2)
    assert memory.sessions.get_lineage(BLOG) == [BLOG, RESUMED]
    assert resumed["title"] == "Dates for old posts"


def test_sub_agents_are_linked_and_no_part_of_the_conversation(memory: mnemos.Memory, folder: Path) -> None:
    bring(memory, folder)
    agent = memory.sessions.get_session(f"{SHOP}:agent-7be1")
    assert agent is not None
    assert (agent["source"], agent["parent_session_id"]) == ("subagent", SHOP)
    assert memory.sessions.get_lineage(SHOP) == [SHOP]


def test_times_and_calls_are_as_they_were(memory: mnemos.Memory, folder: Path) -> None:
    bring(memory, folder)
    session = memory.sessions.get_session(SHOP)
    assert session is not None
    assert session["started_at"] == 1772442001.0
    assert (session["tool_call_count"], session["output_tokens"]) == (1, 40 + 33 + 5)
    conversation = memory.sessions.get_messages_as_conversation(SHOP)
    assert conversation[2]["tool_call_id"] == conversation[1]["tool_calls"][0]["id"]


def test_secrets_are_not_stored(memory: mnemos.Memory, tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    token = "ghp_" + "a1B2" * 9
    path.write_text(line(1, f"use {token} there") + "\n")
    bring(memory, path)
    assert token not in texts(memory)[0]


def test_a_deleted_session_does_not_come_back(memory: mnemos.Memory, folder: Path) -> None:
    bring(memory, folder)
    memory.sessions.delete_session(SHOP)
    for path in folder.rglob("*.jsonl"):
        os.utime(path, (1, 1))
    moved = folder.rename(folder.with_name("elsewhere"))
    report = bring(memory, moved)
    assert report.messages == 0
    assert report.left_out["messages of sessions that were deleted here"] > 0
    assert memory.sessions.get_session(SHOP) is None


def test_what_was_not_understood_is_read_again_by_a_later_version(
    memory: mnemos.Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(f"{line(1, 'a')}\n{line(2, 'b').replace('user', 'guest')}\n")
    assert bring(memory, path).left_out == {"records of an unknown type": 1}
    assert bring(memory, path).unchanged == 1
    with path.open("a") as file:
        file.write(f"{line(3, 'c')}\n")
    assert bring(memory, path).messages == 1

    def read_guests(source: SourceFile, mark: Mark) -> Iterator[Item]:
        known = source.path.with_name("known.jsonl")
        known.write_text(source.path.read_text().replace("guest", "user"))
        return READER.read(replace(source, path=known), mark)

    later = replace(READER, read=read_guests)
    assert memory.imports.import_files(later, path).unchanged == 1, "the same version"
    monkeypatch.setattr(imports, "__version__", "99.0")
    report = memory.imports.import_files(later, path)
    assert (report.messages, report.known) == (1, 2)
    assert sorted(texts(memory)) == ["a", "b", "c"]
    assert memory.imports.import_files(later, path).unchanged == 1


def test_a_session_recorded_another_way_is_left_unchanged(memory: mnemos.Memory, tmp_path: Path) -> None:
    memory.sessions.create_session("s", "cli")
    memory.sessions.append_message("s", "user", "said here")
    path = tmp_path / "s.jsonl"
    path.write_text(line(1, "said there") + "\n")
    report = bring(memory, path)
    assert report.left_out == {"messages of sessions that were recorded here another way": 1}
    assert texts(memory) == ["said here"]


def test_an_import_can_be_undone_and_done_again(memory: mnemos.Memory, folder: Path) -> None:
    first = bring(memory, folder)
    memory.undo(memory.log()[0].id)
    assert memory.sessions.session_count() == 0
    again = bring(memory, folder)
    assert (again.sessions, again.messages) == (first.sessions, first.messages)


def test_an_import_whose_sessions_continued_can_be_undone_after_deleting_them(
    memory: mnemos.Memory, tmp_path: Path
) -> None:
    for name in "abc":
        (tmp_path / f"{name}.jsonl").write_text(line(1, "one", session=name) + "\n")
    bring(memory, tmp_path)
    (entry,) = [one.id for one in memory.log()]
    for name in "ab":
        with (tmp_path / f"{name}.jsonl").open("a") as file:
            file.write(line(2, "two", session=name) + "\n")
    assert bring(memory, tmp_path).continued == 2
    with pytest.raises(Refused) as refused:
        memory.undo(entry)
    assert "'a', 'b'" in str(refused.value)
    assert memory.sessions.session_count() == 3
    for name in "ab":
        memory.sessions.delete_session(name)
    memory.undo(entry)
    assert memory.sessions.session_count() == 0
    # A deleted session stays deleted; an undone import can be repeated.
    assert bring(memory, tmp_path).sessions == 1
    assert texts(memory, "c") == ["one"]


def test_a_dry_run_reports_and_stores_nothing(memory: mnemos.Memory, folder: Path) -> None:
    rehearsed = bring(memory, folder, dry_run=True)
    assert memory.sessions.session_count() == 0
    assert memory.storage.read(lambda tx: tx.imports.files(None)) == []
    real = bring(memory, folder)
    assert (rehearsed.sessions, rehearsed.messages, rehearsed.known) == (
        real.sessions,
        real.messages,
        real.known,
    )


def test_older_files_are_left_out_and_can_come_later(memory: mnemos.Memory, tmp_path: Path) -> None:
    for name, at in (("old", 1_000), ("new", 2_000)):
        path = tmp_path / f"{name}.jsonl"
        path.write_text(line(1, name, session=name) + "\n")
        os.utime(path, (at, at))
    report = bring(memory, tmp_path, since=1_500.0)
    assert (report.messages, report.left_out) == (1, {"older files": 1})
    assert bring(memory, tmp_path).messages == 1


def test_a_stopped_import_resumes_where_it_was(
    memory: mnemos.Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_writer, "_MESSAGES", 10)
    monkeypatch.setattr("mnemos.transfer.readers.claude_code._STEP", 1)
    path = tmp_path / "s.jsonl"
    path.write_text("".join(line(number, f"text {number}") + "\n" for number in range(100)))
    asked = iter([False, False, True])
    first = bring(memory, path, stop=lambda: next(asked))
    assert not first.finished
    assert 0 < first.messages < 100
    second = bring(memory, path)
    assert second.finished
    assert (first.messages + second.messages, second.known) == (100, 0)
    assert texts(memory) == [f"text {number}" for number in range(100)]


def test_two_imports_at_once_store_everything_once(home: Path, folder: Path) -> None:
    reports: list[ImportReport] = []

    def work() -> None:
        with mnemos.open(home, embedder="none") as memory:
            reports.append(bring(memory, folder))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(report.messages for report in reports) == 29
    with mnemos.open(home) as memory:
        assert memory.sessions.message_count() == 29


def test_spaces_import_for_themselves(home: Path, folder: Path) -> None:
    for space in ("one", "two"):
        with mnemos.open(home, space=space, embedder="none") as memory:
            assert bring(memory, folder).messages == 29


def test_a_missing_path_is_not_found(memory: mnemos.Memory, tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        bring(memory, tmp_path / "nowhere")


def test_a_folder_with_nothing_to_read_is_not_found(memory: mnemos.Memory, tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        bring(memory, tmp_path)


def test_a_file_that_cannot_be_read_does_not_stop_the_others(memory: mnemos.Memory, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").symlink_to(tmp_path / "gone")
    (tmp_path / "b.jsonl").write_text(line(1, "one") + "\n")
    report = bring(memory, tmp_path)
    assert report.messages == 1
    assert [(Path(one.path).name, one.line) for one in report.problems] == [("a.jsonl", 0)]


def test_a_circular_link_does_not_stop_the_others(memory: mnemos.Memory, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").symlink_to(tmp_path / "a.jsonl")
    (tmp_path / "b.jsonl").write_text(line(1, "one") + "\n")
    report = bring(memory, tmp_path)
    assert report.messages == 1
    assert [Path(one.path).name for one in report.problems] == ["a.jsonl"]


def test_a_path_that_cannot_be_examined_is_refused(memory: mnemos.Memory, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput):
        bring(memory, tmp_path / ("x" * 5_000))


@pytest.mark.parametrize("odd", ["a\nb\0c", "x" * 3_000, "  ", "\ud800", "\u202eabc"])
def test_a_session_with_an_invalid_id_does_not_stop_the_others(
    memory: mnemos.Memory, tmp_path: Path, odd: str
) -> None:
    (tmp_path / "a.jsonl").write_text(line(1, "odd", odd) + "\n")
    (tmp_path / "b.jsonl").write_text(line(1, "one") + "\n")
    report = bring(memory, tmp_path)
    assert (report.messages, report.files, report.problems) == (2, 2, [])
    assert texts(memory) == ["one"]


def _named(*ids: str, breaks: bool = False) -> Reader:
    """A reader of files that hold a message of each of some sessions, whose ids it does not look at."""

    def find(path: Path, _tell: object) -> Iterator[SourceFile]:
        yield from (SourceFile(path / name, 1, 1) for name in ("a", "b"))

    def read(source: SourceFile, _mark: Mark) -> Iterator[Item]:
        for session_id in ids:
            yield Conversation(session_id, "test")
            fields = {"role": "user", "content": "hello", "timestamp": 1.0}
            yield ImportedMessage(session_id, f"{source.path.name}/{session_id}", fields)
        if breaks and source.path.name == "a":
            raise InvalidInput(f"{source.path} ends here")
        yield Mark(1, 1)

    return Reader("test", "Test", find, read, resumes=False)


def test_a_session_that_cannot_be_stored_does_not_stop_the_others(
    memory: mnemos.Memory, tmp_path: Path
) -> None:
    report = memory.imports.import_files(_named("good", "b\nad", "fine"), tmp_path)
    assert (report.files, report.messages) == (2, 4)
    assert [Path(one.path).name for one in report.problems] == ["a", "b"]
    assert "session 'b\\nad'" in report.problems[0].why


def test_messages_before_the_break_in_a_file_are_stored(memory: mnemos.Memory, tmp_path: Path) -> None:
    report = memory.imports.import_files(_named("s", breaks=True), tmp_path)
    assert (report.files, report.messages) == (1, 2)
    assert [(Path(one.path).name, one.why) for one in report.problems] == [("a", "it ends here")]


def test_a_very_long_message_is_cut_and_the_rest_stays(home: Path, tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(line(1, "x" * 50_000) + "\n" + line(2, "two") + "\n")
    with mnemos.open(home, embedder="none", max_message_bytes=20_000) as memory:
        report = bring(memory, path)
        assert report.left_out == {"ends of very long messages": 1}
        assert texts(memory)[0].endswith("… [cut]")
        assert texts(memory)[1] == "two"


def test_many_problems_are_counted(memory: mnemos.Memory, tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text("no JSON\n" * 80 + line(1, "one") + "\n")
    report = bring(memory, path)
    assert (len(report.problems), report.more_problems, report.messages) == (50, 30, 1)
    assert report.problems[3].line == 4


def test_progress_ends_at_all(memory: mnemos.Memory, folder: Path) -> None:
    shares: list[float] = []
    bring(memory, folder, progress=shares.append)
    assert shares == sorted(shares)
    assert 0.99 < shares[-1] <= 1.0


def test_a_disabled_memory_imports_nothing(home: Path, folder: Path) -> None:
    with mnemos.open(home, embedder="none", disabled=True) as memory:
        with pytest.raises(Disabled):
            bring(memory, folder)
        assert bring(memory, folder, dry_run=True).messages == 29
        assert memory.sessions.message_count() == 0


def test_a_time_that_is_a_number_is_a_time(memory: mnemos.Memory, tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    said = json.loads(line(1, "one"))
    path.write_text(json.dumps(said | {"timestamp": 1772442001}) + "\n")
    bring(memory, path)
    assert memory.sessions.get_messages("s")[0]["timestamp"] == 1772442001.0


def test_a_file_with_few_messages_can_be_stopped_too(
    memory: mnemos.Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_writer, "_READ", 100_000)
    path = tmp_path / "s.jsonl"
    record = json.dumps({"type": "progress", "sessionId": "s", "data": "x" * 1_000}) + "\n"
    path.write_text(record * 300 + line(1, "one") + "\n")
    answers = iter([False])
    report = bring(memory, path, stop=lambda: next(answers, True))
    assert not report.finished
    assert report.left_out["records of the program"] < 200
    assert bring(memory, path).left_out["records of the program"] < 300
    assert texts(memory) == ["one"]


def test_a_file_without_messages_can_be_stopped_after_a_few_lines(
    memory: mnemos.Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mnemos.transfer.readers.claude_code._STEP", 1_000)
    path = tmp_path / "s.jsonl"
    path.write_text("x\n" * 20_000 + line(1, "one") + "\n")
    answers = iter([False])
    report = bring(memory, path, stop=lambda: next(answers, True))
    assert not report.finished
    assert len(report.problems) + report.more_problems < 10_000
    assert bring(memory, path).finished
    assert texts(memory) == ["one"]
