"""Data that a child and the test that checks its work share."""

from __future__ import annotations

from typing import Any

IMPORTED: list[dict[str, Any]] = [
    {
        "id": f"imported{number}",
        "source": "import",
        "started_at": 1_700_000_000.0,
        "messages": [
            {"role": "user", "content": f"import{number} line {line}", "timestamp": 1_700_000_000.0 + line}
            for line in range(450)
        ],
    }
    for number in range(3)
]
