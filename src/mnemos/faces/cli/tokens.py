"""``mnemos tokens``: tokens for clients of the HTTP server.

These are commands and not operations: a model must not give itself more rights.
"""

from __future__ import annotations

import time
from datetime import datetime
from typing import TYPE_CHECKING

import click
import msgspec

from mnemos.errors import AlreadyExists
from mnemos.faces.cli.commands import Chosen, common_options
from mnemos.faces.cli.help_screens import HelpedCommand
from mnemos.faces.cli.output import in_json, plain
from mnemos.operations import registry
from mnemos.settings import Settings

if TYPE_CHECKING:
    from mnemos.memory.access_tokens import Token

_SCOPES = ("read", "write", "admin")


@click.command(
    cls=HelpedCommand,
    params=common_options(),
    arguments=[("NAME", "What it is for, such as the name of a program")],
    example="tokens create editor --scope write --days 90",
)
@click.argument("name")
@click.option(
    "--scope",
    type=click.Choice(_SCOPES),
    default="read",
    show_default=True,
    help="write can also store and change, admin can also delete.",
)
@click.option("--days", type=float, help="Days until it expires.")
@click.option(
    "--operations",
    default="all",
    show_default=True,
    metavar="SETS",
    help="Operations that it may call: sets or names, separated by commas.",
)
@click.pass_obj
def create(chosen: Chosen, name: str, scope: str, days: float | None, operations: str) -> None:
    """Create a token for one space and print it. It is shown only once."""
    # Imported here, because only these commands need hashes and random numbers.
    from mnemos.memory.access_tokens import create_token, list_tokens

    registry.choose_entries(operations)
    settings, now = Settings.load(chosen.home, space=chosen.space), time.time()
    if any(
        (one.name, one.space) == (name, settings.space) and one.is_valid(now) for one in list_tokens(settings)
    ):
        raise AlreadyExists(f"A token {name!r} already exists. Choose another name, or revoke it.")
    token, text = create_token(settings, name, scope, operations=operations, days=days, now=now)
    if chosen.json:
        click.echo(in_json({"token": text, **_describe(token)}))
        return
    click.echo(plain(f"Created {_tell(token, is_new=True)}. It is shown only once:\n{text}"))


@click.command("list", cls=HelpedCommand, params=common_options(), example="tokens list")
@click.pass_obj
def list_(chosen: Chosen) -> None:
    """List the tokens of all spaces, without their secrets."""
    from mnemos.memory.access_tokens import list_tokens

    tokens = list_tokens(Settings.load(chosen.home, space=chosen.space))
    if chosen.json:
        click.echo(in_json({"tokens": [_describe(token) for token in tokens]}))
        return
    for token in tokens:
        click.echo(plain(_tell(token)))
    if not tokens:
        click.echo("There are no tokens besides the owner's. `mnemos tokens create NAME` creates one.")


@click.command(
    cls=HelpedCommand,
    params=common_options(),
    arguments=[("ID", "Id of a token, as `mnemos tokens list` shows it")],
    example="tokens revoke 1f0e9d8c",
)
@click.argument("token_id", metavar="ID")
@click.pass_obj
def revoke(chosen: Chosen, token_id: str) -> None:
    """Revoke a token. Running servers refuse it at once."""
    from mnemos.memory.access_tokens import revoke_token

    token = revoke_token(Settings.load(chosen.home, space=chosen.space), token_id)
    click.echo(in_json(_describe(token)) if chosen.json else plain(f"Revoked {_tell(token)}."))


def _describe(token: Token) -> dict[str, object]:
    shown: dict[str, object] = msgspec.to_builtins(token)
    del shown["sha256"]
    return shown


def _tell(token: Token, *, is_new: bool = False) -> str:
    parts = [f"token {token.id} ({token.name}): {token.scope}", f"space {token.space}"]
    if token.operations != "all":
        parts.append(token.operations)
    if token.expires_at is not None:
        verb = "expired" if token.expires_at <= time.time() else "expires"
        parts.append(f"{verb} {datetime.fromtimestamp(token.expires_at):%Y-%m-%d %H:%M}")
    if is_new:
        return ", ".join(parts)
    parts.append(f"created {datetime.fromtimestamp(token.created_at):%Y-%m-%d}")
    parts.append(f"last used {token.last_used}" if token.last_used else "never used")
    return ", ".join(parts)


COMMANDS = (create, list_, revoke)
