from __future__ import annotations

import json
import stat
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from archives import manifest_of

import mnemos
from mnemos import files
from mnemos.errors import AlreadyExists, InvalidInput, NotFound
from mnemos.testing import FixedClock
from mnemos.transfer.archive import fact_part

Opened = Callable[..., mnemos.Memory]
FORMS = ["a.tar.zst", "a.tzst", "a.tar.gz", "a.tgz", "a.tar", "a-folder", "backup-2026.01.01"]


@pytest.mark.parametrize("name", FORMS)
def test_an_archive_of_every_form_holds_the_same(filled: mnemos.Memory, tmp_path: Path, name: str) -> None:
    done = filled.export(tmp_path / name)
    assert done.path == tmp_path / name
    assert done.counts == {
        "sessions": 2, "messages": 12, "imports": 0, "scopes": 2, "facts": 13, "entries": 2, "notes": 3,
        "templates": 1, "databases": 2, "snapshots": 1,
    }  # fmt: skip
    assert done.left_out == ()
    assert filled.compare_archive(tmp_path / name).holds_all


def test_a_tar_begins_with_its_manifest_and_has_nothing_else_than_it_says(
    filled: mnemos.Memory, tmp_path: Path
) -> None:
    filled.export(tmp_path / "a.tar")
    with tarfile.open(tmp_path / "a.tar") as tar:
        members = tar.getmembers()
        first = tar.extractfile(members[0])
        assert first is not None
        manifest = json.load(first)
    assert [m.name for m in members] == ["manifest.json", *(file["file"] for file in manifest["files"])]
    assert all(member.isreg() and member.mode == 0o600 for member in members)
    assert [m.size for m in members[1:]] == [file["bytes"] for file in manifest["files"]]


def test_only_the_owner_can_read_an_archive(filled: mnemos.Memory, tmp_path: Path) -> None:
    filled.export(tmp_path / "a.tar.zst")
    filled.export(tmp_path / "folder")
    assert stat.S_IMODE((tmp_path / "a.tar.zst").stat().st_mode) == 0o600
    for path in [tmp_path / "folder", *(tmp_path / "folder").rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)


def test_settings_and_keys_are_in_no_archive(filled: mnemos.Memory, tmp_path: Path) -> None:
    (tmp_path / "first" / "config.toml").write_text('actor = "unmistakable-word"\n')
    filled.export(tmp_path / "folder")
    for path in (tmp_path / "folder").rglob("*"):
        assert "config" not in path.name
        assert path.is_dir() or b"unmistakable-word" not in path.read_bytes()


def test_only_the_space_that_is_open_is_exported(
    filled: mnemos.Memory, opened: Opened, tmp_path: Path
) -> None:
    other = opened("first", space="team/one")
    other.sessions.create_session("theirs", "cli")
    other.facts.write("V[a]: b")
    other.entries.store("sam", "k", "v")
    other.notebook.add("Their note")
    other.workspace.query("CREATE TABLE theirs (x)")
    done = other.export(tmp_path / "folder")
    assert manifest_of(tmp_path / "folder")["space"] == "team/one"
    counts = {name: count for name, count in done.counts.items() if count}
    assert counts == {"sessions": 1, "facts": 1, "entries": 1, "notes": 1, "databases": 1}


def test_an_empty_memory_can_be_exported_and_imported(opened: Opened, tmp_path: Path) -> None:
    done = opened("empty").export(tmp_path / "a.tar.zst")
    assert set(done.counts.values()) == {0}
    assert not opened("other").import_archive(tmp_path / "a.tar.zst").is_new


@pytest.mark.parametrize("name", ["a.tar.zst", "folder"])
def test_an_existing_file_is_never_overwritten(filled: mnemos.Memory, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("mine")
    with pytest.raises(AlreadyExists):
        filled.export(tmp_path / name)
    assert (tmp_path / name).read_text() == "mine"
    (tmp_path / name).unlink()
    (tmp_path / name).symlink_to(tmp_path / "nowhere")
    with pytest.raises(AlreadyExists):
        filled.export(tmp_path / name)


@pytest.mark.parametrize("name", ["a.zip", "a.jsonl", "a.db", "a.tar.xz"])
def test_a_name_of_another_kind_is_refused(filled: mnemos.Memory, tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidInput):
        filled.export(tmp_path / name)
    assert not (tmp_path / name).exists()


def test_a_missing_folder_is_not_found(filled: mnemos.Memory, tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        filled.export(tmp_path / "no" / "a.tar")


@pytest.mark.parametrize("name", ["a.tar.zst", "folder"])
def test_an_export_that_fails_leaves_nothing(
    filled: mnemos.Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    before = set(tmp_path.iterdir())
    monkeypatch.setattr("mnemos.transfer.archive.record_parts.TemplatePart.write", fail)
    with pytest.raises(mnemos.MnemosError) as caught:
        filled.export(tmp_path / name)
    assert caught.value.code == "disk_full"
    assert set(tmp_path.iterdir()) == before


def test_the_next_export_removes_what_a_killed_one_left(filled: mnemos.Memory, tmp_path: Path) -> None:
    dead = tmp_path / ".mnemos-00ff.unfinished"
    (dead / "contents").mkdir(parents=True)
    with files.scratch_folder(tmp_path) as alive:
        filled.export(tmp_path / "a.tar.zst")
        assert alive.exists()
    assert not dead.exists()


def test_unreadable_parts_are_reported_and_the_rest_is_exported(
    filled: mnemos.Memory, tmp_path: Path
) -> None:
    home = tmp_path / "first"
    (home / "memories" / "USER.md").write_bytes(b"\xff\xfe")
    (home / "session-templates" / "broken.json").write_text("{")
    filled.workspace.close()
    (home / "databases" / "default" / "research.db").write_bytes(b"no database" * 500)
    done = filled.export(tmp_path / "folder")
    assert sorted(one.split(":")[0] for one in done.left_out) == [
        "USER.md",
        "database research",
        "template broken",
    ]
    assert (done.counts["notes"], done.counts["templates"], done.counts["databases"]) == (2, 1, 1)
    assert manifest_of(tmp_path / "folder")["left_out"] == list(done.left_out)


def test_progress_goes_up_to_one(filled: mnemos.Memory, tmp_path: Path) -> None:
    shares: list[float] = []
    filled.export(tmp_path / "a.tar.zst", shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    shares.clear()
    filled.compare_archive(tmp_path / "a.tar.zst", shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_an_archive_counts_as_a_copy_when_something_is_forgotten(
    filled: mnemos.Memory, tmp_path: Path
) -> None:
    filled.export(tmp_path / "a.tar.zst")
    assert str(tmp_path / "a.tar.zst") in filled.forget("session:root")["copies"]


def test_a_database_in_use_is_copied_whole_and_can_be_renamed_after(
    filled: mnemos.Memory, opened: Opened, tmp_path: Path
) -> None:
    filled.workspace.query("INSERT INTO prices VALUES ('desk', 90)")
    filled.export(tmp_path / "folder")
    filled.workspace.query("INSERT INTO prices VALUES ('lamp', 20)")
    other = opened("second")
    other.import_archive(tmp_path / "folder")
    assert other.workspace.query("SELECT item FROM prices").rows == [["desk"]]
    filled.workspace.rename("research", "trial")


def test_a_read_only_memory_can_be_exported(filled: mnemos.Memory, opened: Opened, tmp_path: Path) -> None:
    reader = opened("first", read_only=True)
    assert reader.export(tmp_path / "a.tar.zst").counts["messages"] == 12
    assert reader.compare_archive(tmp_path / "a.tar.zst").holds_all


def test_a_memory_without_a_home_can_be_exported_and_filled_again(tmp_path: Path) -> None:
    with mnemos.open(":memory:", embedder="none", clock=FixedClock()) as memory:
        memory.sessions.create_session("s", "cli")
        memory.notebook.add("A note")
        memory.workspace.query("CREATE TABLE t (x)")
        memory.export(tmp_path / "a.tar.gz")
    with mnemos.open(":memory:", embedder="none") as memory:
        assert memory.import_archive(tmp_path / "a.tar.gz").is_new
        assert memory.compare_archive(tmp_path / "a.tar.gz").holds_all


def test_an_archive_made_while_everything_changes_can_be_imported(
    filled: mnemos.Memory, opened: Opened, tmp_path: Path
) -> None:
    steps = 0

    def work(_: float) -> None:
        nonlocal steps
        steps += 1
        if steps > 40:
            return
        own = filled.sessions.append_message("root", "user", f"meanwhile {steps}")
        filled.sessions.create_session(f"new{steps}", "cli", parent_session_id="root")
        filled.facts.write(
            f"V[srv.prod]: at {steps}\nC[new{steps}]: x",
            scope=f"scope {steps}",
            session_id="root",
            message_id=own,
        )
        filled.facts.write("D[db.id]: changed", scope=f"scope {steps}")
        filled.entries.store("sam", f"key {steps}", "x")

    filled.export(tmp_path / "a.tar.zst", work)
    assert steps > 20
    other = opened("second")
    report = other.import_archive(tmp_path / "a.tar.zst")
    assert sum(part.not_taken for part in report.parts) == 0
    assert other.compare_archive(tmp_path / "a.tar.zst").holds_all
    assert all(check.ok for check in other.doctor())


def test_facts_that_are_replaced_meanwhile_are_of_one_moment(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fact_part, "_PAGE", 2)
    writing = opened("first")
    exporting, copy = opened("first"), opened("copy")
    for number in range(9):
        writing.facts.write(f"V[key{number}]: first")

    def replace_some(_: float) -> None:
        if len(written) > 40:
            return
        number = len(written) % 9
        writing.facts.write(f"V[key{number}]: {len(written)}")
        written.append(number)

    written: list[int] = []
    exporting.export(tmp_path / "a.tar", replace_some)
    assert len(written) > 9
    copy.import_archive(tmp_path / "a.tar")
    assert copy.compare_archive(tmp_path / "a.tar").holds_all
