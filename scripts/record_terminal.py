"""Record the terminal session of the README as an SVG: ``python scripts/record_terminal.py [--check]``.

The real program runs in a terminal of 80 columns, with a throw-away home that holds the demo's history as
Claude Code transcripts. ``--check`` writes nothing and fails when the picture no longer shows what the
program prints.
"""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import shlex
import struct
import subprocess
import sys
import tempfile
import termios
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from xml.sax.saxutils import escape

from rich.console import Console
from rich.style import Style
from rich.text import Text

from mnemos.faces.cli.demo import history

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "assets" / "recording.svg"
COLUMNS = 80

# Each command, and what the person answers if it asks.
COMMANDS = (
    ("mnemos import", "\n"),
    ("mnemos recall when did we move the database --limit 2", ""),
    ('mnemos remember "The staging database listens on port 5433"', ""),
    ('mnemos remember "The staging database now listens on port 6432"', ""),
)
# The history ends on this day, which is also written in place of today.
DAY = datetime(2026, 11, 16, 9, tzinfo=UTC)
_ASKS = re.compile(r"[:?\])] $")


def record() -> list[tuple[str, list[Text]]]:
    """Run the commands one after the other; return each with the lines it printed."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        home = Path(folder) / "home"
        _write_transcripts(home / ".claude" / "projects" / "-srv-bakery")
        return [(command, _run(command, answer, home)) for command, answer in COMMANDS]


def _write_transcripts(folder: Path) -> None:
    folder.mkdir(parents=True)
    for session in history(DAY.timestamp()):
        said = [one for one in session["messages"] if one["role"] in ("user", "assistant") and one["content"]]
        lines = [
            {
                "type": message["role"],
                "sessionId": session["id"],
                "uuid": f"{session['id']}-{number}",
                "timestamp": datetime.fromtimestamp(message["timestamp"], UTC).isoformat(),
                "cwd": "/srv/bakery",
                "message": {"role": message["role"], "content": message["content"]},
            }
            for number, message in enumerate(said)
        ]
        title = {"type": "summary", "summary": session["title"], "leafUuid": lines[-1]["uuid"]}
        text = "".join(f"{json.dumps(line)}\n" for line in (title, *lines))
        (folder / f"{session['id']}.jsonl").write_text(text, encoding="utf-8")


def _run(command: str, answer: str, home: Path) -> list[Text]:
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "TERM": "xterm-256color", "TZ": "UTC"}
    terminal, inside = pty.openpty()
    fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    program = [sys.executable, "-m", *shlex.split(command)]
    before = datetime.now(UTC)
    with subprocess.Popen(  # noqa: S603 - the commands above
        program, cwd=home, env=environment, stdin=inside, stdout=inside, stderr=inside, start_new_session=True
    ) as process:
        os.close(inside)
        printed = _read(terminal, answer)
    os.close(terminal)
    if process.returncode:
        raise SystemExit(f"{command} failed:\n{printed}")
    for today in {before.date(), datetime.now(UTC).date()}:
        printed = printed.replace(today.isoformat(), DAY.date().isoformat())
    return _draw(printed)


def _read(terminal: int, answer: str) -> str:
    """Read what the program prints until it ends, and answer its question."""
    printed = b""
    while True:
        try:
            chunk = os.read(terminal, 65536)
        except OSError:  # Linux's way of saying that the other end was closed
            chunk = b""
        if not chunk:
            return printed.decode()
        printed += chunk
        if answer and _ASKS.search(_strip(printed.decode(errors="ignore"))):
            os.write(terminal, answer.encode())
            answer = ""


def _strip(text: str) -> str:
    return Text.from_ansi(text.rpartition("\n")[2], end="").plain if text[-1:] != "\n" else ""


def _draw(printed: str) -> list[Text]:
    """Return the lines that are left on the screen; progress bars redraw theirs."""
    lines, row = [""], 0
    for part in re.split(r"(\n|\r|\x1b\[2K|\x1b\[\d*A|\x1b\[\?25[hl])", printed.replace("\r\n", "\n")):
        if part == "\n":
            row += 1
            lines.extend([""] * (row + 1 - len(lines)))
        elif part.startswith("\x1b[") and part.endswith("A"):
            row = max(0, row - int(part[2:-1] or 1))
        elif part == "\x1b[2K":
            lines[row] = ""
        elif part != "\r" and not part.startswith("\x1b[?"):
            lines[row] += part
    return [Text.from_ansi(line.rstrip()) for line in "\n".join(lines).rstrip().split("\n")]


# The picture -------------------------------------------------------------------------------------------

SIZE, WIDTH, HEIGHT = 14, 8.4, 20
LEFT, TOP = 16, 44
BACKGROUND, FOREGROUND, FAINT = "#161b22", "#e6edf3", "#8b949e"
# The terminal's colours by number: red, green, yellow, blue, cyan.
COLOURS = {1: "#ff7b72", 2: "#3fb950", 3: "#e3b341", 4: "#79c0ff", 6: "#76e3ea"}
TYPING, LINE, PAUSE = 0.03, 0.06, 1.2


def render(session: list[tuple[str, list[Text]]]) -> str:
    """Draw the session as an SVG whose commands are typed and whose lines appear; it ends complete."""
    rows, moment, number = [], 0.0, count()
    for command, lines in session:
        if not rows:
            # The first one is typed already: a picture that is blank at first looks broken.
            rows.append(_render_line(_render_prompt(command), next(number), -1))
        else:
            rows.append(_render_command(command, next(number), moment))
            moment += len(command) * TYPING
        moment += 0.4
        for line in lines:
            rows.append(_render_line(line, next(number), moment))
            moment += LINE
        next(number)
        moment += PAUSE
    wide, high = LEFT * 2 + COLUMNS * WIDTH, TOP + (next(number) - 1) * HEIGHT + 10
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:g} {high:g}" width="{wide:g}" '
            'role="img" aria-label="A terminal session with mnemos">',
            "<style>",
            f"text{{font:{SIZE}px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;"
            f"fill:{FOREGROUND};white-space:pre}}",
            f".b{{font-weight:bold}}.d{{fill:{FAINT}}}",
            "".join(f".f{number}{{fill:{colour}}}" for number, colour in COLOURS.items()),
            ".l{animation:appear .01s both}.c{transform:scaleX(0);transform-box:fill-box;"
            "transform-origin:right;animation:type both}",
            "@keyframes appear{from{opacity:0}}@keyframes type{from{transform:scaleX(1)}}",
            "@media(prefers-reduced-motion){.l,.c{animation:none}}",
            "</style>",
            f'<rect width="100%" height="100%" rx="8" fill="{BACKGROUND}"/>',
            *(f'<circle cx="{20 + 18 * i}" cy="18" r="6" fill="#484f58"/>' for i in range(3)),
            *rows,
            "</svg>\n",
        ]
    )


def _render_command(command: str, number: int, moment: float) -> str:
    y = TOP + number * HEIGHT
    wide = len(command) * WIDTH
    cover = (
        f'<rect class="c" x="{LEFT + 2 * WIDTH:g}" y="{y - SIZE:g}" width="{wide:g}" height="{HEIGHT - 1}" '
        f'fill="{BACKGROUND}" style="animation-duration:{len(command) * TYPING:.2f}s;'
        f'animation-delay:{moment:.2f}s;animation-timing-function:steps({len(command)})"/>'
    )
    return _render_line(_render_prompt(command), number, moment) + cover


def _render_prompt(command: str) -> Text:
    return Text.assemble(("$", "green"), " ", (command, "bold"))


def _render_line(line: Text, number: int, moment: float) -> str:
    parts, column = [], 0
    for segment in line.render(Console(), end=""):
        if text := segment.text.strip(" "):
            start = column + len(segment.text) - len(segment.text.lstrip(" "))
            style = _name_style(segment.style or Style())
            parts.append(
                f'<tspan x="{LEFT + start * WIDTH:g}" textLength="{len(text) * WIDTH:g}"'
                f"{style}>{escape(text)}</tspan>"
            )
        column += len(segment.text)
    y = TOP + number * HEIGHT
    return f'<text y="{y}" class="l" style="animation-delay:{moment:.2f}s">{"".join(parts)}</text>'


def _name_style(style: Style) -> str:
    names = [name for name, given in (("b", style.bold), ("d", style.dim)) if given]
    if style.color and style.color.number in COLOURS:
        names.append(f"f{style.color.number}")
    return f' class="{" ".join(names)}"' if names else ""


def main(arguments: list[str]) -> int:
    picture = render(record())
    if arguments == ["--check"]:
        return int(picture != PICTURE.read_text(encoding="utf-8"))
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(picture, encoding="utf-8")
    print(f"wrote {PICTURE.relative_to(ROOT)}: {len(picture):,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
