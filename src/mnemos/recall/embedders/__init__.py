"""Embedders, which turn texts into vectors, and the lookup of one by name.

``static`` is the default; ``onnx:MODEL`` runs a transformer (extra ``mnemos[onnx]``), ``endpoint:MODEL`` asks
a server. Any other name is looked up in the entry points ``mnemos.embedders``, where these three are declared
too. A package adds its own with

    [project.entry-points."mnemos.embedders"]
    mine = "my_package:make"

where ``make`` takes a ``mnemos.settings.Model`` (``model`` is the part after the colon) and returns an
``Embedder``. Importing this package doesn't import numpy; making an embedder does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

from mnemos.errors import InvalidInput, ModelUnavailable
from mnemos.inputs import suggest
from mnemos.settings import Model

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    import numpy as np
    from numpy.typing import NDArray

GROUP = "mnemos.embedders"

# Repeated from pyproject.toml, because reading the entry points takes 45 ms.
BUILT_IN = {
    "static": "mnemos.recall.embedders.static:make",
    "onnx": "mnemos.recall.embedders.onnx:make",
    "endpoint": "mnemos.recall.embedders.endpoint:make",
}


class Embedder(Protocol):
    """Turns texts into vectors that are close if the texts have a similar meaning.

    Threads may share one. Any failure raises Unavailable.
    """

    @property
    def name(self) -> str:
        """The name stored with the vectors. Vectors of different names can't be compared."""

    @property
    def kind(self) -> str:
        """``static`` or ``model``, as the ``mode`` of an answer shows it."""

    @property
    def dim(self) -> int:
        """The number of dimensions."""

    def embed(self, texts: list[str]) -> NDArray[np.float32]:
        """Return a row of length 1 per text, in order, or zeros for a text without known words.

        No texts give an array of shape ``(0, dim)``.
        """


Factory = Callable[[Model], Embedder]


def embedder(spec: str, *, base_url: str = "", api_key: str = "", timeout: float = 60.0) -> Embedder:
    """Make the embedder ``NAME`` or ``NAME:MODEL``. Other arguments are for servers.

    An unknown name raises InvalidInput. A known one whose package or file is missing raises ModelUnavailable.
    """
    name, _, model = spec.strip().partition(":")
    made = _factory(name)(Model(base_url, model.strip(), api_key, timeout))
    if not callable(getattr(made, "embed", None)):
        raise InvalidInput(f"The plug-in {name!r} made a {type(made).__name__}, which is not an embedder.")
    return made


def _factory(name: str) -> Factory:
    if name in BUILT_IN:
        return _built_in(BUILT_IN[name])
    declared = {entry.name: entry for entry in _entry_points()}
    if name not in declared:
        known = sorted({*BUILT_IN, *declared, "none"})
        raise InvalidInput(f"There is no embedder {name!r}.{suggest(name, known)} Use {', '.join(known)}.")
    try:
        factory: Factory = declared[name].load()
    except (ImportError, AttributeError) as exc:
        raise ModelUnavailable(
            f"The embedder {name!r} cannot be loaded from {declared[name].value}: {exc}"
        ) from exc
    return factory


def _built_in(place: str) -> Factory:
    module, _, attribute = place.partition(":")
    try:
        factory: Factory = getattr(import_module(module), attribute)
    except ImportError as exc:
        raise ModelUnavailable(f"Embedders need numpy: {exc}. Install mnemos again.") from exc
    return factory


def _entry_points() -> Iterable[EntryPoint]:
    # Imported here, because importlib.metadata is slow and built-in embedders don't need it.
    from importlib.metadata import entry_points

    return entry_points(group=GROUP)
