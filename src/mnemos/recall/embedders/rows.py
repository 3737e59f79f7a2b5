"""What the rows of every embedder have in common."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def to_length_one(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """The same array with every row brought to length 1; a row of zeros stays one."""
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    lengths[lengths == 0] = 1
    rows /= lengths[:, None]
    return rows
