"""The log of recalls: the newest questions of a space."""

from __future__ import annotations

from contract.storage.openers import Contract, Opener
from mnemos.storage.base import Storage
from mnemos.storage.recalls import RecallRow


def ask(storage: Storage, *queries: str, keep: int = 10) -> None:
    rows = [RecallRow(1.5, "sam", None, query, '["message:1"]', "good", 12, 3.25) for query in queries]
    storage.write(lambda tx: tx.recalls.add(rows, keep=keep))


def queries(storage: Storage, limit: int = 10, before: int | None = None) -> list[str]:
    return [row.query for row in storage.read(lambda tx: tx.recalls.newest(limit, before=before))]


class RecallContract(Contract):
    def test_a_question_comes_back_as_it_was_logged(self, storage: Storage) -> None:
        row = RecallRow(2.5, "sam", "s", "wo? 日本 🚀", '["fact:f1"]', "weak", 0, 0.125)
        storage.write(lambda tx: tx.recalls.add([row], keep=5))
        (found,) = storage.read(lambda tx: tx.recalls.newest(5))
        assert found.id > 0
        assert (found.at, found.actor, found.session_id, found.query) == (2.5, "sam", "s", row.query)
        assert (found.hits, found.certainty, found.tokens, found.milliseconds) == (row.hits, "weak", 0, 0.125)

    def test_questions_come_newest_first_in_pages(self, storage: Storage) -> None:
        ask(storage, "a", "b", "c")
        assert queries(storage) == ["c", "b", "a"]
        newest = storage.read(lambda tx: tx.recalls.newest(1))
        assert queries(storage, 5, newest[0].id) == ["b", "a"]

    def test_the_oldest_questions_are_dropped(self, storage: Storage) -> None:
        ask(storage, "a", "b", "c", keep=2)
        ask(storage, "d", keep=2)
        assert queries(storage) == ["d", "c"]

    def test_questions_are_removed_by_id(self, storage: Storage) -> None:
        ask(storage, "a", "b")
        found = storage.read(lambda tx: tx.recalls.newest(1))
        storage.write(lambda tx: tx.recalls.remove([found[0].id, 1 << 40]))
        assert queries(storage) == ["a"]

    def test_spaces_have_questions_of_their_own(self, open_another: Opener) -> None:
        here, there = open_another(), open_another("other")
        ask(here, "here", "here too")
        ask(there, "there", keep=1)
        assert (queries(here), queries(there)) == (["here too", "here"], ["there"])
