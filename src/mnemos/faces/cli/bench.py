"""``mnemos bench``: measure on data of one's own. What measures is imported when it is asked for."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mnemos.errors import PermissionDenied
from mnemos.faces.cli.commands import Chosen, is_terminal
from mnemos.faces.cli.output import Bar, in_json
from mnemos.faces.cli.plain import plain

if TYPE_CHECKING:
    from mnemos.bench.model import Data
    from mnemos.bench.recall import Measured
    from mnemos.bench.report import Grid

FORMATS = ("locomo", "longmemeval", "lines")


def pool_size(value: str) -> str:
    """A number of sessions, or ``all``."""
    if value != "all" and not (value.isascii() and value.isdecimal() and int(value) > 0):
        raise click.BadParameter(f"{value!r} is no number of sessions, nor all")
    return value


@click.group()
def bench() -> None:
    """Measure how well and how fast things are found."""


@bench.command()
@click.option(
    "--data",
    required=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="LoCoMo, LongMemEval or own conversations with questions.",
)
@click.option("--format", type=click.Choice(FORMATS), help="What the file is; default: found out.")
@click.option(
    "--pool",
    "pools",
    multiple=True,
    type=pool_size,
    metavar="N",
    help="LongMemEval: ask of N sessions, or all; repeatable, default 48 and all.",
)
@click.option(
    "--limit-questions",
    type=click.IntRange(min=1),
    metavar="N",
    help="Ask only so many, from all over the file.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Write the figures as JSON and a chart as SVG there.",
)
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
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
    """How much of the evidence of questions recall finds, with intervals and times.

    The conversations are loaded into throw-away homes; your own memory is not touched.
    """
    # The bench and what it measures need numpy, which takes 150 ms to import.
    from mnemos.bench import report
    from mnemos.bench.data import read
    from mnemos.bench.model import Format

    as_json = as_json or chosen.json
    loaded = read(data, Format(format) if format else None).limited(limit_questions)
    measured = _measure(loaded, pools, quiet=as_json)
    if as_json:
        click.echo(in_json(report.document(loaded, measured)))
    else:
        for one in measured:
            _show(report.grid(loaded, one))
        if note := report.left_out(loaded):
            click.echo(note)
    if out is not None:
        for path in _write(out, loaded, measured):
            click.echo(f"written: {plain(str(path))}", err=as_json)


def _labelled(name: str, about: str) -> None:
    """A command that measures rules on labelled texts, as ``mnemos.bench.NAME`` does it."""

    @bench.command(name, help=about)
    @click.option(
        "--data",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Labelled texts; default: those of the repository.",
    )
    @click.option("--misses", is_flag=True, help="List the texts that were read wrongly.")
    @click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
    @click.pass_obj
    def measure_labelled(
        chosen: Chosen,
        data: Path | None,
        misses: bool,  # noqa: FBT001 - click passes it by name
        as_json: bool,  # noqa: FBT001 - click passes it by name
    ) -> None:
        # What draws tables of figures needs numpy, which takes 150 ms to import.
        rules = import_module(f"mnemos.bench.{name}")
        path = rules.LABELLED if data is None else data
        measured = rules.measure(path.stem, rules.read(path))
        if as_json or chosen.json:
            click.echo(in_json(rules.document(measured)))
            return
        for grid in rules.grids(measured):
            _show(grid)
        if misses:
            for line in rules.lines(measured.misses):
                click.echo(plain(line))


_labelled(
    "closing",
    """How well it is recognised that work is finished: precision and recall on labelled sentences.

    A line of the file is close or open, the language and the sentence, with tabs between them.
    """,
)
_labelled(
    "extraction",
    """How well facts are found in conversations: precision and recall on labelled statements.

    A line of the file is save or skip, the type, the role and the text, with tabs between them.
    """,
)
_labelled(
    "threats",
    """How well dangerous notes are told from harmless ones: false positives and misses on labelled texts.

    A line of the file is threat or benign, the language and the text, with tabs between them.
    """,
)


def _measure(data: Data, pools: tuple[str, ...], *, quiet: bool) -> list[Measured]:
    from mnemos.bench.home import in_a_home
    from mnemos.bench.pools import arrangements
    from mnemos.bench.recall import measure

    measured = []
    for name, corpora in arrangements(data, pools).items():
        with Bar(name, visible=not quiet and is_terminal(sys.stderr)) as bar:
            measured.append(measure(data, name, corpora, in_a_home, bar.move))
    return measured


def _write(folder: Path, data: Data, measured: list[Measured]) -> list[Path]:
    from mnemos.bench import report

    figures = folder / f"recall-{data.name}.json"
    drawing = figures.with_suffix(".svg")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        figures.write_text(in_json(report.document(data, measured)) + "\n", encoding="utf-8")
        drawing.write_text(report.chart(data, measured), encoding="utf-8")
    except OSError as exc:
        raise PermissionDenied(f"{folder} cannot be written: {exc.strerror}; choose another --out") from exc
    return [figures, drawing]


def _show(grid: Grid) -> None:
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

    from mnemos.faces.cli.drawing import written

    table = Table(box=None, pad_edge=False, header_style="bold", title_justify="left")
    for number, heading in enumerate(grid.headings):
        table.add_column(written(heading), justify="right" if number else "left")
    for row in grid.rows:
        table.add_row(*map(written, row))
    console = Console(highlight=False)
    console.print(written(grid.title, "bold"))
    console.print(table)
    for note in grid.notes:
        console.print(written(note, "dim"))
    console.print()
