"""``python -m benchmarks recall --walk``: fourteen questions to a home with two years of mixed history.

The home has some of the conversations written for the reranker: chats of friends, meetings of teams and talks
with an assistant, plus an agent's sessions with tool calls in two projects, a note, and a few facts and their
updates. The chats are moved eight months back. The table says whether the text that a model would get has the
answer; ``--show`` prints that text for each question.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import mnemos
from benchmarks.report import Result, Table
from mnemos.testing import FixedClock

CONVERSATIONS = Path(__file__).resolve().parents[2] / "reranker" / "conversations" / "various.txt"
SOURCES = {"assistant": "chatgpt", "chat": "messenger", "team": "meetings"}
BACK = 243 * 86_400.0
ASKED_AT = datetime(2025, 12, 16, 9, tzinfo=UTC).timestamp()
FACTS = (
    ("2024-03-02", "I live in Leeds"),
    ("2024-06-10", "Our staging server listens on port 3005"),
    ("2025-02-01", "I moved to York last week"),
    ("2025-09-15", "The staging server moved to port 3080"),
    ("2025-05-05", "Never deploy on Fridays"),
    ("2025-06-20", "Vera's number plate is KM-47-PL"),
)
NOTE = "Prefers metric units and British spelling."
SHELL = {"type": "function", "function": {"name": "shell", "arguments": '{"command": "grep -rn E4410 logs"}'}}
# By project: the day, and what was said in turn by the user and the agent. A dict: calls, and the result.
SESSIONS: Mapping[str, Sequence[tuple[str, Sequence[str | Mapping[str, object]]]]] = {
    "/src/shopfront": (
        (
            "2025-06-03",
            (
                "The checkout test is flaky on CI, can you find out why?",
                "The cause is rounding each line before summing, as their order is random.",
                "Good. Decision: money is rounded once, at the end, half up. Everywhere.",
                "Changed in total.py and invoice.py. 400 runs pass.",
            ),
        ),
        (
            "2025-07-14",
            (
                "We need to pick a payment provider. Options were Stripe, Adyen and Mollie, right?",
                "Yes. Stripe has the best docs, Adyen a minimum volume, Mollie the lowest fees.",
                "Then Mollie. Webhook timeouts should be 8 seconds, they retry anyway.",
                "Result: the webhook is /hooks/mollie, and the key is in MOLLIE_API_KEY.",
            ),
        ),
    ),
    "/src/etl-runner": (
        (
            "2025-10-02",
            (
                "The nightly import dies with error E4410 since yesterday.",
                {"calls": [SHELL], "result": "logs/8812: E4410 cursor lost: snapshot too old (900 s)"},
                "E4410 means that the snapshot is older than 900 s. Import in slices of 50,000 rows.",
                "Slices. I don't want to ask the DBA.",
            ),
        ),
    ),
}


@dataclass(frozen=True, slots=True)
class Asked:
    kind: str
    text: str
    answer: str
    """An expression for what the text must say; empty if nothing in the home answers."""


QUESTIONS = (
    Asked("a person is named", "Which instruments has Leo tried to learn?", r"cello"),
    Asked("a fact that changed", "Which port does the staging server use?", r"3080"),
    Asked("where the user lives now", "Where do I live?", r"York"),
    Asked("when", "When did the clinic's booking app go live?", r"5th of May"),
    Asked("a month in the past", "What did the museum team discuss last January?", r"Ghent"),
    Asked("what the assistant said", "What did you recommend for storing prices?", r"cents|øre|integer"),
    Asked("what the user said", "What did I say about mushrooms in our conversations?", r"mushrooms"),
    Asked("several places", "How many people saw the exhibition, in all and on the first day?", r"18,400"),
    Asked("a wish with a date", "Suggest a place for dinner with mum next weekend", r"shellfish"),
    Asked("a decision in a project", "How do we round money?", r"half up"),
    Asked("a code", "What was error E4410 about?", r"older than 900"),
    Asked("a fact about a person", "What is Vera's number plate?", r"KM-47"),
    Asked("a month that is a name", "What raise did I get in June?", r"240 net"),
    Asked("nothing was said", "What is the boiling point of tungsten hexafluoride?", r""),
)


def make_home(folder: Path) -> mnemos.Memory:
    """Fill a home with the conversations and facts, each at its time, and embed everything."""
    clock = FixedClock()
    memory = mnemos.open(folder, clock=clock)
    for number, (kind, sessions) in enumerate(_read_conversations()):
        for place, (day, turns) in enumerate(sessions):
            at = _moment(day) - (BACK if kind == "chat" else 0.0)
            name = f"{kind}-{number}-{place}"
            memory.sessions.create_session(name, SOURCES[kind], started_at=at)
            messages = [_as_message(turn, at + 60.0 * place) for place, turn in enumerate(turns)]
            memory.sessions.append_messages(name, messages)
    for project, sessions in SESSIONS.items():
        for day, turns in sessions:
            memory.sessions.create_session(f"agent-{day}", "codex", started_at=_moment(day), project=project)
            memory.sessions.append_messages(f"agent-{day}", list(_as_messages(turns, _moment(day))))
    memory.notebook.add(NOTE, target="user")
    for day, text in FACTS:
        clock.now = _moment(day)
        memory.remember(text)
    clock.now = ASKED_AT
    memory.storage.catch_up()
    memory.embedding.catch_up()
    return memory


def _read_conversations() -> Iterator[tuple[str, list[tuple[str, list[tuple[str, str]]]]]]:
    for conversation in CONVERSATIONS.read_text(encoding="utf-8").split("\n===\n"):
        said = conversation.partition("\n---\n")[0].strip().splitlines()
        sessions: list[tuple[str, list[tuple[str, str]]]] = []
        for line in said[1:]:
            if line.startswith("@ "):
                sessions.append((line.split()[1], []))
            else:
                speaker, _, text = line.partition("\t")
                sessions[-1][1].append((speaker, text))
        yield said[0].removeprefix("# "), sessions


def _moment(day: str) -> float:
    return datetime.fromisoformat(f"{day}T10:00+00:00").timestamp()


def _as_messages(turns: Sequence[str | Mapping[str, object]], at: float) -> Iterator[dict[str, object]]:
    for place, turn in enumerate(turns):
        if isinstance(turn, str):
            yield {"role": ("user", "assistant")[place % 2], "content": turn, "timestamp": at + 60.0 * place}
        else:
            yield {"role": "assistant", "content": "", "tool_calls": turn["calls"], "timestamp": at + 60.0}
            yield {"role": "tool", "content": turn["result"], "timestamp": at + 61.0}


def _as_message(turn: tuple[str, str], at: float) -> dict[str, object]:
    speaker, text = turn
    if speaker in {"user", "assistant"}:
        return {"role": speaker, "content": text, "timestamp": at}
    return {"role": "user", "content": text, "timestamp": at, "metadata": {"speaker": speaker}}


def run(folder: Path, *, show: bool) -> Result:
    rows, figures = [], {}
    with make_home(folder) as memory:
        for asked in QUESTIONS:
            found = memory.recall(asked.text)
            places = (n for n, hit in enumerate(found.hits, 1) if re.search(asked.answer, hit.text))
            first = next(places, None)
            said = bool(re.search(asked.answer, found.text)) if asked.answer else not found.hits
            figures[asked.text] = {"certainty": found.certainty, "hits": len(found.hits), "right": said}
            place = str(first or "-") if asked.answer else "-"
            rows.append([asked.text, found.certainty, place, str(len(found.hits)), "yes" if said else "no"])
            if show:
                print(f"# {asked.kind}: {asked.text}\n\n{found.text}\n")
        count = memory.sessions.message_count()
    headings = ("question", "certainty", "first answer", "hits", "right")
    return Result(
        "recall-walk", [Table(f"{len(QUESTIONS)} questions to {count:,} messages", headings, rows)], figures
    )
