"""Published metadata agrees everywhere: version, repository, Pythons, files."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

import mnemos

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SERVER = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
PYTHONS = [
    one.rpartition(" ")[2] for one in PROJECT["classifiers"] if re.fullmatch(r"Programming .* 3\.\d+", one)
]


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT / "scripts")
    import stamp_metadata

    return stamp_metadata


def test_version_and_repository_are_the_same_in_every_file(script: ModuleType) -> None:
    stale = [path.name for path, text in script.stamp().items() if path.read_text(encoding="utf-8") != text]
    assert stale == [], "run: python scripts/stamp_metadata.py"
    assert SERVER["version"] == mnemos.__version__


def test_another_organisation_is_changed_in_one_place(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("pyproject.toml", "server.json", "README.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        repository = f'Repository = "{PROJECT["urls"]["Repository"]}"'
        changed = text.replace(repository, 'Repository = "https://github.com/other-people/mnemos"')
        (tmp_path / name).write_text(changed, encoding="utf-8")
    monkeypatch.setattr(script, "ROOT", tmp_path)
    stamped = {path.name: text for path, text in script.stamp().items()}
    assert json.loads(stamped["server.json"])["name"] == "io.github.other-people/mnemos"
    assert "mcp-name: io.github.other-people/mnemos -->" in stamped["README.md"]
    former = PROJECT["urls"]["Repository"].split("/")[3]
    assert not any(f"{former}/mnemos" in text for text in stamped.values())


def test_the_registry_entry_starts_the_server_of_the_package() -> None:
    (package,) = SERVER["packages"]
    assert re.fullmatch(r"io\.github\.[\w-]+/mnemos", SERVER["name"])
    assert (package["identifier"], package["packageArguments"][0]["value"]) == ("mnemos", "mcp")
    assert len(SERVER["description"]) <= 100, "the registry takes no more"


def test_the_pythons_that_are_promised_are_tested() -> None:
    workflow = (ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8")
    matrix = re.search(r"python-version: (\[.*\])", workflow)
    assert matrix is not None
    assert json.loads(matrix[1]) == PYTHONS
    assert PROJECT["requires-python"] == f">={PYTHONS[0]}"
    images = re.findall(r"FROM python:([\d.]+)-slim", (ROOT / "Dockerfile").read_text(encoding="utf-8"))
    assert len(set(images)) == 1
    assert images[0] in PYTHONS


def test_workflows_run_only_targets_that_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        for targets in re.findall(r"run: make (.+)", path.read_text(encoding="utf-8")):
            assert [one for one in targets.split() if f"\n{one}:" not in makefile] == []


def test_no_file_of_the_package_names_the_host_of_a_registry() -> None:
    hosts = re.compile(r"(?:pypi|pythonhosted|npmjs)\.(?:org|com)|docker\.io|ghcr\.io")
    named = [
        ".github/**/*.*",
        "*.md",
        "*.toml",
        "*.json",
        "*.txt",
        "Dockerfile",
        "docs/**/*.md",
        "scripts/*.py",
    ]
    found = [
        path
        for pattern in named
        for path in ROOT.glob(pattern)
        if hosts.search(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_the_source_distribution_has_what_its_makefile_needs_and_no_weights() -> None:
    hatch = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]
    patterns = hatch["build"]["targets"]["sdist"]["include"]
    assert [one for one in patterns if not one.startswith("/")] == [], "they would match in other folders"
    missing = [one for one in patterns if "*" not in one and not (ROOT / one[1:]).exists()]
    assert missing == []
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (needed,) = re.findall(r"^\$\(STAMP\): (.*)$", makefile, re.MULTILINE)
    # pyproject.toml is always in it.
    files = [one for one in needed.split() if not one.startswith("$") and one != "pyproject.toml"]
    assert [one for one in files if f"/{one}" not in patterns] == []
    assert not any("reranker" in one for one in patterns)


def test_a_release_builds_the_package_that_the_extra_deep_needs() -> None:
    (needed,) = (one for one in PROJECT["optional-dependencies"]["deep"] if one.startswith("mnemos-deep"))
    built = tomllib.loads((ROOT / "reranker" / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert needed.startswith(built["name"])
    assert "build --outdir dist reranker" in (ROOT / "Makefile").read_text(encoding="utf-8")
