"""A memory comes back from an archive unchanged, and importing twice adds nothing."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from archives import manifest_of, state_of
from hypothesis import given
from hypothesis import strategies as st

import mnemos
from mnemos.errors import MnemosError
from mnemos.testing import FixedClock

NAMES = st.sampled_from(["a", "b", "c.d", "Ü", "日本"])
TEXTS = st.text(st.characters(), max_size=30)
CONTENTS = st.text(
    st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp")), min_size=1, max_size=40
).filter(lambda text: bool(text.strip()))
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)

MESSAGES = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "tool", "system"]), "content": st.none() | TEXTS},
    optional={
        "tool_name": NAMES, "tool_calls": JSON, "tool_call_id": NAMES, "token_count": st.integers(0, 10**6),
        "timestamp": st.floats(-1e9, 1e10), "metadata": JSON,
    },
)  # fmt: skip

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("session"), NAMES, st.none() | NAMES, st.none() | NAMES, JSON),
        st.tuples(st.just("messages"), NAMES, st.lists(MESSAGES, min_size=1, max_size=4)),
        st.tuples(st.just("end"), NAMES),
        st.tuples(st.just("archive"), NAMES),
        st.tuples(st.just("forget"), st.integers(0, 10)),
        st.tuples(st.just("delete"), NAMES),
        st.tuples(
            st.just("fact"), st.sampled_from("CDV?✓~"), NAMES, CONTENTS, st.none() | NAMES, st.none() | NAMES
        ),
        st.tuples(st.just("tick"), st.integers(0, 20), st.sampled_from(["", "a is done", "c.d merged"])),
        st.tuples(st.just("purge"), NAMES),
        st.tuples(st.just("entry"), NAMES, NAMES, TEXTS, st.dictionaries(TEXTS, JSON, max_size=2)),
        st.tuples(st.just("unset"), NAMES, NAMES),
        st.tuples(st.just("note"), CONTENTS, st.sampled_from(["memory", "user"])),
        st.tuples(st.just("later"), st.floats(0, 1e6)),
    ),
    max_size=25,
)


def do(memory: mnemos.Memory, clock: FixedClock, step: tuple[Any, ...]) -> None:
    match step:
        case "session", name, parent, title, metadata:
            memory.sessions.create_session(
                name, "cli", parent_session_id=parent, title=title, metadata=metadata
            )
        case "messages", name, messages:
            memory.sessions.append_messages(name, messages)
        case "end", name:
            memory.sessions.end_session(name, "done")
        case "archive", name:
            memory.sessions.archive(name)
        case "forget", number:
            memory.sessions.forget_message(number)
        case "delete", name:
            memory.sessions.delete_session(name)
        case "fact", mark, target, content, scope, session:
            newest = memory.sessions.get_messages(session)[-1]["id"] if session else None
            memory.facts.write(
                f"{mark}[{target}]: {content}", scope=scope, session_id=session, message_id=newest
            )
        case "tick", turn, message:
            memory.facts.tick(turn, message)
        case "purge", scope:
            memory.facts.purge(scope=scope)
        case "entry", user, key, value, metadata:
            memory.entries.store(user, key, value, metadata)
        case "unset", user, key:
            memory.entries.delete(user, key)
        case "note", content, target:
            memory.notebook.add(content, target=target)
        case "later", seconds:
            clock.advance(seconds)


@given(steps=STEPS, name=st.sampled_from(["a.tar.zst", "a.tar", "a.tar.gz", "folder"]))
def test_whatever_was_done_comes_back_exactly(steps: list[tuple[Any, ...]], name: str) -> None:
    clock = FixedClock()
    options: dict[str, Any] = {"embedder": "none", "redact": False}
    with tempfile.TemporaryDirectory() as root:
        archive = Path(root) / name
        with mnemos.open(f"{root}/first", clock=clock, **options) as memory:
            for step in steps:
                try:
                    do(memory, clock, step)
                except (MnemosError, IndexError):
                    # A refused archive leaves the memory as it was.
                    continue
            memory.export(archive)
            expected = state_of(memory)
            memory.export(f"{root}/plain")
            assert not memory.import_archive(archive).is_new
        with mnemos.open(f"{root}/second", **options) as memory:
            report = memory.import_archive(archive)
            assert sum(part.not_taken for part in report.parts) == 0
            assert state_of(memory) == expected
            assert memory.compare_archive(archive).holds_all
            assert not memory.import_archive(archive).is_new
            assert state_of(memory) == expected
            memory.export(f"{root}/again")
        assert manifest_of(Path(root) / "again")["files"] == manifest_of(Path(root) / "plain")["files"]
