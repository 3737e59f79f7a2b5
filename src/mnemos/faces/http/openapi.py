"""The server's OpenAPI 3.1 document: ``python -m mnemos.faces.http.openapi``."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

import msgspec

from mnemos import __version__, errors
from mnemos.errors import MnemosError
from mnemos.faces.http.file_transfers import DOWNLOADS, LINES, UPLOADED, UPLOADS, has_lines
from mnemos.faces.http.replies import EVENTS, REJECTIONS, Error, Health, Preview, status_of
from mnemos.faces.http.scopes import find_usual_scope
from mnemos.operations import registry
from mnemos.operations.base import Operation
from mnemos.operations.index import ENTRIES, Entry, part_of

PATH: Final = "/openapi.json"
EVENTS_PATH: Final = "/v1/events"
_SWITCHES: Final = {
    "text": "false leaves the readable `text` out of the answer",
    "preview": "true changes nothing and answers with what would be deleted",
    "person": "true accepts arguments that are not offered to models",
}
_REFERENCE: Final = "#/components/schemas/{name}"
_ABOUT: Final = """Every operation of Mnemos: POST its arguments to `/v1/NAME`, and get its result.

`?preview=true` answers with a Preview instead and changes nothing.
With `Accept: text/event-stream`, any operation answers with events: `progress`, then `result` or `error`.
A file is sent as the body of an import, with the arguments in the query, and is the answer of an export.
See docs/how-to/server.md for streams, downloads and uploads."""


@cache
def render_document() -> bytes:
    return msgspec.json.encode(make_document())


def make_document() -> dict[str, Any]:
    """Return the document. Inputs have no ``default``: generators would require them."""
    return _open_objects(
        {
            "openapi": "3.1.0",
            "info": {"title": "Mnemos", "version": __version__, "description": _ABOUT},
            "security": [{"token": []}],
            "paths": {
                **{f"/v1/{entry.name}": {"post": _describe(entry)} for entry in ENTRIES},
                "/health": {
                    "get": {
                        "security": [],
                        **_answer("health", "Tell that the server runs", _refer("Health")),
                    }
                },
                "/metrics": {"get": _answer("metrics", "Count requests", {"type": "string"}, "text/plain")},
                EVENTS_PATH: {"get": _describe_events()},
                PATH: {"get": _answer("openapi", "Get this document", {"type": "object"})},
            },
            "components": {
                "schemas": _describe_answers(),
                "responses": {"Failed": _describe_errors(400, 500), "Unable": _describe_errors(500, 600)},
                "parameters": {
                    name: {"name": name, "in": "query", "description": about, "schema": {"type": "boolean"}}
                    for name, about in _SWITCHES.items()
                },
                "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            },
        }
    )


def _open_objects(schema: dict[str, Any]) -> dict[str, Any]:
    """Declare open objects as open, because generators otherwise allow no fields."""

    def walk(value: Any) -> Any:
        if isinstance(value, list):
            return [walk(one) for one in value]
        return _open_objects(value) if isinstance(value, dict) else value

    found = {key: walk(below) for key, below in schema.items()}
    is_free = found.get("type") == "object" and not found.keys() & {"properties", "additionalProperties"}
    return found | {"additionalProperties": True} if is_free else found


def _describe(entry: Entry) -> dict[str, Any]:
    operation = registry.load(entry)
    schema = _describe_input(operation)
    result, traits = _refer(registry.result_of(operation).__name__), operation.traits
    has_preview = traits.destructive or traits.asks
    described = _answer(
        entry.name, traits.title, {"anyOf": [result, _refer("Preview")]} if has_preview else result
    )
    # All can send events, but typed clients of the others would get a text or a result.
    streams = [EVENTS] if registry.is_long(entry.name) else []
    files = [*DOWNLOADS.get(entry.name, ()), *(LINES if has_lines(entry.name) else ())]
    described["responses"]["200"]["content"] |= {media: {"schema": _TEXTS} for media in [*streams, *files]}
    uploads = UPLOADED if entry.name in UPLOADS else ()
    switches = ("text", "person", "preview") if has_preview else ("text", "person")
    return {
        **described,
        "tags": [part_of(entry)],
        "description": registry.help_text(operation),
        "x-scope": find_usual_scope(operation).name.lower(),
        "x-command": entry.command,
        "x-positional": list(traits.positional),
        "parameters": [{"$ref": f"#/components/parameters/{name}"} for name in switches],
        "requestBody": {
            "required": bool(schema.get("required")),
            # With a file in the body, the arguments are in the query.
            "content": {"application/json": {"schema": schema}}
            | {media: {"schema": _TEXTS} for media in uploads},
        },
    }


def _describe_events() -> dict[str, Any]:
    cursor = {"schema": {"type": "string"}, "description": "Cursor after which the changes begin"}
    return {
        **_answer("events", "Follow changes", {"type": "string"}, EVENTS),
        "description": "Events named after the kind of a change, with a ChangeInfo as data and its cursor as "
        "id. First comes `ready`, and at the end of the server `end`; their data has the cursor.",
        "x-scope": "read",
        "parameters": [
            {"name": "since", "in": "query", **cursor},
            {"name": "Last-Event-ID", "in": "header", **cursor},
        ],
    }


def _answer(
    name: str, summary: str, schema: dict[str, Any], media: str = "application/json"
) -> dict[str, Any]:
    return {
        "operationId": name,
        "summary": summary,
        "responses": {
            "200": {"description": "Done", "content": {media: {"schema": schema}}},
            "4XX": {"$ref": "#/components/responses/Failed"},
            "5XX": {"$ref": "#/components/responses/Unable"},
        },
    }


def _refer(name: str) -> dict[str, Any]:
    return {"$ref": _REFERENCE.format(name=name)}


def _describe_input(operation: type[Operation]) -> dict[str, Any]:
    schema, hidden = registry.command_schema(operation), registry.person_fields(operation)
    fields = {name: _move_default(field) for name, field in schema["properties"].items()}
    for name in hidden:
        fields[name] = fields[name] | {"description": f"{fields[name]['description']}. Needs ?person=true"}
    return schema | {"properties": fields}


def _move_default(field: dict[str, Any]) -> dict[str, Any]:
    default = field.get("default")
    kept = {key: value for key, value in field.items() if key != "default"}
    if default is None:
        return kept
    about = f"{field.get('description', '')}. Default: {json.dumps(default)}".removeprefix(". ")
    return kept | {"description": about}


def _describe_answers() -> dict[str, Any]:
    """Return the schemas of all results and their parts by name."""
    results = {registry.result_of(registry.load(entry)) for entry in ENTRIES}
    kinds = [*sorted(results, key=lambda kind: kind.__name__), Error, Health, Preview]
    _, components = msgspec.json.schema_components(kinds, ref_template=_REFERENCE)
    for schema in components.values():
        # A field with a default is in every answer. A field that can be missing has UNSET instead.
        fields = schema.get("properties", {})
        always = {name for name, field in fields.items() if "default" in field}
        schema["required"] = [name for name in fields if name in always or name in schema["required"]]
        for field in fields.values():
            field.pop("default", None)
    for kind in results:
        components[kind.__name__]["properties"].setdefault("text", _TEXT)
    return dict(sorted(components.items()))


def _every_error(kind: type[MnemosError]) -> Iterator[type[MnemosError]]:
    yield kind
    for below in kind.__subclasses__():
        if below.__module__ == errors.__name__:
            yield from _every_error(below)


def _describe_errors(low: int, high: int) -> dict[str, Any]:
    """Describe the errors with a status in this range."""
    found = {(status_of(kind("")), kind.code) for kind in _every_error(MnemosError)} | {*REJECTIONS.items()}
    chosen = sorted(pair for pair in found if low <= pair[0] < high)
    by_status = {status: [code for one, code in chosen if one == status] for status, _ in chosen}
    lines = [f"- {status}: {', '.join(f'`{code}`' for code in codes)}" for status, codes in by_status.items()]
    content = {"application/json": {"schema": _refer("Error")}}
    return {"description": "\n".join(["By status, the codes of the error:", *lines]), "content": content}


_TEXTS: Final = {"type": "string"}
_TEXT: Final = {"type": "string", "description": "The answer in readable form, unless text=false"}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(make_document(), indent=1, ensure_ascii=False) + "\n")
