"""Tiny conversations in every format; all of it was made up for these tests."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

# The benchmarks are not an installed package; also plain `pytest` should find them.
sys.path.append(str(Path(__file__).parents[3]))

Write = Callable[[Any], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a value as a JSON file, or a list of values as lines when the name says so."""

    def written(value: Any, name: str = "data.json") -> Path:
        path = tmp_path / name
        lines = "\n".join(map(json.dumps, value)) if name.endswith(".jsonl") else json.dumps(value)
        path.write_text(lines, encoding="utf-8")
        return path

    return written


def dialog(number: str, speaker: str, text: str, **more: str) -> dict[str, str]:
    return {"dia_id": number, "speaker": speaker, "text": text, **more}


@pytest.fixture
def locomo() -> list[dict[str, Any]]:
    """One conversation of two sessions; the third has a time and no turns, as happens in the original."""
    return [
        {
            "sample_id": "talk-1",
            "conversation": {
                "speaker_a": "Ada",
                "speaker_b": "Bo",
                "session_1_date_time": "12:05 am on 3 March, 2024",
                "session_1": [
                    dialog("D1:1", "Ada", "The kiln broke while the blue vase was inside."),
                    dialog("D1:2", "Bo", "Oh no.", blip_caption="a cracked blue vase"),
                ],
                "session_2_date_time": "1:30 pm on 9 March, 2024",
                "session_2": [
                    dialog("D2:1", "Bo", "Did the mason repair the kiln?"),
                    dialog("D2:2", "Ada", "Yes, on Thursday, for ninety euros."),
                ],
                "session_3_date_time": "1:30 pm on 12 March, 2024",
            },
            "qa": [
                {"question": "What broke?", "category": 4, "evidence": ["D1:1"]},
                {"question": "What does the repair cost?", "category": 1, "evidence": ["D2:1; D2:2", "D1:1"]},
                {"question": "When was it repaired?", "category": 2, "evidence": ["D:2:2", "D7:1", "D"]},
                {"question": "Who is the mason's aunt?", "category": 5, "evidence": ["D2:1"]},
                {"question": "Does Ada like clay?", "category": 3, "evidence": []},
            ],
        }
    ]


def said(role: str, content: str, **more: bool) -> dict[str, Any]:
    return {"role": role, "content": content, **more}


def asked(name: str, question: str, sessions: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    return {
        "question_id": name,
        "question_type": "multi-session",
        "question": question,
        "question_date": "2024/05/09 (Thu) 18:30",
        "haystack_dates": [f"2024/05/{day:02} (Wed) 10:00" for day in range(1, len(sessions) + 1)],
        "haystack_session_ids": list(sessions),
        "haystack_sessions": list(sessions.values()),
        "answer_session_ids": [session for session in sessions if session.startswith("answer")],
    }


@pytest.fixture
def longmemeval() -> list[dict[str, Any]]:
    """Two questions with an answer, one of them named by session only, and one without."""
    return [
        asked(
            "q1",
            "How many tomato plants do I have?",
            {
                "other-1": [said("user", "Which bus goes to the harbour?"), said("assistant", "Line nine.")],
                "answer-1": [
                    said("user", "I planted four tomato plants.", has_answer=True),
                    said("assistant", "Water them early.", has_answer=False),
                ],
                "answer-2": [said("user", "Two more tomato plants today!", has_answer=True)],
            },
        ),
        asked(
            "q2",
            "Which bread do I bake?",
            {"answer-3": [said("user", "My rye bread is in the oven."), said("assistant", "Lovely.")]},
        ),
        asked("q3_abs", "What is the name of my parrot?", {"other-2": [said("user", "The lamp flickers.")]}),
    ]


@pytest.fixture
def lines() -> list[dict[str, Any]]:
    return [
        {
            "id": "house",
            "sessions": [
                {
                    "id": "roof",
                    "started_at": "2024-06-01",
                    "messages": [
                        {"role": "user", "content": "The roof leaks above the attic stairs."},
                        {"role": "assistant", "content": "Put a bucket there.", "timestamp": 1717200900.0},
                    ],
                },
                {
                    "id": "door",
                    "started_at": 1717300000.0,
                    "messages": [{"id": "m9", "content": "The door is oak.", "speaker": "Cleo"}],
                },
            ],
            "questions": [
                {"question": "Where does the roof leak?", "evidence": ["roof:1"], "category": "where"},
                {"question": "Of what is the door?", "evidence": ["m9"], "asked_at": "2024-07-01"},
                {"question": "What about the roof?", "evidence": ["roof", "cellar"]},
                {"question": "Nothing?", "evidence": []},
            ],
        }
    ]
