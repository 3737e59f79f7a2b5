"""Answers of the workspace drawn for a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from mnemos.faces.cli.plain import plain
from mnemos.operations.workspace import QueryAnswer
from mnemos.workspace.answers import StatementResult
from mnemos.workspace.table import describe_outcome, render_cell


def draw_answer(answer: QueryAnswer, console: Console) -> None:
    """The rows of every statement as a table, and in one line what else it did."""
    for result in answer.statements():
        if result.columns:
            console.print(_drawn(result))
        console.print(Text(describe_outcome(result), style="dim"))
    if answer.truncated:
        console.print(Text("There are more rows: add a WHERE or a LIMIT, or export them.", style="yellow"))
    for warning in answer.warnings:
        console.print(Text(f"Note: {plain(warning)}", style="yellow"))


def _drawn(result: StatementResult) -> Table:
    table = Table(header_style="bold")
    for place, name in enumerate(result.columns):
        numbers = all(isinstance(row[place], int | float) for row in result.rows if row[place] is not None)
        table.add_column(Text(render_cell(name)), justify="right" if numbers else "left", overflow="fold")
    for row in result.rows:
        table.add_row(
            *(Text("NULL", style="dim") if value is None else Text(render_cell(value)) for value in row)
        )
    return table
