"""A home that is synced with the memory of a server."""

from __future__ import annotations

from pathlib import Path

import pytest

import mnemos
from mnemos.errors import MnemosError, NotAllowed
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
