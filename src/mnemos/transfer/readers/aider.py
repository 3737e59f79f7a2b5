"""Reader of Aider's ``.aider.chat.history.md``, which a folder's chats are added to.

A line that begins with ``####`` is a user's, one with ``>`` is Aider's own, and the others are the model's. A
quotation or such a heading in an answer looks the same, to Aider as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from hashlib import blake2b
from typing import Any, Final

from mnemos.transfer.foreign_files import LONGEST, clean_name, drop_empty, files_with, open_file
from mnemos.transfer.reader import BEGINNING, Item, Mark, Reader, SourceFile, Unreadable
from mnemos.transfer.readers.dialogue import Dialogue, make_conversation

KIND: Final = "aider"
_FILE: Final = ".aider.chat.history.md"
_BEGUN: Final = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*$")
_MODEL: Final = re.compile(r"> (?:Main )?[Mm]odel: (\S+) with ")
_USER: Final = "####"


def read(source: SourceFile, mark: Mark = BEGINNING) -> Iterator[Item]:
    """Yield messages and marks. An answer is whole once a blank line ends the file."""
    history = _History(source, mark)
    with open_file(source.path) as file:
        file.seek(mark.position)
        position = mark.position
        while (data := file.readline(LONGEST)).endswith(b"\n"):
            yield from history.add(data.decode("utf-8", "replace").rstrip("\r\n"), position)
            position += len(data)
    yield from history.finish(position)


READER: Final = Reader(KIND, "Aider", files_with(_FILE), read)


class _History:
    """A file being read: the chat, and the lines of the unfinished message."""

    def __init__(self, source: SourceFile, mark: Mark) -> None:
        self._folder = str(source.path.absolute().parent)
        self._about: dict[str, Any] = dict(mark.state or {})
        self._number = mark.line
        self._role = ""
        self._lines: list[str] = []
        self._says = self._dialogue()

    def add(self, line: str, position: int) -> Iterator[Item]:
        """Add a line that begins at a position."""
        begun = _BEGUN.match(line)
        role = "" if begun or line.startswith(">") else "user" if line.startswith(_USER) else "assistant"
        is_answer = self._role or (line.strip() and self._about.get("count"))
        if role == "assistant" and not is_answer:
            # Blank lines, and Aider's output before the first question.
            role = ""
        if role != self._role:
            yield from self._say()
            yield Mark(position, self._number, dict(self._about))
            self._role = role
        self._number += 1
        if begun:
            self._begin(begun[1])
        elif role:
            self._lines.append(line.removeprefix(_USER).strip() if role == "user" else line)
        elif found := _MODEL.match(line):
            self._about |= drop_empty(model=clean_name(found[1]))

    def finish(self, position: int) -> Iterator[Item]:
        """Yield the last message if it is whole; otherwise leave it for the next import."""
        if self._lines and self._lines[-1].strip():
            return
        yield from self._say()
        yield Mark(position, self._number, dict(self._about))

    def _begin(self, started: str) -> None:
        digest = blake2b(f"{self._folder}\0{started}".encode("utf-8", "surrogatepass"), digest_size=8)
        # Aider writes local time.
        self._about = {"id": f"aider-{digest.hexdigest()}", "at": datetime.fromisoformat(started).timestamp()}
        self._says = self._dialogue()

    def _dialogue(self) -> Dialogue:
        return Dialogue(self._about.get("id", ""), self._about.get("at", 0.0))

    def _say(self) -> Iterator[Item]:
        text, self._lines = "\n".join(self._lines).strip(), []
        if not text:
            return
        if "id" not in self._about:
            yield Unreadable(self._number, "no chat begins before it")
            return
        about = self._about
        yield make_conversation(
            KIND, about["id"], started_at=about["at"], model=about.get("model"), cwd=self._folder
        )
        # The message's number in its chat distinguishes repeated messages, wherever reading resumes.
        about["count"] = about.get("count", 0) + 1
        yield from (self._says.ask if self._role == "user" else self._says.reply)(text, None, about["count"])
