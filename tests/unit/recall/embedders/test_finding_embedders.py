"""Embedders are found by name; built-in ones come through the same door as others."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from mnemos.errors import InvalidInput, MnemosError, ModelUnavailable
from mnemos.recall import embedders
from mnemos.recall.embedders import embedder
from mnemos.settings import Model

PYPROJECT = Path(__file__).parents[4] / "pyproject.toml"


class Counting:
    """An embedder of somebody else: how many letters and how many words."""

    kind = "model"
    dim = 2

    def __init__(self, model: Model) -> None:
        self.model = model
        self.name = f"counting:{model.model}"

    def embed(self, texts: list[str]) -> NDArray[np.float32]:
        return np.array([(len(text), len(text.split())) for text in texts], np.float32).reshape(-1, 2)


def declare(monkeypatch: pytest.MonkeyPatch, **values: str) -> None:
    entries = [EntryPoint(name, value, embedders.GROUP) for name, value in values.items()]
    monkeypatch.setattr(embedders, "_entry_points", lambda: entries)


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


def test_the_built_in_names_are_those_that_are_declared() -> None:
    with PYPROJECT.open("rb") as file:
        assert tomllib.load(file)["project"]["entry-points"][embedders.GROUP] == embedders.BUILT_IN


def test_importing_the_package_imports_no_numpy() -> None:
    assert run("import sys, mnemos.recall.embedders; print('numpy' in sys.modules)").strip() == "False"


def test_a_built_in_name_is_found_without_reading_entry_points(monkeypatch: pytest.MonkeyPatch) -> None:
    def never() -> list[EntryPoint]:
        pytest.fail("the entry points were read")

    monkeypatch.setattr(embedders, "_entry_points", never)
    assert embedder("static").kind == "static"


def test_the_entry_points_of_installed_packages_are_read() -> None:
    assert {entry.group for entry in embedders._entry_points()} <= {embedders.GROUP}


def test_a_declared_embedder_is_made_with_what_was_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    declare(monkeypatch, counting=f"{__name__}:Counting")
    monkeypatch.setitem(sys.modules, __name__, sys.modules[Counting.__module__])
    made = embedder("counting:big:v2", base_url="http://127.0.0.1:1", api_key="k", timeout=2.0)
    assert made.name == "counting:big:v2"
    assert made.model == Model("http://127.0.0.1:1", "big:v2", "k", 2.0)  # type: ignore[attr-defined]


def test_a_declared_name_cannot_replace_a_built_in_one(monkeypatch: pytest.MonkeyPatch) -> None:
    declare(monkeypatch, static=f"{__name__}:Counting")
    assert embedder("static").kind == "static"


@pytest.mark.parametrize("spec", ["", "statik", ":model", "onnx2:x", "none of these"])
def test_an_unknown_name_is_invalid_input_that_tells_the_known_ones(
    monkeypatch: pytest.MonkeyPatch, spec: str
) -> None:
    declare(monkeypatch, counting="x:y")
    with pytest.raises(InvalidInput, match="counting, endpoint, none, onnx, static"):
        embedder(spec)


@pytest.mark.parametrize("place", ["no_such_package_here:make", "json:no_such_thing"])
def test_a_declared_embedder_that_cannot_be_loaded_is_unavailable(
    monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    declare(monkeypatch, broken=place)
    with pytest.raises(ModelUnavailable, match=place):
        embedder("broken")


def test_something_that_is_not_an_embedder_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    declare(monkeypatch, odd="builtins:repr")
    with pytest.raises(InvalidInput, match="odd"):
        embedder("odd")


def test_without_numpy_the_error_is_one_of_ours() -> None:
    code = (
        "import sys; sys.modules['numpy'] = None\n"
        "from mnemos.recall.embedders import embedder\n"
        "from mnemos.errors import MnemosError\n"
        "try: embedder('static')\n"
        "except MnemosError as exc: print(exc.code)"
    )
    assert run(code).strip() == "model_unavailable"


@pytest.mark.parametrize("spec", ["onnx", "onnx:", "endpoint", "endpoint:", "endpoint:some-model"])
def test_the_missing_part_of_a_name_is_reported(spec: str) -> None:
    with pytest.raises(MnemosError):
        embedder(spec)
