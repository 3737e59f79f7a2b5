"""Templates: tool calls that worked in a session, as a start for new ones.

Names are imported on first use, so that classifying calls needs no database.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mnemos.lazy import lazily

if TYPE_CHECKING:
    from mnemos.templates.template import SessionTemplate, TaskType, ToolCallExample, classify_task_type

_HOMES = {
    "SessionTemplate": "mnemos.templates.template",
    "TaskType": "mnemos.templates.template",
    "ToolCallExample": "mnemos.templates.template",
    "classify_task_type": "mnemos.templates.template",
}

__all__ = ["SessionTemplate", "TaskType", "ToolCallExample", "classify_task_type"]

__getattr__, __dir__ = lazily(__name__, _HOMES)
