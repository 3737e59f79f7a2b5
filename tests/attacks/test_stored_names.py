"""Secrets in names: ids, keys, tools, models, branches, reasons, and whatever else a caller passes."""

from __future__ import annotations

import json
import random
import string
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import mnemos
from mnemos import Memory
from mnemos.errors import Refused
from mnemos.templates.template import SessionTemplate, TaskType, ToolCallExample
from mnemos.testing import FixedClock
from mnemos.transfer.import_writer import ImportWriter
from mnemos.transfer.reader import Conversation, ImportedMessage, ImportReport, Mark

Attempts = Callable[[int], None]

CHANCE = random.Random(6)


def make_token() -> str:
    # Put together here, so that no scanner takes this file for a leak.
    return "gh" + "p_" + "".join(CHANCE.choices(string.ascii_letters + string.digits, k=36))


@pytest.fixture
def memory(home: Path) -> Iterator[Memory]:
    with mnemos.open(home, clock=FixedClock(), embedder="none", backend="local") as opened:
        opened.sessions.create_session("s", "cli")
        yield opened


def find_bytes(home: Path, tokens: list[str]) -> list[str]:
    stored = b"".join(path.read_bytes() for path in sorted(home.rglob("*")) if path.is_file())
    return [token for token in tokens if token.encode() in stored]


# Names of things that are looked up: another name would be another thing, so these are refused.
REFUSED: dict[str, Callable[[Memory, str], object]] = {
    "session id": lambda memory, secret: memory.sessions.create_session(secret, "cli"),
    "user of a session": lambda memory, secret: memory.sessions.create_session("u", "cli", user_id=secret),
    "parent": lambda memory, secret: memory.sessions.create_session("p", "cli", parent_session_id=secret),
    "session id, ensured": lambda memory, secret: memory.sessions.ensure_session(secret, "cli"),
    "entry key": lambda memory, secret: memory.entries.store("anna", f"key {secret}", "v"),
    "user of an entry": lambda memory, secret: memory.entries.store(secret, "k", "v"),
    "target": lambda memory, secret: memory.facts.write(f"V[{secret}]: 5"),
    "scope": lambda memory, secret: memory.facts.remember("I like tea", scope=secret),
    "user of a fact": lambda memory, secret: memory.facts.remember("I like tea", user_id=secret),
    "session of a fact": lambda memory, secret: memory.facts.remember("I like tea", session_id=secret),
    "session of a turn": lambda memory, secret: memory.facts.tick(1, "hello", session_id=secret),
    "note": lambda memory, secret: memory.notebook.add(f"the key is {secret}"),
    "template name": lambda memory, secret: memory.templates.save(template(name=secret)),
    "template tag": lambda memory, secret: memory.templates.save(template(tags=[secret])),
    "template description": lambda memory, secret: memory.templates.save(template(description=secret)),
}


def template(**given: Any) -> SessionTemplate:
    fields: dict[str, Any] = {"name": "t", "examples": [ToolCallExample("ls", {}, "a", success=True)]}
    return SessionTemplate(task_type=TaskType.MIXED, **(fields | given))


@pytest.mark.parametrize("what", REFUSED)
def test_the_name_of_a_thing_that_holds_a_secret_is_refused(what: str, memory: Memory, home: Path) -> None:
    secret = make_token()
    with pytest.raises(Refused) as caught:
        REFUSED[what](memory, secret)
    assert secret not in str(caught.value)
    memory.close()
    assert find_bytes(home, [secret, secret.lower()]) == []


# A description is stored without the secret: a host must not lose a message to a tool's name.
def describe(memory: Memory, secret: Callable[[], str]) -> None:
    sessions = memory.sessions
    sessions.create_session(
        "d",
        source=secret(),
        model=secret(),
        model_config={"key": secret()},
        system_prompt=secret(),
        title=secret(),
        metadata={secret(): secret()},
        project=f"/srv/{secret()}",
        branch=secret(),
    )
    sessions.append_message("d", "tool", "x", tool_name=secret(), tool_call_id=secret())
    sessions.append_message("d", "user", "x", metadata={"a": [secret()]})
    sessions.append_message("d", "assistant", tool_calls=[{"id": secret(), "function": {"name": secret()}}])
    sessions.append_messages("d", [{"role": "tool", "content": "x", "tool_name": secret()}])
    sessions.append_messages("d", [{"role": "tool", "content": "x", "tool_call_id": secret()}])
    sessions.append_messages("d", [{"role": "user", "content": [{"type": "text", "text": secret()}]}])
    sessions.end_session("d", f"stopped: {secret()}")
    sessions.create_session("e", "cli")
    sessions.end_session("e", secret())
    sessions.set_title("e", secret())
    sessions.update_system_prompt("e", secret())
    sessions.update_metadata("e", {"x": secret()})
    memory.entries.store("anna", "wifi", secret(), {"from": secret()})
    memory.facts.remember(f"The key of CI is {secret()}")
    example = ToolCallExample(secret(), {"a": secret()}, secret(), success=True)
    memory.templates.save(template(examples=[example]))


def test_what_describes_a_thing_is_stored_without_its_secret(
    memory: Memory, home: Path, attempts: Attempts
) -> None:
    tokens: list[str] = []

    def secret() -> str:
        tokens.append(make_token())
        return tokens[-1]

    describe(memory, secret)
    attempts(len(tokens))
    session = memory.sessions.get_session("d")
    assert session is not None
    assert session["source"] == session["model"] == session["branch"] == "[redacted: GitHub token]"
    assert session["project"] == "/srv/[redacted: GitHub token]"
    assert session["end_reason"] == "stopped: [redacted: GitHub token]"
    named = memory.sessions.get_messages("d")
    assert [one["tool_name"] for one in named if one["tool_name"]] == ["[redacted: GitHub token]"] * 2
    memory.close()
    assert len(tokens) >= 25
    assert find_bytes(home, tokens) == []


def test_a_value_is_judged_together_with_its_key(memory: Memory, home: Path) -> None:
    memory.entries.store("anna", "wifi password", "maple44leaf")
    memory.facts.write("V[router.password]: maple55leaf")
    entry = memory.entries.retrieve("anna", "wifi password")
    assert entry is not None
    assert entry.value == "[redacted: password]"
    memory.close()
    assert find_bytes(home, ["maple44leaf", "maple55leaf"]) == []


def export_of(*names: str) -> list[dict[str, Any]]:
    session, user, parent, role, tool = names
    message = {"role": role, "content": "hello", "tool_name": tool, "timestamp": 1.0}
    return [
        {"id": parent, "source": "x", "messages": [dict(message, role="user")]},
        {"id": session, "source": "x", "user_id": user, "parent_session_id": parent, "messages": [message]},
    ]


def test_an_imported_id_loses_its_secret_and_stays_unique(memory: Memory, home: Path) -> None:
    tokens = [make_token() for _ in range(5)]
    lines = [json.dumps(session) for session in export_of(*tokens)]
    first = memory.sessions.import_jsonl(lines)
    assert len(set(first["imported"])) == 2
    again = memory.sessions.import_jsonl(lines)
    assert again["imported"] == []
    child = memory.sessions.get_session(first["imported"][1])
    assert child is not None
    assert child["parent_session_id"] == first["imported"][0]
    assert memory.sessions.get_messages(child["id"])[0]["content"] == "hello"
    memory.close()
    assert find_bytes(home, tokens) == []


def test_a_conversation_of_another_program_loses_the_secrets_of_its_names(memory: Memory, home: Path) -> None:
    tokens = [make_token() for _ in range(6)]
    session, source, model, tool, branch, title = tokens
    about = Conversation(session, source, model=model, title=title, metadata={"git_branch": branch})
    fields = {"role": "user", "content": "hello", "tool_name": tool, "timestamp": 1.0}
    items = [about, ImportedMessage(session, "m1", fields), Mark(1, 1)]
    for count in (1, 0):
        report = ImportReport("x", "file")
        writer = ImportWriter(memory.storage, memory.settings, 2.0, "x", report)
        list(writer.store("file", items, None))
        assert report.messages == count
    memory.close()
    assert find_bytes(home, tokens) == []


def test_an_archive_loses_the_secrets_of_its_names(tmp_path: Path, attempts: Attempts) -> None:
    tokens = [make_token() for _ in range(8)]
    session, user, key, owner, target, scope, maker, agent = tokens
    with mnemos.open(tmp_path / "a", clock=FixedClock(), backend="local", redact=False) as old:
        old.sessions.create_session(session, "cli", user_id=user)
        old.sessions.append_message(session, "user", "hello")
        old.entries.store(owner, key, "v")
        old.facts.write(f"V[{target}]: 5", session_id=session)
        old.facts.write("V[host]: db", user_id=maker, session_id=agent)
        old.facts.write("V[colour]: blue")
        old.facts.write("V[port]: 6", scope=scope)
        old.export(tmp_path / "archive.tar.zst")
    attempts(len(tokens))
    with mnemos.open(tmp_path / "b", clock=FixedClock(), backend="local") as new:
        for _ in range(2):
            new.import_archive(tmp_path / "archive.tar.zst")
        assert new.sessions.session_count() == 1
        assert new.entries.count() == 1
        assert {fact.target for fact in new.facts.list()} == {"host", "colour"}
    assert find_bytes(tmp_path / "b", tokens) == []


def test_a_memory_that_redacts_nothing_keeps_names_as_they_are(home: Path) -> None:
    with mnemos.open(home, clock=FixedClock(), backend="local", redact=False) as memory:
        secret = make_token()
        memory.sessions.create_session(secret, secret, model=secret)
        memory.sessions.append_message(secret, "tool", "x", tool_name=secret)
        memory.entries.store(secret, secret, secret)
        assert memory.sessions.get_messages(secret)[0]["tool_name"] == secret
        assert memory.entries.list_keys(secret) == [secret]
