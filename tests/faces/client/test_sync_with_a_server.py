"""A home that is synced with the memory of a server."""

from __future__ import annotations

from pathlib import Path

import pytest

import mnemos
from mnemos.errors import MnemosError, NotAllowed, Refused
from mnemos.memory.access_tokens import create_token
from mnemos.operations import registry

from ..http.servers import serving


def test_a_home_and_a_server_have_the_same_after_a_sync(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with mnemos.open(tmp_path / "there", embedder="none") as memory:
        memory.remember("My dog is called Rex.")
        memory.sessions.create_session("s", "cli")
        memory.sessions.append_messages("s", [{"role": "user", "content": f"m{n} 🚀"} for n in range(600)])
    with (
        serving(tmp_path / "there") as server,
        mnemos.open(tmp_path / "here", embedder="none", files="/") as here,
    ):
        here.remember("I live in Berlin.")
        monkeypatch.setenv("MNEMOS_TOKEN", server.token)
        url = f"http://127.0.0.1:{server.port}"
        done = registry.call(here, "sync_with", {"other": url})
        assert done["is_same"]
        assert done["received"]["added"] == {"sessions": 1, "messages": 600, "facts": 1}
        assert done["sent"]["added"] == {"facts": 1}
        assert registry.call(here, "sync_with", {"other": url, "dry_run": True})["different"] == {}
        with mnemos.open(url, token=server.token) as there:
            assert {fact.content for fact in there.facts.list()} == {
                "My dog is called Rex.",
                "I live in Berlin.",
            }
            with pytest.raises(MnemosError):
                there.call("sync_answer", {"request": '{"ask": "merge", "items": [{}]}'})
        monkeypatch.setenv("MNEMOS_TOKEN", "wrong")
        with pytest.raises(NotAllowed):
            registry.call(here, "sync_with", {"other": url})


def test_a_model_cannot_send_the_memory_to_another_machine(tmp_path: Path) -> None:
    with mnemos.open(tmp_path / "here", embedder="none") as here:
        for other in ("ssh://studio", "https://example.com"):
            with pytest.raises(MnemosError, match="Only a person"):
                here.call("sync_with", {"other": other})


def test_a_token_that_may_not_delete_sends_no_deletions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with mnemos.open(tmp_path / "there", embedder="none") as memory:
        memory.sessions.create_session("s", "cli")
        _, token = create_token(memory.settings, "laptop", "write", now=memory.clock())
    with (
        serving(tmp_path / "there") as server,
        mnemos.open(tmp_path / "here", embedder="none", files="/") as here,
    ):
        monkeypatch.setenv("MNEMOS_TOKEN", token)
        other = {"other": f"http://127.0.0.1:{server.port}"}
        assert registry.call(here, "sync_with", other)["is_same"]
        here.sessions.delete_session("s")
        with pytest.raises(NotAllowed, match="deleted here"):
            registry.call(here, "sync_with", other)
        monkeypatch.setenv("MNEMOS_TOKEN", server.token)
        assert registry.call(here, "sync_with", other)["sent"]["removed"] == {"sessions": 1}


def test_a_folder_that_is_a_home_is_not_written_to(tmp_path: Path) -> None:
    with mnemos.open(tmp_path / "here", embedder="none", files="/") as here, pytest.raises(Refused):
        registry.call(here, "sync_with", {"other": str(tmp_path / "here")})
    assert not (tmp_path / "here" / "mnemos-sync").exists()
