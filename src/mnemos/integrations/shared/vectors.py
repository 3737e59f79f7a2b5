"""Vectors of a caller's embedder, kept with an entry."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence


def pack_vector(vector: Sequence[float]) -> str:
    """Encode a vector as text."""
    # Imported here, because numpy is slow to import and only needed with an embedder.
    import numpy as np

    return base64.b85encode(np.asarray(vector, np.float32).tobytes()).decode()


def best_cosine(packed: Iterable[str], question: Sequence[float]) -> float | None:
    """Return the highest cosine of vectors with a question's; None without vectors."""
    import numpy as np

    asked = np.asarray(question, np.float32)
    cosines = []
    for one in packed:
        vector = np.frombuffer(base64.b85decode(one), np.float32)
        lengths = float(np.linalg.norm(vector) * np.linalg.norm(asked))
        cosines.append(float(vector @ asked) / lengths if lengths else 0.0)
    return max(cosines, default=None)
