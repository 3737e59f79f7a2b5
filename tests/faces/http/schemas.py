"""Answers, compared with the OpenAPI document."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from mnemos.faces.http.openapi import make_document


@cache
def document() -> dict[str, Any]:
    return make_document()


def check_result(name: str, result: Any) -> None:
    """Assert that a result of an operation is what the document says, with no field beside."""
    answers = document()["paths"][f"/v1/{name}"]["post"]["responses"]
    schema = answers["200"]["content"]["application/json"]["schema"]
    # The other one is what it answers to ?preview=true.
    check(schema.get("anyOf", [schema])[0], result)


def check(schema: dict[str, Any], value: Any) -> None:
    # Tuples are lists in JSON.
    plain = json.loads(json.dumps(value))
    problems = [one.message for one in _validator(str(schema["$ref"])).iter_errors(plain)]
    assert not problems, problems


@cache
def _validator(reference: str) -> Draft202012Validator:
    closed = {
        name: one | {"additionalProperties": False} if "properties" in one else one
        for name, one in document()["components"]["schemas"].items()
    }
    whole = {"$ref": reference, "components": {"schemas": closed}}
    Draft202012Validator.check_schema(whole)
    return Draft202012Validator(whole)
