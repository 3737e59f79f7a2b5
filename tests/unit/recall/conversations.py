"""The memory of a user's agents: work on code, friends, a trip, and the same in other languages."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from scenes import DAY, MINUTE, NOW

from mnemos import Memory
from mnemos.recall.answer import Recall

Tell = Callable[..., list[int]]

BOTH = pytest.mark.parametrize("words_only", [False, True], ids=["with vectors", "by words alone"])


def _person(name: str, role: str = "user") -> Any:
    return lambda text: {"role": role, "content": text, "metadata": {"speaker": name}}


ana, ben = _person("Ana"), _person("Ben", "assistant")


def _at(month: int, day: int) -> float:
    return datetime(2026, month, day, 9, tzinfo=UTC).timestamp()


TRIPS = """Here are three day trips from Lisbon:

1. Sintra: palaces in the hills, forty minutes by train; go early, the queue at Pena is long.
2. Cascais: beaches and a promenade, the train leaves from Cais do Sodré.
3. Évora: a Roman temple and the chapel of bones, an hour and a half by bus.

Tell me how much time you have and I will plan the day in more detail, with places to eat and tickets."""

CONVERSATIONS: dict[str, tuple[float, list[Any]]] = {
    "gateway": (
        _at(3, 10),
        [
            "The gateway drops connections after every deploy, please look at src/gateway/pool.py",
            ("assistant", "The pool never closes idle sockets. I would call drain_idle() on shutdown."),
            "Do it. And the staging cache listens on port 5433 now",
            "production stays on port 5432",
            {"role": "tool", "content": "3 failed: ERR_CONN_4410 in test_drain_idle", "tool_name": "pytest"},
            (
                "assistant",
                "Fixed: shutdown calls HttpPool.closeIdle() and all tests pass with release v2.10.3.",
            ),
            "How many retries does the client make before it gives up?",
            ("assistant", "It makes seven, with a growing pause in between."),
        ],
    ),
    "ops": (
        _at(3, 18),
        [
            "we migrated Postgres last Tuesday",
            ("assistant", "Noted. Shall I update the runbook?"),
            "Yes, and the nightly backups go to the Rotterdam bucket from now on",
            "Who is on call this week?",
            ("assistant", "According to the plan it is Priya."),
        ],
    ),
    "friends": (
        _at(2, 2),
        [
            ana("Did you get any pets in the end?"),
            ben("I adopted a tabby called Salt from the shelter."),
            ana("I adopted a greyhound, she is called Pepper."),
            ben("My sister works at the airport in Porto now."),
            ana("Mine is still teaching chemistry in Braga."),
            ben("We should go hiking when the snow melts."),
            ana("My knee surgery is on 14 April, so not before summer."),
        ],
    ),
    "trip": (
        _at(1, 12),
        [
            "Suggest three day trips from Lisbon, please",
            ("assistant", TRIPS),
            "I get sick on a bus, so I would rather take a train anywhere",
            ("assistant", "Then Sintra or Cascais it is."),
        ],
    ),
    "editors": (
        _at(1, 20),
        ["my favourite editor is Vim", ("assistant", "A fine choice.")],
    ),
    "editors again": (
        _at(3, 2),
        ["my favourite editor is Helix", ("assistant", "Then I will show its keys.")],
    ),
    "werkstatt": (
        _at(2, 20),
        [
            "Der Schlüssel für die Werkstatt liegt unter der Fußmatte",
            ("assistant", "Verstanden, ich merke mir das."),
            "Die Straße vor dem Haus ist bis Mai gesperrt",
        ],
    ),
    "cours": (
        _at(2, 21),
        [
            "Le mot de passe du routeur est collé derrière l'écran",
            ("assistant", "C'est noté."),
            "La réunion des parents est reportée à jeudi",
        ],
    ),
    "zh": (_at(2, 22), ["我们把数据库迁移到了新的服务器", "孩子的生日是六月三日", "备用端口改成了7001"]),
    "ja": (_at(2, 23), ["猫の名前はミケです", "冷蔵庫を新しくしました", "来月は東京タワーに行きます"]),
}


def told(
    memory: Memory,
    session_id: str,
    *turns: Any,
    at: float = NOW - 30 * DAY,
    source: str = "cli",
    every: float = MINUTE,
) -> list[int]:
    """A turn is a text of the user, a role and a text, or the fields of a message."""
    memory.sessions.create_session(session_id, source)
    messages = [_message(turn) | {"timestamp": at + number * every} for number, turn in enumerate(turns)]
    return memory.sessions.append_messages(session_id, messages)


def _message(turn: Any) -> dict[str, Any]:
    if isinstance(turn, str):
        return {"role": "user", "content": turn}
    if isinstance(turn, tuple):
        role, text = turn
        return {"role": role, "content": text}
    return dict(turn)


def texts(recalled: Recall) -> list[str]:
    return [hit.text for hit in recalled.hits]


def first(memory: Memory, query: str, **more: Any) -> str:
    """The text of the best hit; nothing where there is none."""
    hits = memory.recall(query, **more).hits
    return hits[0].text if hits else ""


def put(memory: Memory, kind: str, ref: str, text: str, **more: Any) -> None:
    """Store a passage as another part would."""
    memory.storage.write(lambda tx: tx.passages.put(kind, ref, text=text, **({"at": NOW} | more)))
