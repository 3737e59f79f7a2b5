"""Any text an agent may produce is returned exactly, by the engine and by sessions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contract.storage.openers import Contract, append, contents, create, found, message, session, settle
from mnemos.sessions.sessions import Sessions
from mnemos.settings import Settings
from mnemos.storage.base import SessionFilters, Storage
from mnemos.testing.clock import FixedClock

quickly = settings(
    deadline=None,
    # One storage serves all examples, and the engines run the same test.
    suppress_health_check=[
        HealthCheck.function_scoped_fixture,
        HealthCheck.differing_executors,
        HealthCheck.too_slow,
    ],
)

# Text that reaches an engine: no NUL, no lone surrogate.
CLEAN = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=60)
# Values that a host may pass.
ANY = st.text(st.characters(exclude_categories=()), max_size=40)

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(1 << 53), 1 << 53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | ANY,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY, inner, max_size=3),
    max_leaves=8,
)
PARTS = st.lists(
    st.fixed_dictionaries({"type": st.just("text"), "text": ANY})
    | st.dictionaries(ANY, JSON, max_size=3)
    | ANY,
    max_size=4,
)
CALLS = st.lists(
    st.fixed_dictionaries(
        {
            "id": st.text(st.characters(codec="ascii", categories=("L", "N")), min_size=1, max_size=12),
            "type": st.just("function"),
            "function": st.fixed_dictionaries(
                {"name": st.sampled_from(["search_web", "run"]), "arguments": JSON.map(json.dumps)}
            ),
        }
    ),
    max_size=3,
)
MESSAGES = st.lists(
    st.fixed_dictionaries(
        {
            "role": st.sampled_from(["system", "user", "assistant", "tool"]),
            "content": ANY | PARTS | st.none(),
        },
        optional={
            "tool_calls": CALLS,
            "metadata": JSON,
            "tool_name": st.sampled_from(["search_web", "naïve tool"]),
            "tool_call_id": st.just("call_1"),
            "token_count": st.integers(0, 1 << 40),
            "timestamp": st.floats(-1e11, 1e11),
        },
    ),
    max_size=6,
)

HARD = [
    "🎉 party 👨‍👩‍👧 family 🏳️‍🌈 flag 🇩🇪",
    "שלום עולם — mixed with English — عالم",
    "\u202eright to left\u202c and back",
    "e\u0301 is not é, and \u1e9b\u0323 is neither",
    "zero\u200bwidth\u200djoiner\ufeff",
    "tabs\tand\r\nlines\u2028and\u2029others\x0b\x0c\x85",
    "controls \x01\x02\x1b[31m red \x7f",
    "\U0010ffff \ufffe \uffff edge of Unicode",
    "quotes ' '' \" \"\" ` ; -- /* */ % _ \\ \\0 \\x00",
    "ﷺ ﬁ ½ ① ⑴ ㎏ ǅ ß ŉ",
    " leading and trailing ",
    "\n",
]


class RoundTripContract(Contract):
    def test_hard_texts_come_back_exactly(self, storage: Storage) -> None:
        create(storage, "s")
        append(storage, "s", *HARD)
        settle(storage)
        assert contents(storage) == HARD

    def test_words_are_found_in_hard_texts(self, storage: Storage) -> None:
        create(storage, "s")
        ids = append(storage, "s", *HARD)
        for _ in range(2):
            for query, place in (
                ("party", 0),
                ("🎉", 0),
                ("👨‍👩‍👧", 0),
                ("🇩🇪", 0),
                ("שלום", 1),
                ("عالم", 1),
                ("right", 2),
                ("width", 4),
                ("others", 5),
                ("red", 6),
                ("edge", 7),
                ("quotes", 8),
                ("fi", 9),
                ("dz", 9),
                ("trailing", 10),
            ):
                assert found(storage, query) == [ids[place]], query
            settle(storage)

    @quickly
    @given(
        texts=st.lists(CLEAN | st.none(), max_size=8),
        name=CLEAN,
        title=CLEAN,
        fields=st.tuples(CLEAN, CLEAN, CLEAN, CLEAN),
    )
    def test_clean_texts_come_back_from_the_engine(
        self,
        storage: Storage,
        texts: list[str | None],
        name: str,
        title: str,
        fields: tuple[str, str, str, str],
    ) -> None:
        user, model, prompt, reason = fields
        taken = storage.read(lambda tx: tx.sessions.count(SessionFilters()))
        session_id = f"{taken} {name}"
        assert create(
            storage,
            session_id,
            title=title,
            user_id=user,
            model=model,
            system_prompt=prompt,
            end_reason=reason,
        )
        row = session(storage, session_id)
        assert (row.id, row.title, row.user_id, row.model) == (session_id, title, user, model)
        assert (row.system_prompt, row.end_reason) == (prompt, reason)
        append(storage, session_id, *(message(text) for text in texts))
        assert contents(storage, session_id) == texts

    @quickly
    @given(batch=MESSAGES)
    def test_any_messages_come_back_from_sessions(
        self, storage: Storage, batch: list[dict[str, Any]]
    ) -> None:
        clock = FixedClock()
        sessions = Sessions(storage, Settings(home=Path("unused"), redact=False), clock)
        session_id = f"s{sessions.session_count()}"
        sessions.create_session(session_id, "cli")
        ids = sessions.append_messages(session_id, batch)
        expected = [
            {
                "id": one,
                "session_id": session_id,
                "tool_name": None,
                "tool_calls": None,
                "tool_call_id": None,
                "token_count": None,
                "timestamp": clock(),
                "metadata": None,
            }
            | given
            for one, given in zip(ids, batch, strict=True)
        ]
        assert sessions.get_messages(session_id) == expected
        calls = sum(len(given.get("tool_calls", ())) for given in batch)
        counted = sessions.get_session(session_id)
        assert counted is not None
        assert (counted["message_count"], counted["tool_call_count"]) == (len(batch), calls)

    @quickly
    @given(query=ANY)
    def test_any_text_is_a_query_of_sessions(self, storage: Storage, query: str) -> None:
        sessions = Sessions(storage, Settings(home=Path("unused"), redact=False), FixedClock())
        sessions.ensure_session("s", "cli")
        sessions.append_message("s", "user", query)
        for hit in sessions.search_messages(query):
            assert hit["session_id"] == "s"
