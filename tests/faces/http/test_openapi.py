"""The OpenAPI document names every operation, and types its input, its result and its errors."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mnemos.memory import Memory
from mnemos.operations import registry
from mnemos.operations.index import ENTRIES

from .schemas import check, document
from .servers import serving

KEPT = Path(__file__).parents[3] / "docs" / "reference" / "openapi.json"

# Data of other programs, kept as they wrote it.
FREE = {"metadata", "tool_calls", "model_config", "arguments", "content"}


def walk(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from walk(inner)


def is_free(schema: Any) -> bool:
    """True if a typed client learns nothing about a value, or about a part of it."""
    if schema is True:
        return True
    kinds = [schema, *schema.get("anyOf", ())]
    described = {"type", "$ref", "enum", "const", "anyOf"}
    return any(
        not described & one.keys()
        or (one.get("type") == "array" and one.get("items") is not False and is_free(one.get("items", {})))
        or (one.get("type") == "object" and is_free(one.get("additionalProperties", {})))
        for one in kinds
    )


def test_the_kept_document_is_up_to_date() -> None:
    made = json.dumps(document(), indent=1, ensure_ascii=False) + "\n"
    assert KEPT.read_text(encoding="utf-8") == made, "run: make docs"


def test_every_operation_has_its_path_with_input_result_and_scope() -> None:
    paths = document()["paths"]
    for entry in ENTRIES:
        described = paths[f"/v1/{entry.name}"]["post"]
        schema = described["requestBody"]["content"]["application/json"]["schema"]
        offered = registry.command_schema(registry.load(entry))
        assert schema["properties"].keys() == offered["properties"].keys()
        assert described["x-scope"] in ("read", "write", "admin", "local")
    assert len(paths) - len(ENTRIES) == 4


def test_every_reference_leads_somewhere() -> None:
    found = {one["$ref"] for one in walk(document()) if isinstance(one.get("$ref"), str)}
    for reference in found:
        value: Any = document()
        for step in reference.removeprefix("#/").split("/"):
            value = value[step]


def test_no_request_has_a_default_which_generators_take_for_required() -> None:
    bodies = [one["requestBody"] for path in document()["paths"].values() if (one := path.get("post"))]
    fields = [
        field
        for body in bodies
        for field in body["content"]["application/json"]["schema"]["properties"].values()
    ]
    assert [field for field in fields if "default" in field] == []
    assert any("Default: " in field["description"] for field in fields)


def test_only_what_other_programs_wrote_is_left_untyped_in_results() -> None:
    schemas = document()["components"]["schemas"]
    free = {
        (name, field)
        for name, schema in schemas.items()
        for field, kind in schema.get("properties", {}).items()
        if is_free(kind) and field not in FREE
    }
    # Entries of namespaces are documents of any form.
    assert free == {("FoundEntry", "value")}


def test_the_document_is_served_to_those_with_a_token(tmp_path: Path) -> None:
    Memory.at(tmp_path / "home").close()
    with serving(tmp_path / "home") as server:
        assert server.send("GET", "/openapi.json").json == document()
        assert server.send("GET", "/openapi.json", token="").status == 401
        assert server.send("POST", "/openapi.json").status == 405
        refused = server.post("recall", {})
        check({"$ref": "#/components/schemas/Error"}, refused.json)
        check({"$ref": "#/components/schemas/Health"}, server.send("GET", "/health").json)
        preview = server.post("sessions_prune?preview=true")
        check({"$ref": "#/components/schemas/Preview"}, preview.json)


@pytest.mark.parametrize("code", ["not_found", "unauthenticated", "too_large", "busy", "disk_full"])
def test_errors_are_described_by_status_and_code(code: str) -> None:
    responses = document()["components"]["responses"].values()
    assert sum(f"`{code}`" in one["description"] for one in responses) == 1


def test_files_streams_and_previews_are_in_the_document() -> None:
    paths = {
        name.removeprefix("/v1/"): path["post"]
        for name, path in document()["paths"].items()
        if "post" in path
    }
    assert {"application/zstd", "text/event-stream"} <= paths["export"]["responses"]["200"]["content"].keys()
    assert "application/x-ndjson" in paths["sessions_export"]["responses"]["200"]["content"]
    assert "text/csv" in paths["sqlite_import"]["requestBody"]["content"]
    assert {"$ref": "#/components/parameters/preview"} in paths["sessions_delete"]["parameters"]
    # A typed client gets one type where nothing else is usual.
    assert list(paths["recall"]["responses"]["200"]["content"]) == ["application/json"]
