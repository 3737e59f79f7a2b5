"""Paths as people write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from mnemos.operations.texts import render_path


@pytest.mark.parametrize(
    ("path", "rendered"),
    [("person/notes/a b.txt", "~/notes/a b.txt"), ("person-2/notes", None), ("elsewhere", None)],
)
def test_a_path_in_the_users_folder_begins_with_a_tilde(
    path: str, rendered: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    assert render_path(tmp_path / path) == (rendered or str(tmp_path / path))


def test_without_a_users_folder_the_path_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    def home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", home)
    assert render_path("/srv/data") == "/srv/data"
