"""Templates: tool calls that worked in a good session, and new sessions that begin with them.

Nothing is imported before it is used, so that whoever only classifies calls needs no database.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mnemos.templates.kinds import classify_task_type
    from mnemos.templates.model import SessionTemplate, TaskType, ToolCallExample
    from mnemos.templates.standalone import SessionTemplates

_HOMES = {
    "SessionTemplate": "mnemos.templates.model",
    "SessionTemplates": "mnemos.templates.standalone",
    "TaskType": "mnemos.templates.model",
    "ToolCallExample": "mnemos.templates.model",
    "classify_task_type": "mnemos.templates.kinds",
}

__all__ = ["SessionTemplate", "SessionTemplates", "TaskType", "ToolCallExample", "classify_task_type"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'mnemos.templates' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
