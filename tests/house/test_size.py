"""Size is a cost: each package has a budget, which only an ADR raises."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "mnemos"
BUDGET = tomllib.loads(Path(__file__).with_name("budget.toml").read_text(encoding="utf-8"))
LARGE = 1_500
LONGEST_MODULE = 500


def _sizes() -> dict[str, dict[str, int]]:
    sizes: dict[str, dict[str, int]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        package = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        size = sizes.setdefault(package, {"lines": 0, "files": 0})
        size["lines"] += path.read_bytes().count(b"\n")
        size["files"] += 1
    return sizes


def test_no_package_outgrows_its_budget() -> None:
    over = {
        f"{package} {what}": (number, BUDGET["packages"].get(package, {}).get(what, 0))
        for package, size in _sizes().items()
        if (SOURCE / package).is_dir()
        for what, number in size.items()
        if number > BUDGET["packages"].get(package, {}).get(what, 0)
    }
    assert not over, f"(now, budget): {over}; delete something, or write an ADR and raise the budget"


def test_the_whole_stays_within_its_budget() -> None:
    sizes = _sizes().values()
    assert sum(size["lines"] for size in sizes) <= BUDGET["all"]["lines"]
    assert sum(size["files"] for size in sizes) <= BUDGET["all"]["files"]


def test_a_large_package_is_accounted_for_in_an_adr() -> None:
    page = next((ROOT / "docs" / "adr").glob("*-size-is-a-cost.md")).read_text(encoding="utf-8")
    large = {name for name, size in _sizes().items() if size["lines"] > LARGE}
    assert {name for name in large if f"| `{name}` |" not in page} == set()


def test_no_module_is_too_long_to_read() -> None:
    lengths = {path: path.read_bytes().count(b"\n") for path in SOURCE.rglob("*.py")}
    assert {path: length for path, length in lengths.items() if length > LONGEST_MODULE} == {}
