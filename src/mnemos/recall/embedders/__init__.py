"""Texts to vectors. Importing this imports no numpy: that happens when an embedder is made."""

from __future__ import annotations

from mnemos.recall.embedders.base import Embedder, embedder

__all__ = ["Embedder", "embedder"]
