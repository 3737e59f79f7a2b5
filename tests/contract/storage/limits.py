"""Long messages, many words, large numbers."""

from __future__ import annotations

from contract.storage.openers import (
    NOW,
    Contract,
    Settled,
    append,
    call,
    contents,
    create,
    found,
    found_whole,
    message,
    session,
    settle,
    tell,
)
from mnemos.storage.base import Order, Storage

LONG = 300_000
FILLER = "on a day like every other day "


HUGE_QUERIES = (
    " ".join(f"word{n}" for n in range(3_000)),
    " OR ".join(f"word{n}" for n in range(2_000)),
    "word1 " + " ".join(f"-unwanted{n}" for n in range(2_000)),
    '"' + " ".join(f"word{n}" for n in range(3_000)) + '"',
    ".".join(f"word{n}" for n in range(3_000)),
    "(" * 5_000 + "word1" + ")" * 5_000,
    '"' * 9_999 + "word1",
    "NOT " * 3_000 + "word1",
    "数" * 3_000,
    "word1 " * 3_000,
)


class LimitContract(Contract):
    def test_a_long_message_comes_back_whole(self, storage: Storage) -> None:
        text = (FILLER * (LONG // len(FILLER) + 1))[:LONG]
        tell(storage, "s", text, "short")
        assert contents(storage) == [text, "short"]

    def test_words_of_a_long_message_are_found_once(self, storage: Storage, settled: Settled) -> None:
        places = {0: "startword", LONG // 2: "middleword", LONG - 10: "endword"}
        before, long, after = tell(storage, "s", "before", _text_with(places), "after")
        settled(storage)
        for order in Order:
            for word in ("startword", "middleword", "endword", "every"):
                assert found_whole(storage, word, order=order) == [long], word
            assert found(storage, "before", order=order) == [before]
            assert found(storage, "after", order=order) == [after]

    def test_words_at_the_seams_of_a_long_message_are_found(self, storage: Storage, settled: Settled) -> None:
        seams = [seam for seam in self.seams if seam < LONG - 100]
        # Each phrase lies across its seam, the first character of a word right on it.
        places = {seam - 9: f"sea{n}xyz the seam{n}word" for n, seam in enumerate(seams)}
        (long,) = tell(storage, "s", _text_with(places))
        settled(storage)
        for n in range(len(seams)):
            assert found_whole(storage, f"sea{n}xyz") == [long]
            assert found_whole(storage, f"seam{n}word") == [long]
            assert found_whole(storage, f'"sea{n}xyz the seam{n}word"') == [long]

    def test_words_across_the_seams_of_a_long_message_are_found(
        self, storage: Storage, settled: Settled
    ) -> None:
        seams = [seam for seam in self.seams if seam < LONG - 100]
        places = {seam - 7: f"straddling{n}" for n, seam in enumerate(seams)}
        (long,) = tell(storage, "s", _text_with(places))
        settled(storage)
        for n in range(len(seams)):
            assert found_whole(storage, f"straddling{n}") == [long]

    def test_words_near_each_other_count_together_anywhere_in_a_long_message(
        self, storage: Storage, settled: Settled
    ) -> None:
        seams = [seam for seam in self.seams if seam < LONG - 1_000]
        places = {seam - 150: f"left{n}word" for n, seam in enumerate(seams)}
        places |= {seam + 100: f"right{n}word" for n, seam in enumerate(seams)}
        (long,) = tell(storage, "s", _text_with(places))
        settled(storage)
        for order in Order:
            for n in range(len(seams)):
                assert found_whole(storage, f"left{n}word right{n}word", order=order) == [long]

    def test_no_piece_of_a_word_is_found_in_a_long_message(self, storage: Storage, settled: Settled) -> None:
        """A word that an engine cut at a seam must not be found by its halves."""
        word = "qjxzvkwy"
        for width in (len(word), len(word) + 1):
            tell(storage, f"s{width}", (word.ljust(width) + " ") * (LONG // (width + 1)))
        settled(storage)
        pieces = [word[n:] for n in range(1, len(word))] + [word[:n] for n in range(1, len(word))]
        assert [piece for piece in pieces if found(storage, piece)] == []

    def test_a_very_long_message_does_not_crowd_others_out(self, storage: Storage, settled: Settled) -> None:
        thin = FILLER * 50 + "parrot"
        ids = tell(storage, "s", thin, "parrot " * (8 * LONG // 7), thin)
        settled(storage)
        for order in Order:
            assert sorted(found(storage, "parrot", order=order, limit=3)) == ids
            pages = [found(storage, "parrot", order=order, limit=1, offset=n) for n in range(4)]
            assert sorted(one for page in pages for one in page) == ids

    def test_long_messages_can_be_filtered_by_time(self, storage: Storage, settled: Settled) -> None:
        text = _text_with({LONG - 10: "endword"})
        old, new = tell(storage, "s", message(text, timestamp=NOW - 10), message(text, timestamp=NOW))
        settled(storage)
        assert found(storage, "endword", since=NOW) == [new]
        assert found(storage, "endword", until=NOW) == [old]
        assert found(storage, "endword", order=Order.OLDEST) == [old, new]

    def test_a_long_tool_call_is_found(self, storage: Storage, settled: Settled) -> None:
        text = _text_with({0: "startword", LONG - 10: "endword"})
        create(storage, "s")
        (long,) = append(storage, "s", message(None, tool_calls=[call("write_file", text=text)]))
        settled(storage)
        for word in ("startword", "endword", "write_file"):
            assert found_whole(storage, word) == [long], word

    def test_a_forgotten_long_message_is_not_found(self, storage: Storage, settled: Settled) -> None:
        places = {0: "startword", LONG // 2: "middleword", LONG - 10: "endword"}
        gone, kept = tell(storage, "s", _text_with(places), "endword")
        settled(storage)
        storage.write(lambda tx: tx.sessions.forget_message(gone, tool_calls=None, at=NOW))
        for _ in range(2):
            assert found(storage, "startword") == []
            assert found(storage, "middleword") == []
            assert found(storage, "endword") == [kept]
            settle(storage)

    def test_a_deleted_long_message_is_not_found(self, storage: Storage, settled: Settled) -> None:
        tell(storage, "s", _text_with({0: "startword", LONG - 10: "endword"}))
        (kept,) = tell(storage, "t", "endword")
        settled(storage)
        storage.write(lambda tx: tx.sessions.begin_delete("s"))
        storage.finish_deletes()
        settle(storage)
        assert found(storage, "startword") == []
        assert found(storage, "endword") == [kept]

    def test_very_long_words_are_found(self, storage: Storage, settled: Settled) -> None:
        word, script = "deadbeef" * 500, "数据库" * 500
        ids = tell(storage, "s", f"hash {word} end", script)
        settled(storage)
        assert found_whole(storage, word) == ids[:1]
        assert found_whole(storage, script[100:300]) == ids[1:]

    def test_texts_that_strain_an_index_are_stored_and_found(self, storage: Storage) -> None:
        texts = [
            " ".join(f"w{number:x}q" for number in range(100_000)),
            "parrot " * 1_000_000,
            "数据库连接池" * 20_000,
            "x" * 1_000_000,
        ]
        ids = tell(storage, "s", *texts)
        settle(storage)
        assert contents(storage) == texts
        for text in ("w0q", "w1869fq", "parrot", '"parrot parrot"', "连接池", "x" * 1_000_000):
            assert len(found(storage, text)) == 1, text[:20]
        assert found(storage, "w12345q") == ids[:1]

    def test_a_huge_query_raises_no_error(self, storage: Storage) -> None:
        tell(storage, "s", "word1 word2 word3")
        for query in HUGE_QUERIES:
            found(storage, query)
        settle(storage)
        for query in HUGE_QUERIES:
            found(storage, query)

    def test_a_huge_list_of_words_still_finds_what_has_them(self, storage: Storage) -> None:
        (own,) = tell(storage, "s", " ".join(f"word{n}" for n in range(3_000)))
        assert found(storage, " ".join(f"word{n}" for n in range(3_000))) == [own]

    def test_large_numbers_are_kept_exactly(self, storage: Storage) -> None:
        large = (1 << 53) - 1
        create(storage, "s", input_tokens=large, started_at=123456789.987654)
        append(storage, "s", message(token_count=large, timestamp=1767225600.123457))
        assert session(storage).input_tokens == large
        assert session(storage).started_at == 123456789.987654
        row = storage.read(lambda tx: tx.sessions.messages("s", after=0, limit=1))[0]
        assert (row.token_count, row.timestamp) == (large, 1767225600.123457)

    def test_many_messages_can_be_appended_at_once(self, storage: Storage) -> None:
        ids = tell(storage, "s", *(f"parrot number{n}" for n in range(3_000)))
        assert len(set(ids)) == 3_000
        assert session(storage).message_count == 3_000
        settle(storage)
        assert found(storage, "number2999") == ids[-1:]


def _text_with(places: dict[int, str]) -> str:
    """A long text of common words with others at exactly these places."""
    text = list((FILLER * (LONG // len(FILLER) + 1))[:LONG])
    for place, words in places.items():
        start = max(place - 1, 0)
        piece = f" {words} " if place else f"{words} "
        text[start : start + len(piece)] = piece
    return "".join(text)[:LONG]
