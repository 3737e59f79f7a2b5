"""Both engines have every query that the shared stores run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import mnemos.storage

STORAGE = Path(mnemos.storage.__file__).parent
USED = re.compile(r"\b_?sql\.([a-z_]+)")
NAMED = re.compile(r"^-- name: (\w+)$", re.MULTILINE)
SOURCES = {
    "audit": ["stores/audit.py"],
    "entries": ["stores/entries.py"],
    "facts": ["stores/facts.py"],
    "imports recalls tombstones": ["stores/ledgers.py"],
    "passages": ["stores/passages.py"],
    "search": ["search.py"],
    "sessions": ["stores/sessions.py"],
    "vectors": ["stores/vectors.py", "nearest.py"],
}


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_no_engine_lacks_a_query_of_a_shared_store(engine: str) -> None:
    missing = {}
    for files, modules in SOURCES.items():
        used = {name for module in modules for name in USED.findall((STORAGE / module).read_text())}
        texts = [(STORAGE / engine / "sql" / f"{file}.sql").read_text() for file in files.split()]
        named = set(NAMED.findall("\n".join(texts)))
        # Vectors are read as parts of chunks where there are queries for that.
        used -= {"codes"} if "slices" in named else set()
        if used - named:
            missing[files] = sorted(used - named)
    assert missing == {}


def test_every_query_of_a_space_names_the_space() -> None:
    """Row-level security would catch a query that forgets it, but only by finding nothing."""
    folder = STORAGE / "postgres" / "sql"
    spaceless = []
    for file in " ".join(SOURCES).split():
        parts = re.split(r"^-- name: (\w+)$", (folder / f"{file}.sql").read_text(), flags=re.MULTILINE)
        for name, text in zip(parts[1::2], parts[2::2], strict=True):
            tables = len(re.findall(r"\bmnemos\.\w+", text))
            mentions = len(re.findall(r"\bspace = |:space|\(\s*space\b|, space\b", text))
            if tables > mentions:
                spaceless.append(f"{file}.{name}")
    assert spaceless == []
