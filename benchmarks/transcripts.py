"""Made-up Claude Code transcripts, as large as wanted: what imports are measured with."""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

_SYLLABLES = "ba be bo da de do ka ke ko la le lo ma me mo na ne no ra re ro sa se so ta te to".split()
_WORDS = 20_000
_LINES_A_SESSION = 400


def write(folder: Path, megabytes: float, seed: int = 8) -> int:
    """Fill a folder with transcripts of about that number of megabytes; return their bytes."""
    chance = random.Random(seed)
    words = ["".join(chance.choices(_SYLLABLES, k=chance.randint(1, 4))) for _ in range(_WORDS)]
    written = 0
    number = 0
    while written < megabytes * 1e6:
        number += 1
        project = folder / "projects" / f"-home-dev-project{number % 40}"
        project.mkdir(parents=True, exist_ok=True)
        session = str(uuid.UUID(int=chance.getrandbits(128), version=4))
        text = "\n".join(map(json.dumps, _session(session, chance, words))) + "\n"
        (project / f"{session}.jsonl").write_text(text)
        written += len(text)
    return written


def _session(session: str, chance: random.Random, words: list[str]) -> Iterator[dict[str, Any]]:
    at = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=chance.randint(0, 300_000))
    parent: str | None = None
    for turn in range(_LINES_A_SESSION // 4):
        call = f"toolu_{chance.getrandbits(80):020x}"
        answer = f"msg_{chance.getrandbits(80):020x}"
        output = _prose(chance, words, chance.choice((40, 200, 1_200)))
        for role, content, beside in (
            ("user", _prose(chance, words, 60), {}),
            ("assistant", [{"type": "text", "text": _prose(chance, words, 120)}], {}),
            (
                "assistant",
                [
                    {
                        "type": "tool_use",
                        "id": call,
                        "name": chance.choice(("Bash", "Read", "Edit")),
                        "input": {"command": _prose(chance, words, 25)},
                    }
                ],
                {},
            ),
            (
                "user",
                [{"type": "tool_result", "tool_use_id": call, "content": output, "is_error": False}],
                # Claude Code writes the output down a second time.
                {"toolUseResult": {"stdout": output, "stderr": "", "interrupted": False}},
            ),
        ):
            at += timedelta(seconds=chance.randint(1, 60))
            line = str(uuid.UUID(int=chance.getrandbits(128), version=4))
            message: dict[str, Any] = {"role": role, "content": content}
            if role == "assistant":
                usage = {"input_tokens": 4, "cache_read_input_tokens": 20_000, "output_tokens": turn}
                message |= {"id": answer, "type": "message", "model": "claude-sonnet-4-5", "usage": usage}
            yield {
                "parentUuid": parent,
                "isSidechain": False,
                "userType": "external",
                "cwd": "/home/dev/project",
                "sessionId": session,
                "version": "2.0.14",
                "gitBranch": "main",
                "type": role,
                "message": message,
                "uuid": line,
                "timestamp": at.isoformat().replace("+00:00", "Z"),
                **beside,
            }
            parent = line


def _prose(chance: random.Random, words: list[str], count: int) -> str:
    # As in real text, few words are in most places.
    return " ".join(words[int(len(words) * chance.random() ** 3)] for _ in range(count))
