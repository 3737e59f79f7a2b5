"""The public names of the package, and the cost of importing it."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import mnemos
import mnemos.entries
import mnemos.errors
import mnemos.integrations.providers
import mnemos.templates
import mnemos.testing
from mnemos import SessionDB
from mnemos.errors import InvalidInput

SESSION = (
    "session_id source model model_config system_prompt user_id parent_session_id title started_at metadata"
)
HEAVY = (
    "apsw",
    "numpy",
    "click",
    "msgspec",
    "rich",
    "sqlite3",
    "Stemmer",
    "pytest",
    "hypothesis",
    "asyncio",
    "anyio",
    "trio",
)


def test_the_public_names_are_these() -> None:
    assert mnemos.__all__ == [
        *(
            "AsyncClient",
            "AsyncMemory",
            "Fact",
            "Forgotten",
            "Kind",
            "LocalBackend",
            "Memory",
            "Message",
            "MessageHit",
        ),
        *("MnemosError", "Recall", "RecallHit", "Role", "Session", "SessionDB", "SessionTemplates"),
        *("Settings", "aopen", "evaluate_backends", "get_memory_backend", "open", "reset_backend"),
    ]
    for name in mnemos.__all__:
        assert getattr(mnemos, name) is not None
        assert name in dir(mnemos)


def test_dir_of_the_package_shows_its_names_and_modules() -> None:
    assert {"TYPE_CHECKING", "annotations", "lazily"}.isdisjoint(dir(mnemos))
    assert {"__version__", "errors", *mnemos.__all__} <= set(dir(mnemos))


def test_dir_of_a_memory_shows_what_users_need() -> None:
    with mnemos.open(":memory:") as memory:
        assert dir(memory) == sorted(
            "backup backups call close compare_archive database doctor entries export facts forget "
            "import_archive imports log notebook recall remember restore search sessions settings templates "
            "tools undo workspace".split()
        )
        for name in dir(memory):
            assert getattr(memory, name) is not None


def test_remember_search_and_forget_are_at_the_top() -> None:
    with mnemos.open(":memory:") as memory:
        (stored,) = memory.remember("The staging database listens on port 5433", scope="infra").facts
        assert memory.facts.get(stored.id).scope == "infra"
        memory.sessions.create_session("s", "cli")
        memory.sessions.append_message("s", "user", "Which queue did we choose?")
        assert [hit["session_id"] for hit in memory.search("queue", role="user", limit=1)] == ["s"]
        assert memory.search("queue", role="assistant") == []
        done = memory.forget("the staging database port")
        assert (done["forgotten"], done["permanent"]) == (True, False)
        assert [one["id"] for one in done["withdrawn"]] == [stored.id]
        memory.undo()
        assert len(memory.facts.list()) == 1
        assert memory.forget("session:s")["permanent"]
        assert memory.search("queue") == []


def test_the_testing_names_are_these() -> None:
    assert mnemos.testing.__all__ == ["FixedClock", "ProviderContract"]
    for name in mnemos.testing.__all__:
        assert getattr(mnemos.testing, name).__name__ == name


@pytest.mark.parametrize("package", [mnemos.entries, mnemos.integrations.providers, mnemos.templates])
def test_what_a_package_imports_when_it_is_asked_for_is_all_it_shows(package: Any) -> None:
    for name in package.__all__:
        # As at the first time; afterwards the package has it.
        assert package.__getattr__(name) is getattr(package, name)
        assert name in dir(package)


@pytest.mark.parametrize("module", [mnemos, mnemos.testing])
def test_an_unknown_name_is_an_attribute_error(module: object) -> None:
    with pytest.raises(AttributeError):
        _ = module.nothing_of_the_kind  # type: ignore[attr-defined]


def test_the_version_is_a_version() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", mnemos.__version__)


@pytest.mark.parametrize("statement", ["import mnemos", "from mnemos.testing import FixedClock"])
def test_importing_imports_nothing_heavy(statement: str) -> None:
    code = f"{statement}; import sys; print(*[name for name in {HEAVY!r} if name in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == []


def arguments(method: str) -> list[str]:
    return [name for name in inspect.signature(getattr(SessionDB, method)).parameters if name != "self"]


@pytest.mark.parametrize(
    ("method", "names"),
    [
        ("create_session", SESSION),
        ("ensure_session", SESSION),
        ("end_session", "session_id end_reason"),
        ("reopen_session", "session_id"),
        ("update_system_prompt", "session_id system_prompt"),
        ("update_token_counts", "session_id input_tokens output_tokens"),
        ("get_session", "session_id"),
        ("set_title", "session_id title"),
        ("resolve_session", "id_prefix_or_title"),
        (
            "append_message",
            "session_id role content tool_name tool_calls tool_call_id token_count timestamp metadata",
        ),
        ("append_messages", "session_id messages"),
        ("get_messages", "session_id"),
        ("get_messages_as_conversation", "session_id"),
        ("get_messages_around", "message_id before after"),
        (
            "search_messages",
            "query source_filter role_filter limit offset session_ids exclude_session_ids since until sort",
        ),
        ("search_sessions", "source limit offset"),
        ("session_count", "source"),
        ("message_count", "session_id"),
        ("get_lineage", "session_id"),
        ("get_tip", "session_id"),
        ("export_session", "session_id"),
        ("export_all", "source"),
        ("import_sessions", "sessions"),
        ("delete_session", "session_id"),
        ("prune_sessions", "older_than_days source dry_run"),
        ("archive", "session_id"),
        ("unarchive", "session_id"),
        ("stats", ""),
        ("optimize", ""),
        ("close", ""),
        ("__init__", "db_path space read_only"),
    ],
)
def test_hosts_find_the_arguments_they_call_by_name(method: str, names: str) -> None:
    wanted = names.split()
    assert arguments(method)[: len(wanted)] == wanted


def test_what_hosts_give_by_position_stays_in_its_place() -> None:
    for method, count in (("create_session", 7), ("append_message", 7), ("search_messages", 5)):
        kinds = [p.kind for p in inspect.signature(getattr(SessionDB, method)).parameters.values()][1:]
        assert kinds[:count] == [inspect.Parameter.POSITIONAL_OR_KEYWORD] * count
        assert set(kinds[count:]) == {inspect.Parameter.KEYWORD_ONLY}


def errors() -> list[type[mnemos.MnemosError]]:
    found = [mnemos.MnemosError]
    for error in found:
        found += error.__subclasses__()
    return found


def test_every_error_has_a_code_of_its_own_and_is_in_the_tree() -> None:
    codes = [error.code for error in errors()]
    assert len(set(codes)) == len(codes)
    tree = mnemos.errors.__doc__ or ""
    for error in errors()[1:]:
        assert re.search(rf"\b{error.__name__} +{error.code}\b", tree), error.__name__


def test_dir_and_repr_show_what_a_user_needs(tmp_path: Path) -> None:
    assert {name for name in dir(mnemos) if not name.startswith("_")} <= {*mnemos.__all__, "errors"}
    with mnemos.open(tmp_path / "home") as memory:
        assert repr(memory) == f"<mnemos.Memory {tmp_path / 'home'} space='default'>"


def test_a_home_of_another_type_or_system_is_refused() -> None:
    with pytest.raises(InvalidInput, match="str or a Path"):
        mnemos.open(42)  # type: ignore[arg-type]
    if os.name != "nt":
        with pytest.raises(InvalidInput, match="Windows"):
            mnemos.open("C:\\memory")
