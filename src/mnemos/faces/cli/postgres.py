"""``mnemos migrate`` and ``mnemos postgres``: a memory on a PostgreSQL server.

These are commands and not operations: they reach every space.
"""

from __future__ import annotations

import click
from msgspec.structs import asdict

from mnemos.errors import InvalidInput
from mnemos.faces.cli.commands import Chosen, common_options
from mnemos.faces.cli.help_screens import HelpedCommand
from mnemos.faces.cli.output import in_json, plain
from mnemos.inputs import find_scheme
from mnemos.operations.texts import plural
from mnemos.settings import Settings


@click.command(
    cls=HelpedCommand,
    params=[option for option in common_options() if option.name in ("home", "json")],
    example="migrate --to copy-on-disk",
)
@click.argument("named", required=False, metavar="[URL]")
@click.option("--to", metavar="URL", help="URL of a PostgreSQL database, or a folder.")
@click.pass_obj
def migrate(chosen: Chosen, named: str | None, to: str | None) -> None:
    """Copy every space of a memory to a PostgreSQL server, or from one to a folder, and compare them.

    The source is only read. Repeat the command if it was interrupted: it goes on with what is missing.
    """
    target = to or named
    if target is None or (to and named):
        raise InvalidInput("Name one target: `mnemos migrate --to postgresql://user@host/database`.")
    # Imported here, because it loads the archive and all parts.
    from mnemos.memory import migration

    done = migration.migrate(Settings.load(chosen.home), target)
    if chosen.json:
        click.echo(in_json({"spaces": [asdict(one) for one in done]}))
        return
    for one in done:
        counts = [plural(one.sessions, "session"), plural(one.messages, "message"), plural(one.facts, "fact")]
        click.echo(plain(f"{one.space}: {', '.join(counts)}, all the same"))
    use = "set `database` in config.toml or MNEMOS_DATABASE" if find_scheme(target) else "set MNEMOS_HOME"
    click.echo(plain(f"To use it, {use}. The source is unchanged."))


@click.command(
    cls=HelpedCommand,
    params=[option for option in common_options() if option.name == "home"],
    example="postgres init --role agent",
)
@click.option("--role", help="A database role to give access to, without ownership.")
@click.pass_obj
def init(chosen: Chosen, role: str | None) -> None:
    """Create or migrate the tables on the server in MNEMOS_DATABASE, and give a role access to them."""
    from mnemos.memory import migration

    click.echo(plain(migration.set_up_server(_load_server(chosen), role)))


@click.command(
    cls=HelpedCommand,
    params=[option for option in common_options() if option.name == "home"],
    example="postgres distribute",
)
@click.pass_obj
def distribute(chosen: Chosen) -> None:
    """Spread the tables over the workers of a Citus server, by space. Run it once, as the owner."""
    from mnemos.memory import migration

    click.echo(plain(migration.distribute(_load_server(chosen))))


def _load_server(chosen: Chosen) -> Settings:
    settings = Settings.load(chosen.home)
    if not settings.database:
        raise InvalidInput("No PostgreSQL server is configured. Set MNEMOS_DATABASE=postgresql://… first.")
    return settings


COMMANDS = (init, distribute)
