"""Words that find messages: the rules of ``mnemos.text``, to which an engine may not add."""

from __future__ import annotations

import json
from collections.abc import Sequence

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contract.storage.openers import (
    Contract,
    Settled,
    append,
    call,
    create,
    found,
    found_whole,
    message,
    messages,
    search,
    tell,
)
from mnemos.storage.base import Order, Storage

FOUND = [
    # forms of a word
    ("deploy", "we deployed it on Friday"),
    ("deployed", "ready to deploy"),
    ("deploying", "two deployments failed"),
    ("run", "it was running all night"),
    ("DEPLOY", "Deploy now"),
    # accents, case, width
    ("cafe", "we met at the Café"),
    ("café", "we met at the cafe"),
    ("cafe", "we met at the cafe\u0301"),
    ("naïve", "a naive plan"),
    ("strasse", "die lange Straße"),
    ("ＣＡＦＥ", "cafe"),
    ("smorgasbord", "smørgåsbord"),
    ("İstanbul", "istanbul at night"),
    # plain text that looks like syntax
    ("what's", "well, what's this"),
    ("C++", "we write C++ and Rust"),
    ("C#", "ported from C# last year"),
    ("gateway/run.py", "see gateway/run.py for it"),
    ("user@host", "ssh user@host works"),
    ("50%", "about 50% of them"),
    ("#485", "fixed in #485"),
    ("$5", "it costs $5"),
    ("foo-bar", "the foo-bar option"),
    ('"unbalanced', "an unbalanced quote"),
    ("TODO: fix", "TODO: fix the leak"),
    ("a,b", "vectors a,b and c"),
    ("NOT", "do NOT touch"),
    ("OR", "this OR that"),
    ("AND", "this AND that"),
    ("card*", "wild * card"),
    ("(parens)", "some (parens) here"),
    ("key:value", "set key:value pairs"),
    ("^caret", "a ^caret sign"),
    ("{said}", "column {said} filter"),
    ("NEAR(a b)", "NEAR(a b) is syntax elsewhere"),
    ("said:hello", "he said: hello"),
    ("nul\0byte", "a nul byte"),
    ("🎉", "shipped 🎉 today"),
    ("👍🏽", "great 👍🏽"),
    ("❤️", "with ❤ from us"),
    ("x-ray", "an x-ray image"),
    # several words
    ("leak pool", "the pool has a leak"),
    ("pool pool pool", "the pool"),
    ("the pool", "a pool"),
    ("to be or not to be", "to be or not to be"),
    # phrases
    ('"memory leak"', "a memory leak in the pool"),
    ('"the who"', "listening to the who again"),
    ('"user name"', "getUserName(x)"),
    ('"memory leak" pool', "the pool has a memory leak"),
    # either
    ("leak OR flood", "a flood of errors"),
    ("leak OR flood OR fire", "a fire"),
    ('"memory leak" OR flood', "memory leak"),
    ("pool leak OR flood", "flood in the pool"),
    # exclusion
    ("leak -water", "a memory leak"),
    ("leak NOT water", "a memory leak"),
    ('leak -"memory pool"', "a memory leak, a pool"),
    # prefixes
    ("deplo*", "the deployment"),
    ("snake_ca*", "a snake_case name"),
    ("getUse*", "getUserName"),
    ('"memory lea"*', "memory leak"),
    # identifiers
    ("snake", "my_snake_case_name"),
    ("case", "my_snake_case_name"),
    ("my_snake_case_name", "call my_snake_case_name()"),
    ("snake_case", "my_snake_case_name"),
    ("camel", "isCamelCaseName"),
    ("isCamelCaseName", "the isCamelCaseName flag"),
    ("iscamelcasename", "the isCamelCaseName flag"),
    ("isCamelCaseName", "is_camel_case_name"),
    ("b", "module a.b.c"),
    ("a.b.c", "module a.b.c"),
    ("b.c", "module a.b.c"),
    ("prod", "srv.prod is down"),
    ("srv.prod", "srv.prod is down"),
    ("parser", "HTTPResponseParser"),
    ("httpresponseparser", "HTTPResponseParser"),
    ("urls", "fetchURLs"),
    ("ipv6", "IPv6 only"),
    ("10.0.0.1", "ping 10.0.0.1 fails"),
    ("2026-01-31", "due 2026-01-31"),
    ("e3b0c44298fc1c14", "commit e3b0c44298fc1c14"),
    # scripts without blanks
    ("京都", "来週京都に行きます"),
    ("京", "来週京都に行きます"),
    ("す", "来週京都に行きます"),
    ("都に行き", "来週京都に行きます"),
    ("来週京都に行きます", "来週京都に行きます"),
    ("数据库", "请备份数据库文件"),
    ("据库文", "请备份数据库文件"),
    ('"数据库"', "请备份数据库文件"),
    ("API設計", "新しいAPI設計の話"),
    ("設計", "新しいAPI設計の話"),
    ("カタカナ", "ｶﾀｶﾅ"),
    ("ข้อมูล", "ฐานข้อมูลเสีย"),
    ("ฐานข้อมูลเสีย", "ฐานข้อมูลเสีย"),
    ("데이터", "데이터베이스를 복구"),
    ("베이스", "데이터베이스를 복구"),
    ("ဒေတာ", "ဒေတာဘေ့စ်"),
    # other scripts
    ("قاعدة", "تعطلت قاعدة البيانات"),
    ("מסד", "גיבוי של מסד הנתונים"),
    ("база", "резервная база данных"),
    ("БАЗА", "резервная база данных"),
    ("डेटाबेस", "डेटाबेस खराब है"),
    ("βάση", "η ΒΆΣΗ δεδομένων"),
]

NOT_FOUND = [
    ("ploy", "we deployed it on Friday"),
    ("deployx", "we deployed it"),
    ('"deploy"', "we deployed it"),
    ('"leak memory"', "a memory leak"),
    ('"memory leak"', "memory of a leak"),
    ("leak -water", "a water leak"),
    ("leak NOT water", "a water leak"),
    ("leak -water", "leaks of waters"),
    ('leak -"memory pool"', "a leak in the memory pool"),
    ("deplo", "the deployment"),
    ("C++", "vitamin C"),
    ("C#", "vitamin C"),
    ("京東", "来週京都に行きます"),
    ("都京", "来週京都に行きます"),
    ("ข้อความ", "ฐานข้อมูลเสีย"),
    ("foo-bar", "bar of foo"),
    ("a.b.c", "c.b.a"),
    ("user@host", "the host of a user"),
    ("ruser", "a user"),
    ("cli", "hello"),
    ("user", "hello"),
]

TEXTS = st.lists(
    st.one_of(
        st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
        st.sampled_from(['"', "-", "*", "OR", "NOT", "AND", "(", ")", ":", "^", "NEAR", "{said}:", "+", "'"]),
        st.sampled_from(["deploy", "-deploy", '"a b"', "pre*", "a.b.c", "京都", "🎉", "C++", "\0", "%", "_"]),
    ),
    max_size=12,
).map(" ".join)

UNSPACED = st.text(
    st.one_of(
        st.characters(min_codepoint=0x4E00, max_codepoint=0x9FBF),
        st.sampled_from("あいうえおかきくけこアイウエオカキクケコ"),
        st.characters(min_codepoint=0x0E01, max_codepoint=0x0E30),
        st.characters(min_codepoint=0xAC00, max_codepoint=0xD7A3),
    ),
    min_size=1,
    max_size=20,
)

quickly = settings(
    deadline=None,
    # One storage serves all examples, and the engines run the same test.
    suppress_health_check=[
        HealthCheck.function_scoped_fixture,
        HealthCheck.differing_executors,
        HealthCheck.too_slow,
    ],
)


class WordContract(Contract):
    def test_these_queries_find_these_texts(self, storage: Storage, settled: Settled) -> None:
        ids = _one_session_each(storage, FOUND)
        settled(storage)
        missed = [
            (query, text)
            for n, (query, text) in enumerate(FOUND)
            if found_whole(storage, query, session_ids=[f"s{n}"]) != [ids[n]]
        ]
        assert missed == []

    def test_these_queries_do_not_find_these_texts(self, storage: Storage, settled: Settled) -> None:
        _one_session_each(storage, NOT_FOUND)
        settled(storage)
        wrong = [
            (query, text)
            for n, (query, text) in enumerate(NOT_FOUND)
            if found_whole(storage, query, session_ids=[f"s{n}"])
        ]
        assert wrong == []

    def test_a_query_without_words_finds_nothing(self, storage: Storage, settled: Settled) -> None:
        tell(storage, "s", "hello")
        settled(storage)
        for query in ("", " ", "\n\t", '"', '""', "-", "*", "()", "%$&", "\0", "'"):
            assert search(storage, query).hits == (), query

    def test_all_words_are_wanted(self, storage: Storage, settled: Settled) -> None:
        both, _, _ = tell(storage, "s", "apple and pear", "apple alone", "pear alone")
        settled(storage)
        assert found_whole(storage, "apple pear") == [both]

    def test_when_no_message_has_all_words_those_with_most_come_first(
        self, storage: Storage, settled: Settled
    ) -> None:
        one, two, _, three = tell(
            storage, "s", "plum on the table", "apple and pear in a bowl", "nothing of the kind", "apple"
        )
        settled(storage)
        results = search(storage, "apple pear plum")
        assert results.partial
        assert results.hits[0].message_id == two
        matched = {hit.message_id: hit.matched for hit in results.hits}
        assert matched.items() <= {two: 2, one: 1, three: 1}.items()

    def test_words_that_nobody_used_do_not_count(self, storage: Storage, settled: Settled) -> None:
        both, _ = tell(storage, "s", "apple and pear", "apple")
        settled(storage)
        results = search(storage, "apple quagga pear zebra")
        assert results.partial
        assert (results.hits[0].message_id, results.hits[0].matched) == (both, 2)

    def test_partial_answers_are_partial_in_every_order(self, storage: Storage, settled: Settled) -> None:
        tell(storage, "s", message("apple", timestamp=3.0), message("plum", timestamp=1.0))
        (both,) = append(storage, "s", message("apple and pear", timestamp=2.0))
        settled(storage)
        times = {row.id: row.timestamp for row in messages(storage)}
        for order in (Order.NEWEST, Order.OLDEST):
            results = search(storage, "apple pear plum", order=order)
            assert results.partial
            hits = [hit.message_id for hit in results.hits]
            assert both in hits
            assert hits == sorted(hits, key=times.__getitem__, reverse=order is Order.NEWEST)
            assert [hit.matched for hit in results.hits] == [2 if hit == both else 1 for hit in hits]

    def test_an_answer_with_all_words_is_not_partial(self, storage: Storage, settled: Settled) -> None:
        both, _ = tell(storage, "s", "apple and pear", "apple")
        settled(storage)
        for order in Order:
            results = search(storage, "apple pear", order=order)
            assert not results.partial
            assert [(hit.message_id, hit.matched) for hit in results.hits] == [(both, 2)]

    def test_a_phrase_that_nobody_said_is_found_by_its_words(
        self, storage: Storage, settled: Settled
    ) -> None:
        (apart,) = tell(storage, "s", "the leak was in the memory")
        settled(storage)
        results = search(storage, '"memory leak"')
        assert results.partial
        assert [hit.message_id for hit in results.hits] == [apart]

    def test_what_is_excluded_stays_out_of_partial_answers(self, storage: Storage, settled: Settled) -> None:
        kept, _ = tell(storage, "s", "apple tart", "apple and rotten pear")
        settled(storage)
        assert found(storage, "apple pear plum -rotten") == [kept]

    def test_nothing_in_common_finds_nothing(self, storage: Storage, settled: Settled) -> None:
        tell(storage, "s", "apple")
        settled(storage)
        results = search(storage, "zebra quagga")
        assert (results.hits, results.partial) == ((), False)

    def test_tool_names_and_calls_are_found(self, storage: Storage, settled: Settled) -> None:
        create(storage, "s")
        (calling,) = append(
            storage,
            "s",
            message(
                None,
                role="assistant",
                tool_calls=[call("searchWeb", query="green parrots", options={"deep": "aviary"})],
            ),
        )
        (answer,) = append(storage, "s", message("ok", role="tool", tool_name="searchWeb"))
        settled(storage)
        assert found_whole(storage, "parrots") == [calling]
        assert found_whole(storage, "aviary") == [calling]
        assert sorted(found_whole(storage, "searchWeb")) == [calling, answer]
        assert sorted(found_whole(storage, "web")) == [calling, answer]
        assert found_whole(storage, "parrots web") == [calling]

    def test_text_parts_of_encoded_content_are_found(self, storage: Storage, settled: Settled) -> None:
        parts = [
            {"type": "text", "text": "a drawing of a parrot"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,aaaabbbb"}},
        ]
        (shown,) = tell(storage, "s", message(json.dumps(parts), encoded=True))
        settled(storage)
        assert found_whole(storage, "parrot drawing") == [shown]
        assert found_whole(storage, "aaaabbbb") == []
        assert found_whole(storage, "image_url") == []

    def test_roles_sources_and_ids_are_not_words(self, storage: Storage, settled: Settled) -> None:
        tell(storage, "session", message("hello", role="assistant"), source="telegram", title="Parrots")
        settled(storage)
        for query in (
            "assistant",
            "telegram",
            "session",
            "parrots",
            "rassistant",
            "ctelegram",
            "s1",
            "w2922",
        ):
            assert found(storage, query) == [], query

    def test_a_message_is_one_hit_however_often_it_matches(self, storage: Storage, settled: Settled) -> None:
        (only,) = tell(storage, "s", "parrot " * 50 + "Parrots parrotParrot")
        settled(storage)
        assert found(storage, "parrot") == [only]
        assert found(storage, "parrot OR parrots OR par*") == [only]

    @quickly
    @given(query=TEXTS)
    def test_no_query_is_an_error(self, storage: Storage, query: str) -> None:
        create(storage, "s")
        for order in Order:
            search(storage, query, order=order)

    @quickly
    @given(text=st.text(st.characters(exclude_categories=["Cs"], exclude_characters='\0-"*'), max_size=40))
    def test_a_text_finds_itself(self, storage: Storage, text: str) -> None:
        create(storage, "s")
        query = " ".join(word for word in text.split() if word not in ("OR", "NOT", "AND"))
        (own,) = append(storage, "s", text)
        results = search(storage, query, order=Order.NEWEST, limit=1000)
        assert not results.partial
        assert not results.hits or own in [hit.message_id for hit in results.hits]
        if any(character.isalnum() and character.isascii() for character in query):
            assert results.hits

    @quickly
    @given(text=UNSPACED, data=st.data())
    def test_any_part_of_an_unspaced_text_finds_it(
        self, storage: Storage, text: str, data: st.DataObject
    ) -> None:
        create(storage, "s")
        start = data.draw(st.integers(0, len(text) - 1))
        end = data.draw(st.integers(start + 1, len(text)))
        (own,) = append(storage, "s", f"before {text}, after")
        assert own in found_whole(storage, text[start:end], order=Order.NEWEST, limit=1000)


def _one_session_each(storage: Storage, pairs: Sequence[tuple[str, str]]) -> list[int]:
    return [tell(storage, f"s{n}", text)[0] for n, (_, text) in enumerate(pairs)]
