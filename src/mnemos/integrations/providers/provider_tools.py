"""Tool schemas and answers of providers."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

# The tool names that models' APIs accept.
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
# Limits: a schema is in every prompt, and an answer in all prompts after it.
_LONGEST_SCHEMA = 40_000
_LONGEST_ANSWER = 200_000


def parse_schemas(schemas: Any) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """Return the tools by name, in order, and the problems of omitted ones."""
    if not isinstance(schemas, list | tuple):
        return {}, [f"tools must be a list, not {type(schemas).__name__}"]
    tools: dict[str, dict[str, Any]] = {}
    problems: list[str] = []
    for schema in schemas:
        problem = _find_problem(bare := _unwrap(schema))
        if not problem and bare["name"] in tools:
            problem = f"the tool {bare['name']!r} is declared twice"
        if problem:
            problems.append(problem)
        else:
            tools[bare["name"]] = dict(bare)
    return tools, problems


def success(text: str) -> str:
    return _json({"success": True, "text": text})


def failure(message: str, code: str = "") -> str:
    return _json({"success": False, "error": message} | ({"code": code} if code else {}))


def render_answer(answer: Any) -> str:
    """Return an answer as a JSON object, wrapping text and encoding a dict.

    Raises TypeError for anything else.
    """
    if isinstance(answer, Mapping):
        answer = _json(dict(answer))
    if not isinstance(answer, str):
        raise TypeError(f"the answer must be a JSON string, not {type(answer).__name__}")
    if len(answer) > _LONGEST_ANSWER:
        return _json(
            {
                "success": True,
                "text": answer[:_LONGEST_ANSWER],
                "note": f"truncated to {_LONGEST_ANSWER:,} of {len(answer):,} characters",
            }
        )
    return success(answer) if _parse_object(answer) is None else answer


def has_succeeded(answer: str) -> bool:
    """True if an answer reports success."""
    return (_parse_object(answer) or {}).get("success") is True


def _unwrap(schema: Any) -> Any:
    """Return a schema without the wrapper of OpenAI's API."""
    if isinstance(schema, Mapping) and schema.get("type") == "function" and "function" in schema:
        return schema["function"]
    return schema


def _find_problem(schema: Any) -> str:
    if not isinstance(schema, Mapping):
        return f"a tool must be a dict, not {type(schema).__name__}"
    name = schema.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        return f"{str(name)[:80]!r} is not a valid tool name; use letters, digits, _ and -"
    if not isinstance(schema.get("parameters", {}), Mapping):
        return f"the parameters of the tool {name!r} are not a JSON schema"
    try:
        size = len(json.dumps(dict(schema)))
    except (TypeError, ValueError, RecursionError) as exc:
        return f"the tool {name!r} cannot be encoded as JSON: {exc}"
    if size > _LONGEST_SCHEMA:
        return f"the schema of the tool {name!r} has {size:,} characters; the limit is {_LONGEST_SCHEMA:,}"
    return ""


def _parse_object(text: str) -> dict[str, Any] | None:
    if not text.lstrip().startswith("{"):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _json(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
        text.encode()
    except UnicodeEncodeError:
        # A lone surrogate has no UTF-8 form, but survives if it is escaped.
        return json.dumps(value)
    except (TypeError, ValueError, RecursionError) as exc:
        raise TypeError(f"the answer cannot be encoded as JSON: {exc}") from exc
    return text
