"""``plugin.yaml``: what a folder says about the plug-in in it.

Four plain keys are read: ``name``, ``version``, ``description`` and ``requirements``, which Hermes calls
``pip_dependencies``. A YAML library would be a dependency of everybody for the sake of that; what goes beyond
plain keys, texts and lists of texts is passed over.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mnemos.errors import InvalidInput

FILE: Final = "plugin.yaml"
_LARGEST: Final = 64 * 1024
_KEY: Final = re.compile(r"([A-Za-z_][\w-]*)[ \t]*:(?:[ \t]+(.*))?$")
_ITEM: Final = re.compile(r"[ \t]*-[ \t]+(.*)$")
_REQUIREMENTS: Final = ("requirements", "pip_dependencies")


@dataclass(frozen=True, slots=True)
class Manifest:
    name: str = ""
    version: str = ""
    description: str = ""
    requirements: tuple[str, ...] = ()
    """Packages as pip names them, such as ``honcho-ai>=1.2``."""


def read(folder: Path) -> Manifest:
    """The manifest of a folder. A file that is not there, too large or no text raises InvalidInput."""
    path = folder / FILE
    try:
        data = path.read_bytes()
    except OSError as exc:
        raise InvalidInput(f"{path} cannot be read: {exc.strerror}") from exc
    if len(data) > _LARGEST:
        raise InvalidInput(f"{path} has {len(data):,} bytes; at most {_LARGEST:,}")
    try:
        return parse(data.decode("utf-8-sig"))
    except UnicodeDecodeError as exc:
        raise InvalidInput(f"{path} is not UTF-8 text: {exc.reason} at byte {exc.start}") from exc


def parse(text: str) -> Manifest:
    keys: dict[str, str | list[str]] = {}
    current = ""
    for line in text.splitlines():
        if item := _ITEM.match(line):
            entries = keys.get(current)
            if isinstance(entries, list) and (one := _plain(item[1])):
                entries.append(one)
        elif found := _KEY.match(line):
            current = found[1]
            value = _without_comment(found[2] or "").strip()
            keys[current] = _listed(value) if not value or value.startswith("[") else _plain(value)
    return Manifest(
        **{name: _text(keys.get(name)) for name in ("name", "version", "description")},
        requirements=tuple(
            one for name in _REQUIREMENTS if isinstance(named := keys.get(name), list) for one in named
        ),
    )


def _listed(value: str) -> list[str]:
    inside = value.strip("[]")
    return [one for part in inside.split(",") if (one := _plain(part))]


def _plain(value: str) -> str:
    """A text without its quotes, or without what is a comment behind it."""
    value = value.strip()
    if value[:1] in ("'", '"'):
        return value[1:].partition(value[0])[0]
    return _without_comment(value).strip()


def _without_comment(value: str) -> str:
    return value if value[:1] in ("'", '"') else value.partition(" #")[0]


def _text(value: str | list[str] | None) -> str:
    return value if isinstance(value, str) else ""
