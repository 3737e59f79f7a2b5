"""A walk through the OpenAPI document: right and wrong input for every operation, as a schema allows it."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from faces.http.schemas import check, check_result, document
from mnemos.faces.cli.demo import history
from mnemos.faces.http import limits
from mnemos.faces.http.api import Api
from mnemos.faces.http.request_log import RequestLog
from mnemos.faces.http.workers import Spaces, Workers
from mnemos.memory import Memory
from mnemos.memory.access_tokens import Doorkeeper, create_token
from mnemos.operations.index import ENTRIES

pytestmark = pytest.mark.area("HTTP server: input made from the OpenAPI document")

HOST = "127.0.0.1:1"
# It starts a process that goes on.
LEFT_OUT = {"evaluate"}
TEXTS = (
    *("", " ", "x", "slot-bug", "session:slot-bug", "message:1", "fact:f1", "f1", "note:memory", "default"),
    *("SELECT 1", "SELECT * FROM", "WITH RECURSIVE n(x) AS (SELECT 1) SELECT x FROM n", "V[srv.prod]: 1"),
    *(
        "2026-01-01",
        "yesterday",
        "0-0-0",
        "9-9-9",
        "user",
        "memory",
        "json",
        "-",
        "--",
        "%s",
        "{}",
        "[]",
        "NaN",
    ),
    *(
        "\0",
        "a\0b",
        "\ud7ff\ue000",
        "🚆 東京 ñ",
        "‮txt",
        "a" * 5000,
        "../../etc/passwd",
        "/dev/zero",
        "~",
        "'; --",
    ),
)
WRONG: tuple[Any, ...] = (
    *(None, True, -1, 2**63, -(2**80), 1e308, "", "x", [], {}, [[]], [None], {"a": 1}, {"\0": "\0"}),
    *("9" * 400, [{"role": "user"}], {"space": "other"}, [[[[[[[[1]]]]]]]]),
)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.at(tmp_path / "home", disabled=False, embedder="none") as memory:
        memory.sessions.import_sessions(history(time.time()))
        memory.facts.write("V[srv.prod]: api.example.com:3004\nC[deploy.day]: nvr on Fridays", scope="shop")
        memory.notebook.add("Tests run with make test")
        memory.entries.store("default", "city", "Lisbon")
        memory.workspace.query("CREATE TABLE prices (item TEXT, eur REAL)")
        yield memory


class Walk:
    """Sends requests to the application in this process, with a token that may do all but touch files."""

    def __init__(self, memory: Memory, seed: int) -> None:
        self._chance = random.Random(seed)
        self.workers = Workers()
        self._api = Api(Spaces(memory), self.workers, Doorkeeper(memory.settings), [HOST], RequestLog())
        self._token = create_token(memory.settings, "fuzz", "admin", now=time.time())[1]
        self.statuses: dict[int, int] = {}

    async def run(self, rounds: int) -> None:
        for _ in range(rounds):
            for entry in ENTRIES:
                if entry.name not in LEFT_OUT:
                    await self._send(entry.name, self.make_input(entry.name))

    def make_input(self, name: str) -> dict[str, Any]:
        """Return an input that the schema allows, or one with a mistake."""
        body = document()["paths"][f"/v1/{name}"]["post"]["requestBody"]
        schema = body["content"]["application/json"]["schema"]
        required = set(schema.get("required", ()))
        given = {
            field: self._make(kind)
            for field, kind in schema["properties"].items()
            if field in required or self._chance.random() < 0.3
        }
        if self._chance.random() < 0.4:
            names = [*schema["properties"], "no_such_field"]
            given[self._chance.choice(names)] = self._chance.choice(WRONG)
        if given and self._chance.random() < 0.05:
            given.pop(self._chance.choice(list(given)))
        return given

    def _make(self, schema: dict[str, Any]) -> Any:
        chance = self._chance
        if "anyOf" in schema:
            return self._make(chance.choice(schema["anyOf"]))
        if "enum" in schema:
            return chance.choice(schema["enum"])
        if "const" in schema:
            return schema["const"]
        kind = schema.get("type")
        if kind == "string":
            return chance.choice(TEXTS)
        if kind in ("integer", "number"):
            low, high = schema.get("minimum", -5), schema.get("maximum", 10**6)
            return chance.choice([low, high, chance.randint(int(low), int(min(high, low + 50)))])
        if kind == "boolean":
            return chance.random() < 0.5
        if kind == "array":
            return [self._make(schema.get("items") or {}) for _ in range(chance.randrange(4))]
        if kind == "object":
            return {chance.choice(TEXTS): chance.choice(WRONG) for _ in range(chance.randrange(3))}
        return None if kind == "null" else chance.choice(WRONG)

    async def _send(self, name: str, arguments: dict[str, Any]) -> None:
        switches = self._chance.choice(["", "text=false", "preview=true", "person=true"])
        body = json.dumps(arguments).encode()
        headers = {"host": HOST, "authorization": f"Bearer {self._token}", "content-type": "application/json"}
        scope = {
            "type": "http",
            "method": "POST",
            "path": f"/v1/{name}",
            "query_string": switches.encode(),
            "headers": [(key.encode(), value.encode()) for key, value in headers.items()],
        }
        sent: list[Any] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body}

        async def send(message: Any) -> None:
            sent.append(message)

        await self._api(scope, receive, send)
        status, answer = sent[0]["status"], json.loads(sent[1]["body"])
        self.statuses[status] = self.statuses.get(status, 0) + 1
        about = f"{name} {body[:2000]!r} {switches}: {status} {sent[1]['body'][:500]!r}"
        assert status < 500, about
        try:
            if status != 200:
                check({"$ref": "#/components/schemas/Error"}, answer)
            elif switches == "preview=true":
                check({"$ref": "#/components/schemas/Preview"}, answer)
            else:
                check_result(name, answer)
        except AssertionError as exc:
            raise AssertionError(f"{about}: {exc}") from None


def walk(memory: Memory, seed: int, rounds: int, monkeypatch: pytest.MonkeyPatch) -> dict[int, int]:
    monkeypatch.setattr(limits, "PER_SECOND", 1e9)
    monkeypatch.setattr(limits, "BURST", 1e9)
    # No program of whoever runs the tests is found.
    monkeypatch.setenv("HOME", str(memory.settings.home))
    one = Walk(memory, seed)
    try:
        asyncio.run(one.run(rounds))
    finally:
        one.workers.close()
    return one.statuses


def test_every_operation_answers_within_its_schema_whatever_it_is_given(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, attempts: Callable[[int], None]
) -> None:
    statuses = walk(memory, 20261117, 4, monkeypatch)
    attempts(sum(statuses.values()))
    assert {200, 400, 403, 404} <= statuses.keys()
    assert sum(statuses.values()) > 300


@pytest.mark.nightly
def test_20_000_requests_are_answered_within_their_schema(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, attempts: Callable[[int], None]
) -> None:
    seed = random.SystemRandom().randrange(10**9)
    print(f"seed {seed}")
    statuses = walk(memory, seed, 20_000 // (len(ENTRIES) - len(LEFT_OUT)) + 1, monkeypatch)
    attempts(sum(statuses.values()))
    assert sum(statuses.values()) >= 20_000
