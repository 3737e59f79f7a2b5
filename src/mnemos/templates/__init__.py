"""Templates: tool calls that worked in a good session, and new sessions that begin with them.

Nothing is imported before it is used, so that whoever only classifies calls needs no database.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mnemos.lazy import lazily

if TYPE_CHECKING:
    from mnemos.templates.kinds import classify_task_type
    from mnemos.templates.model import SessionTemplate, TaskType, ToolCallExample

_HOMES = {
    "SessionTemplate": "mnemos.templates.model",
    "TaskType": "mnemos.templates.model",
    "ToolCallExample": "mnemos.templates.model",
    "classify_task_type": "mnemos.templates.kinds",
}

__all__ = ["SessionTemplate", "TaskType", "ToolCallExample", "classify_task_type"]

__getattr__, __dir__ = lazily(__name__, _HOMES)
