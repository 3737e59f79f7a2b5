"""What kind of work tool calls are: code, files, research, or a mixture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

from mnemos.settings import Settings
from mnemos.templates.model import TaskType, ToolCallExample

# More than six of ten calls decide.
_SHARE = (6, 10)


@dataclass(frozen=True, slots=True)
class ToolSets:
    """Which tools do which kind of work; names are compared without case, ``_``, ``-`` and server."""

    code: frozenset[str]
    file: frozenset[str]
    research: frozenset[str]

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """The known tools, and those that the settings add; what they name, they decide."""
        own = [
            frozenset(map(_folded, names))
            for names in (settings.code_tools, settings.file_tools, settings.research_tools)
        ]
        named = frozenset[str]().union(*own)
        known = (TOOLS.code, TOOLS.file, TOOLS.research)
        return cls(*((set_ - named) | added for set_, added in zip(known, own, strict=True)))

    def kind_of(self, tool_name: str) -> TaskType | None:
        """The kind of one tool; None for one that is not known."""
        folded = _folded(tool_name)
        if folded in self.code:
            return TaskType.CODE
        if folded in self.file:
            return TaskType.FILE
        return TaskType.RESEARCH if folded in self.research else None


def classify_task_type(tool_calls: Iterable[Any], tools: ToolSets | None = None) -> TaskType:
    """The kind that holds more than 60% of the calls, else mixed; of no calls, mixed.

    A call is a tool call of a message in any API's shape, a ToolCallExample, or the name of a tool.
    """
    sets = tools or TOOLS
    kinds = Counter(sets.kind_of(called(call)) for call in tool_calls)
    part, whole = _SHARE
    total = kinds.total()
    for kind, count in kinds.items():
        if kind is not None and count * whole > total * part:
            return kind
    return TaskType.MIXED


def called(call: Any) -> str:
    """The name of the tool that a call names; empty for none."""
    if isinstance(call, dict):
        function = call.get("function")
        inner = function if isinstance(function, dict) else call
        named = inner.get("name") or inner.get("tool_name")
        return named if isinstance(named, str) else ""
    if isinstance(call, ToolCallExample):
        return call.tool_name
    return call if isinstance(call, str) else ""


@lru_cache(maxsize=2_048)
def _folded(tool_name: str) -> str:
    """``WebSearch``, ``web_search`` and ``mcp__brave__web-search`` are one tool to us."""
    own = tool_name.strip().lower().rpartition("__")[2]
    return own.replace("_", "").replace("-", "").replace(".", "")


def _sets(code: str, file: str, research: str) -> ToolSets:
    return ToolSets(*(frozenset(map(_folded, names.split())) for names in (code, file, research)))


TOOLS = _sets(
    code="""
        execute_code code_execution run_code code_interpreter execute_command run_command run_terminal_cmd
        run_in_terminal terminal shell local_shell bash sh zsh powershell python python_repl ipython jupyter
        execute_cell notebook_execute process run_tests run_script exec exec_command sql execute_sql run_query
        bash_output kill_shell
    """,
    file="""
        read_file write_file create_file edit_file delete_file move_file rename_file copy_file append_file
        patch apply_patch apply_diff replace_in_file str_replace_editor str_replace_based_edit_tool
        search_files list_files list_directory list_dir find_files file_search grep grep_search glob
        read write edit multi_edit notebook_edit view ls tree codebase_search read_many_files
        create_directory insert_edit_into_file
    """,
    research="""
        web_search web_fetch web_extract web_crawl search_web fetch fetch_url fetch_webpage read_url browse
        browser browser_navigate browser_click browser_type browser_scroll browser_snapshot browser_vision
        browser_get_images browser_back browser_press google_search bing_search brave_search tavily_search
        arxiv_search wikipedia search http_get scrape
    """,
)
