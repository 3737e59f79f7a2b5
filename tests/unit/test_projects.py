"""The project of a folder: its repository, or the folder itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from mnemos.projects import find_project, find_repository, match_projects, name_project


def test_a_folder_in_a_repository_belongs_to_its_root(tmp_path: Path) -> None:
    (tmp_path / "web" / ".git").mkdir(parents=True)
    inside = tmp_path / "web" / "src" / "deep"
    inside.mkdir(parents=True)
    assert find_project(inside) == find_project(tmp_path / "web") == str(tmp_path / "web")


def test_a_folder_outside_of_any_repository_is_its_own_project(tmp_path: Path) -> None:
    assert find_project(tmp_path) == str(tmp_path)
    assert find_project(f"{tmp_path}/a/../b/") == str(tmp_path / "b")


def test_a_folder_of_another_machine_is_its_own_project() -> None:
    assert find_project("/nowhere/on/this/machine") == "/nowhere/on/this/machine"
    assert find_project("C:\\work\\web") == "C:\\work\\web"


def test_a_worktree_belongs_to_its_repository(tmp_path: Path) -> None:
    worktree = tmp_path / "web-fix"
    worktree.mkdir()
    (worktree / ".git").write_text(f"gitdir: {tmp_path}/web/.git/worktrees/web-fix\n")
    assert find_project(worktree) == str(tmp_path / "web")


def test_a_submodule_is_a_project_of_its_own(tmp_path: Path) -> None:
    module = tmp_path / "web" / "lib"
    (tmp_path / "web" / ".git").mkdir(parents=True)
    module.mkdir()
    (module / ".git").write_text("gitdir: ../.git/modules/lib\n")
    assert find_project(module) == str(module)


def test_the_home_folder_is_not_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".git").mkdir()
    assert find_project(tmp_path) is None
    assert find_project("/") is None
    assert find_project(tmp_path / "notes") == str(tmp_path / "notes")


@pytest.mark.parametrize("folder", [None, "", "  ", "web", "/a\0b", "/a\nb", "/" + "x" * 600])
def test_what_is_not_a_path_is_not_a_project(folder: str | None) -> None:
    assert find_project(folder) is None


@pytest.mark.parametrize(
    ("project", "name"),
    [("/src/web", "web"), ("/src/web/", "web"), ("C:\\work\\web", "web"), ("/src/日本 web", "日本 web")],
)
def test_people_call_a_project_by_its_last_folder(project: str, name: str) -> None:
    assert name_project(project) == name


def test_a_project_is_named_by_its_path_or_its_last_folder(tmp_path: Path) -> None:
    known = ["/src/web", "/old/Web", "/src/api", str(tmp_path)]
    assert match_projects("/src/web", known) == ["/src/web"]
    assert match_projects("web", known) == ["/src/web", "/old/Web"]
    assert match_projects("API", known) == ["/src/api"]
    assert match_projects("work", known) == []
    assert match_projects(f"{tmp_path}/.", known) == [str(tmp_path)]


@pytest.mark.parametrize(
    "url",
    ["git@example.com:Team/web.git", "https://example.com/team/web", "ssh://git@example.com/team/web.git/"],
)
def test_a_repository_is_known_by_its_origin(tmp_path: Path, url: str) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text(f'[core]\n\tbare = false\n[remote "origin"]\n\turl = {url}\n')
    assert find_repository(str(tmp_path)) == "example.com/team/web"
    assert find_repository(str(tmp_path / "nowhere")) is None
