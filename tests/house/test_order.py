"""The order of the packages: what CONTRIBUTING draws is what import-linter checks, and nothing goes round."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CONTRACTS = PROJECT["tool"]["importlinter"]["contracts"]
# Below the ten tiers: small modules that know nothing of memory.
FOUNDATION = 1
# Neither is part of the product: what other people's tests import, and how `python -m mnemos` starts.
OUTSIDE = {"testing", "__init__", "__main__"}


def _tiers() -> list[set[str]]:
    (layers,) = (contract["layers"] for contract in CONTRACTS if contract["type"] == "layers")
    return [{name.removeprefix("mnemos.") for name in re.split(r" [:|] ", layer)} for layer in layers]


def _drawn() -> list[set[str]]:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    drawing = re.search(r"```text\n(faces.*?)```", page, re.DOTALL)
    assert drawing is not None
    return [set(re.split(r"\s{2,}", line)[0].split(", ")) for line in drawing[1].splitlines()]


def test_contributing_draws_the_tiers_that_are_checked() -> None:
    assert _drawn() == _tiers()


def test_there_are_ten_tiers_of_whole_packages() -> None:
    tiers = _tiers()
    assert len(tiers) == 10 + FOUNDATION
    assert not any("." in name for tier in tiers for name in tier)


def test_every_package_is_in_a_tier() -> None:
    source = ROOT / "src" / "mnemos"
    packages = {path.parent.name for path in source.glob("*/__init__.py")}
    there = packages | {path.stem for path in source.glob("*.py")}
    assert there - OUTSIDE == set().union(*_tiers())


def test_packages_do_not_import_each_other_in_a_circle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "scripts")
    from package_graph import find_cycles, package_graph

    graph = package_graph()
    assert find_cycles(graph) == []
    graph["text"]["faces"] += 1
    assert find_cycles(graph), "a circle that is there must be found"


def test_adapters_for_frameworks_do_not_reach_into_the_storage() -> None:
    folder = ROOT / "src" / "mnemos" / "integrations"
    adapters = [*folder.glob("*.py"), *(folder / "shared").glob("*.py")]
    assert len(adapters) > 15
    assert [path.name for path in adapters if "mnemos.storage" in path.read_text(encoding="utf-8")] == []
