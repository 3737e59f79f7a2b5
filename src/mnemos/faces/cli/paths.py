"""``mnemos import PATH``: which command is meant by what the file is."""

from __future__ import annotations

import os
from pathlib import Path

import click

_PACKED = (".tar", ".tar.gz", ".tar.zst")


def kind_of_path(text: str) -> str | None:
    """The command that imports a file or folder; None for a word that names none."""
    path = Path(text)
    try:
        path = path.expanduser()
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        if path.name != text or path.suffix:
            raise click.UsageError(f"there is no file or folder {text}") from None
        return None
    except OSError as exc:
        raise click.UsageError(f"{text:.200} cannot be read: {exc.strerror}") from None
    except (RuntimeError, ValueError):
        return None
    if not os.access(path, os.R_OK):
        raise click.UsageError(f"{text} cannot be read: permission denied")
    # Reading into files of many formats: only for who names one.
    from mnemos.transfer.import_formats import detect_kind

    kind = detect_kind(path.absolute())
    if kind is None and text.endswith(_PACKED):
        # Damaged, perhaps: who reads it can say how.
        return "archive"
    if kind is None:
        raise click.UsageError(
            f"what {text} holds is not known: say it, as in `mnemos import chatgpt {text}`"
        )
    return kind
