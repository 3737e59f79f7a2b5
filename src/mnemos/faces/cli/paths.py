"""``mnemos import PATH``: which command is meant by what the file is."""

from __future__ import annotations

from pathlib import Path

import click

_PACKED = (".tar", ".tar.gz", ".tar.zst")


def kind_of_path(text: str) -> str | None:
    """The command that imports a file or folder; None for a word that names none."""
    path = Path(text)
    try:
        path = path.expanduser()
        is_there = path.exists()
    except (RuntimeError, ValueError, OSError):
        return None
    if not is_there:
        if path.name != text:
            raise click.UsageError(f"there is no file {text}")
        return None
    # Reading into files of many formats: only for who names one.
    from mnemos.imports.sniffing import kind_of

    kind = kind_of(path.absolute())
    if kind is None and text.endswith(_PACKED):
        # Damaged, perhaps: who reads it can say how.
        return "archive"
    if kind is None:
        raise click.UsageError(
            f"what {text} holds is not known: say it, as in `mnemos import chatgpt {text}`"
        )
    return kind
