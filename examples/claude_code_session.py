"""A session of Claude Code, replayed through the hooks: what memory adds, and what it costs in tokens.

Runs offline in a throw-away home: ``python examples/claude_code_session.py``.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from mnemos.text.tokens import count_tokens

FIRST = {
    "Which queue should the parcel importer use?": "NATS JetStream: it keeps messages on disk.",
    "We decided to use NATS JetStream for the parcel queue.": "I changed depot/queue.py.",
    "The importer must never run while a stock count is open.": "It asks the stock service first now.",
}
SECOND = (
    "why do we use NATS for the parcel queue?",
    "may the importer run during a stock count?",
    "fix the typo",
    "thanks",
)


def hook(home: Path, name: str, **event: object) -> str:
    """Run a hook as Claude Code does; what it adds to the conversation."""
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-m", "mnemos", "hook", name, "--home", str(home)],
        input=json.dumps(event),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"] if done.stdout else ""


def show(what: str, text: str) -> None:
    print(f"{what}: {count_tokens(text)} tokens" if text else f"{what}: nothing")
    print("".join(f"    {line}\n" for line in text.splitlines()), end="")


def say(transcript: Path, number: int, role: str, text: str) -> None:
    message = {"role": role, "content": text}
    line = {"type": role, "uuid": f"{number}-{role}", "sessionId": transcript.stem, "message": message}
    with transcript.open("a") as file:
        file.write(json.dumps(line) + "\n")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        home, transcript = Path(folder) / "home", Path(folder) / "first.jsonl"
        told = {"session_id": transcript.stem, "transcript_path": str(transcript)}
        print("First session")
        show("it begins with", hook(home, "session-start", **told, source="startup"))
        for number, (question, answer) in enumerate(FIRST.items()):
            show(question, hook(home, "user-prompt", **told, prompt=question))
            say(transcript, number, "user", question)
            say(transcript, number, "assistant", answer)
            hook(home, "stop", **told)
        hook(home, "session-end", **told, reason="other")
        print("\nSecond session")
        show("it begins with", hook(home, "session-start", session_id="second", source="startup"))
        for question in SECOND:
            show(question, hook(home, "user-prompt", session_id="second", prompt=question))


if __name__ == "__main__":
    main()
