"""The commands of ``mnemos bench``. They import the measuring code when they run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mnemos.errors import PermissionDenied
from mnemos.faces.cli.commands import Chosen
from mnemos.faces.cli.help_screens import HelpedCommand
from mnemos.faces.cli.output import Bar, in_json, is_terminal, plain
from mnemos.settings import Settings

if TYPE_CHECKING:
    from mnemos.faces.cli.bench.corpus import Data
    from mnemos.faces.cli.bench.measurement import Measured
    from mnemos.faces.cli.bench.report import Grid

FORMATS = ("locomo", "longmemeval", "lines")


def pool_size(value: str) -> str:
    """Check a number of sessions, or ``all``."""
    if value != "all" and not (value.isascii() and value.isdecimal() and int(value) > 0):
        raise click.BadParameter(f"{value!r} is neither a number of sessions nor all")
    return value


@click.command(cls=HelpedCommand, example="bench recall --data questions.jsonl")
@click.option(
    "--data",
    required=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="LoCoMo, LongMemEval, or your own conversations with questions.",
)
@click.option("--format", type=click.Choice(FORMATS), help="Format of the file; default: detected.")
@click.option(
    "--pool",
    "pools",
    multiple=True,
    type=pool_size,
    metavar="N",
    help="LongMemEval: ask about N sessions, or all; can be repeated. Default: 48 and all.",
)
@click.option(
    "--limit-questions",
    type=click.IntRange(min=1),
    metavar="N",
    help="Maximum number of questions, taken evenly from the file.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Write the figures as JSON and a chart as SVG to this folder.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.pass_obj
def recall(
    chosen: Chosen,
    data: Path,
    format: str | None,
    pools: tuple[str, ...],
    limit_questions: int | None,
    out: Path | None,
    as_json: bool,  # noqa: FBT001 - click passes it by name
) -> None:
    """Measure how much of the evidence recall finds, with intervals and times.

    Loads the conversations into temporary homes. Your own memory is not touched.
    """
    # The bench and what it measures need numpy, which takes 150 ms to import.
    from mnemos.faces.cli.bench import report
    from mnemos.faces.cli.bench.corpus import Format
    from mnemos.faces.cli.bench.dataset import read

    if out is not None:
        Settings.load(chosen.home).check_enabled("no file was written")
    as_json = as_json or chosen.json
    loaded = read(data, Format(format) if format else None).limit(limit_questions)
    measured = _measure(loaded, pools, quiet=as_json)
    if as_json:
        click.echo(in_json(report.document(loaded, measured)))
    else:
        for one in measured:
            show_grid(report.grid(loaded, one))
        if note := report.left_out(loaded):
            click.echo(note)
    if out is not None:
        for path in _write(out, loaded, measured):
            click.echo(f"written: {plain(str(path))}", err=as_json)


def _measure(data: Data, pools: tuple[str, ...], *, quiet: bool) -> list[Measured]:
    from mnemos.faces.cli.bench.corpus import arrangements
    from mnemos.faces.cli.bench.measurement import measure, open_home

    measured = []
    for name, corpora in arrangements(data, pools).items():
        with Bar(name, visible=not quiet and is_terminal(sys.stderr)) as bar:
            measured.append(measure(data, name, corpora, open_home, bar))
    return measured


def _write(folder: Path, data: Data, measured: list[Measured]) -> list[Path]:
    from mnemos.faces.cli.bench import report

    figures = folder / f"recall-{data.name}.json"
    drawing = figures.with_suffix(".svg")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        figures.write_text(in_json(report.document(data, measured)) + "\n", encoding="utf-8")
        drawing.write_text(report.chart(data, measured), encoding="utf-8")
    except OSError as exc:
        raise PermissionDenied(f"{folder} cannot be written: {exc.strerror}. Choose another --out.") from exc
    return [figures, drawing]


def show_grid(grid: Grid) -> None:
    """Print a table, drawn at a terminal and in plain columns elsewhere."""
    if is_terminal(sys.stdout):
        _draw(grid)
        return
    cells = [grid.headings, *grid.rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    click.echo(plain(grid.title))
    for row in cells:
        first, *others = zip(row, widths, strict=True)
        figures = "".join(f"  {text:>{width}}" for text, width in others)
        click.echo(plain(f"{first[0]:{first[1]}}{figures}"))
    for note in grid.notes:
        click.echo(plain(note))
    click.echo()


def _draw(grid: Grid) -> None:
    # rich: only for people at a terminal.
    from rich.console import Console
    from rich.table import Table

    from mnemos.faces.cli.drawing import literal

    table = Table(box=None, pad_edge=False, header_style="bold", title_justify="left")
    for number, heading in enumerate(grid.headings):
        table.add_column(literal(heading), justify="right" if number else "left")
    for row in grid.rows:
        table.add_row(*map(literal, row))
    console = Console(highlight=False)
    console.print(literal(grid.title, "bold"))
    console.print(table)
    for note in grid.notes:
        console.print(literal(note, "dim"))
    console.print()
