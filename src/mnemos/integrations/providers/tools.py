"""Tools of providers: what they declare, and what they answer."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

# What models' APIs take for the name of a tool.
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
# A definition stands in every prompt, an answer in all that follow.
_LONGEST_SCHEMA = 40_000
_LONGEST_ANSWER = 200_000


def understood(schemas: Any) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """The tools by name, in order, and what was wrong with the others."""
    if not isinstance(schemas, list | tuple):
        return {}, [f"the tools are a {type(schemas).__name__}, not a list"]
    tools: dict[str, dict[str, Any]] = {}
    wrong: list[str] = []
    for schema in schemas:
        problem = _problem(bare := _bare(schema))
        if not problem and bare["name"] in tools:
            problem = f"the tool {bare['name']!r} is declared twice"
        if problem:
            wrong.append(problem)
        else:
            tools[bare["name"]] = dict(bare)
    return tools, wrong


def success(text: str) -> str:
    return _json({"success": True, "text": text})


def failure(message: str, code: str = "") -> str:
    return _json({"success": False, "error": message} | ({"code": code} if code else {}))


def answered(answer: Any) -> str:
    """An answer as JSON, whatever it was: a text that is none is put into it, and a dict written down.

    What cannot be an answer raises TypeError.
    """
    if isinstance(answer, Mapping):
        answer = _json(dict(answer))
    if not isinstance(answer, str):
        raise TypeError(f"the answer is a {type(answer).__name__}; a JSON text is expected")
    if len(answer) > _LONGEST_ANSWER:
        return _json(
            {
                "success": True,
                "text": answer[:_LONGEST_ANSWER],
                "note": f"cut after {_LONGEST_ANSWER:,} of {len(answer):,} characters",
            }
        )
    return answer if _is_object(answer) else success(answer)


def has_succeeded(answer: str) -> bool:
    """Whether an answer says so itself; anything else is no success."""
    try:
        said = json.loads(answer)
    except ValueError:
        return False
    return isinstance(said, dict) and said.get("success") is True


def _bare(schema: Any) -> Any:
    """A definition without the wrapping of OpenAI's API."""
    if isinstance(schema, Mapping) and schema.get("type") == "function" and "function" in schema:
        return schema["function"]
    return schema


def _problem(schema: Any) -> str:
    if not isinstance(schema, Mapping):
        return f"a tool is a {type(schema).__name__}, not a dict"
    name = schema.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        return f"a tool has the name {str(name)[:80]!r}; use letters, digits, _ and -"
    if not isinstance(schema.get("parameters", {}), Mapping):
        return f"the parameters of the tool {name!r} are no JSON schema"
    try:
        size = len(json.dumps(dict(schema)))
    except (TypeError, ValueError, RecursionError) as exc:
        return f"the tool {name!r} cannot be written as JSON: {exc}"
    if size > _LONGEST_SCHEMA:
        return f"the definition of the tool {name!r} has {size:,} characters; at most {_LONGEST_SCHEMA:,}"
    return ""


def _is_object(text: str) -> bool:
    if not text.lstrip().startswith("{"):
        return False
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _json(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
        text.encode()
    except UnicodeEncodeError:
        # Half a character has no UTF-8; escaped, it survives.
        return json.dumps(value)
    except (TypeError, ValueError, RecursionError) as exc:
        raise TypeError(f"the answer cannot be written as JSON: {exc}") from exc
    return text
