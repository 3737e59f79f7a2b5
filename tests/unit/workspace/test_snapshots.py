"""The rule for which snapshots are kept, over hours, days and weeks."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemos.workspace.usage import (
    KEPT,
    SnapshotFile,
    choose_deleted,
    choose_kept,
    list_snapshots,
    name_moment,
    parse_moment,
    total_bytes,
)

SECOND = 1_000_000
MINUTE, HOUR, DAY, WEEK = 60 * SECOND, 3_600 * SECOND, 86_400 * SECOND, 604_800 * SECOND
NOON = int(datetime(2026, 3, 11, 12, tzinfo=UTC).timestamp()) * SECOND
MOST = sum(most for _, most, _ in KEPT)
LEAST = sum(least for _, _, least in KEPT)


def keep_one_by_one(moments: list[int]) -> set[int]:
    """Return what is left when a snapshot is made at each moment, in order."""
    kept: set[int] = set()
    for moment in moments:
        kept = choose_kept(kept | {moment})
    return kept


def test_names_and_moments_are_each_others_inverse():
    for moment in (0, NOON, NOON + 1, 199_999_999_999_999_999):
        assert parse_moment(name_moment(moment)) == moment
    for name in (
        "99991231T235959.999999Z",
        "",
        "x",
        "20260101T000000Z",
        "20261301T000000.000000Z",
        "20260101T000000.5Z",
        "١٠",
        "a\0",
    ):
        assert parse_moment(name) is None


def test_later_names_sort_after_earlier_ones():
    moments = [0, 1, SECOND, NOON, NOON + 1, NOON + DAY, 199_999_999_999_999_999]
    assert sorted(map(name_moment, moments)) == [name_moment(moment) for moment in moments]


def test_a_burst_leaves_the_first_and_the_newest():
    burst = [NOON + number for number in range(1_000)]
    assert keep_one_by_one(burst) == {burst[0], *burst[-5:]}


def test_a_burst_does_not_push_out_what_was_kept_before():
    before = [NOON - days * DAY for days in range(6, 0, -1)]
    burst = [NOON + number for number in range(1_000)]
    assert keep_one_by_one([*before, *burst]) >= {*before, burst[0]}


def test_work_all_day_leaves_hours_days_and_weeks():
    work = [NOON + number * 5 * MINUTE for number in range(60 * 24 * 12)]
    kept = sorted(keep_one_by_one(work), reverse=True)
    assert len(kept) <= MOST
    ages = [(work[-1] - moment) // HOUR for moment in kept]
    assert ages[:5] == [0] * 5
    assert max(ages) >= 3 * 7 * 24
    assert sum(24 <= age < 7 * 24 for age in ages) >= 5


@given(st.lists(st.integers(0, 60 * DAY), min_size=1, max_size=200))
def test_the_number_is_bounded_and_the_newest_and_the_firsts_are_there(moments: list[int]):
    moments = sorted(set(moments))
    kept = keep_one_by_one(moments)
    assert kept == choose_kept(moments)
    assert len(kept) <= MOST
    assert len(choose_kept(moments, least=True)) <= LEAST
    assert choose_kept(moments, least=True) <= kept
    newest = moments[-1]
    for span in (10 * MINUTE, HOUR, DAY, WEEK):
        assert min(moment for moment in moments if moment // span == newest // span) in kept


@given(
    st.lists(st.integers(0, 20 * DAY), min_size=1, max_size=20, unique=True),
    st.lists(st.integers(0, HOUR - 1), min_size=1, max_size=50, unique=True),
)
def test_nothing_that_happens_within_an_hour_pushes_out_the_last_day_before_it(
    before: list[int], burst: list[int]
):
    before = sorted(keep_one_by_one(sorted(before)))
    start = (before[-1] // DAY + 1) * DAY
    kept = keep_one_by_one([*before, *(start + moment for moment in sorted(burst))])
    assert kept >= choose_kept(before, least=True) - {before[-1]}
    yesterday = [moment for moment in before if moment // DAY == before[-1] // DAY]
    assert yesterday[0] in kept


# --- room -------------------------------------------------------------------------------------


def put(folder: Path, database: str, moments: list[int], size: int) -> None:
    kept = folder / "snapshots" / database
    kept.mkdir(parents=True, exist_ok=True)
    for moment in moments:
        (kept / f"{name_moment(moment)}.db").write_bytes(bytes(size))


def new(moment: int, size: int) -> SnapshotFile:
    return SnapshotFile(Path("new"), moment, size)


def moments_of(paths: list[Path] | None) -> list[int]:
    assert paths is not None
    return [parse_moment(path.stem) or 0 for path in paths]


def test_when_room_is_short_the_newest_spare_ones_go_first(tmp_path: Path):
    old = [NOON - 9 * DAY, NOON - DAY]
    today = [NOON - 50 * MINUTE + number * MINUTE for number in range(4)]
    put(tmp_path, "d", [*old, *today], 100)
    assert choose_deleted(tmp_path, "d", new(NOON, 100), 1_000) == []
    assert moments_of(choose_deleted(tmp_path, "d", new(NOON, 100), 600)) == [today[3]]
    assert moments_of(choose_deleted(tmp_path, "d", new(NOON, 100), 400)) == today[:0:-1]


def test_what_is_always_kept_is_never_deleted_for_room(tmp_path: Path):
    moments = [NOON - 8 * DAY, NOON - DAY, NOON - HOUR, NOON - MINUTE]
    put(tmp_path, "d", moments, 100)
    needed = choose_kept([*moments, NOON], least=True)
    most = 100 * len(needed)
    assert set(moments_of(choose_deleted(tmp_path, "d", new(NOON, 100), most))).isdisjoint(needed)
    assert choose_deleted(tmp_path, "d", new(NOON, 100), most - 1) is None


def test_other_databases_give_room_too_but_keep_their_own(tmp_path: Path):
    put(tmp_path, "a", [NOON - number * SECOND for number in range(1, 6)], 100)
    deleted = choose_deleted(tmp_path, "b", new(NOON, 200), 400)
    assert moments_of(deleted) == [NOON - 2 * SECOND, NOON - 3 * SECOND, NOON - 4 * SECOND]
    assert choose_deleted(tmp_path, "b", new(NOON, 201), 400) is None


@pytest.mark.parametrize("name", ["good.db", "20260101T000000Z.db", "20260101T000000.000000Z.db-journal"])
def test_files_with_other_names_are_not_snapshots(tmp_path: Path, name: str):
    put(tmp_path, "d", [NOON], 100)
    (tmp_path / "snapshots" / "d" / name).write_bytes(bytes(100))
    assert [snapshot.moment for snapshot in list_snapshots(tmp_path, "d")] == [NOON]
    assert total_bytes(tmp_path) == 100


def test_links_are_not_snapshots(tmp_path: Path):
    put(tmp_path, "d", [NOON], 100)
    (tmp_path / "snapshots" / "d" / f"{name_moment(NOON + 1)}.db").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "snapshots" / "e").symlink_to(tmp_path / "snapshots" / "d")
    assert len(list_snapshots(tmp_path, "d")) == 1
    assert list_snapshots(tmp_path, "e") == []
    assert total_bytes(tmp_path) == 100
