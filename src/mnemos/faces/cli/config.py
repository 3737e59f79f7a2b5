"""``mnemos config``: the settings of a home.

These are commands and not operations: a model must not raise its own limits or turn redaction off.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from mnemos.faces.cli.commands import Chosen, common_options
from mnemos.faces.cli.help_screens import HelpedCommand
from mnemos.faces.cli.output import in_json, plain
from mnemos.settings import Settings, home_folder

if TYPE_CHECKING:
    from mnemos.config_file import Setting

_NAME = ("NAME", "Name of a setting from `mnemos config`, such as audit_days or llm.model")


@click.command(cls=HelpedCommand, params=common_options(), example="config show")
@click.pass_obj
def show(chosen: Chosen) -> None:
    """Show every setting with its value and where the value comes from."""
    # Imported in each command, because tomlkit takes 30 ms.
    from mnemos.config_file import FILE, list_settings

    settings = list_settings(chosen.home, space=chosen.space)
    path = home_folder(chosen.home) / FILE
    if chosen.json:
        click.echo(in_json({"file": str(path), "settings": [asdict(one) for one in settings]}))
        return
    width = max(len(one.name) for one in settings)
    click.echo(plain(f"{path}{'' if path.exists() else ' (does not exist yet)'}\n"))
    for one in settings:
        origin = "" if one.origin == "default" else f"  ({one.origin})"
        click.echo(plain(f"{one.name:{width}}  {one.value or '-'}{origin}"))
    click.echo("\nValues without a note are defaults. To change one: mnemos config set NAME VALUE")


@click.command(cls=HelpedCommand, params=common_options(), arguments=[_NAME], example="config get embedder")
@click.argument("name")
@click.pass_obj
def get(chosen: Chosen, name: str) -> None:
    """Print the value of a setting."""
    from mnemos.config_file import get_setting

    setting = get_setting(name, chosen.home, space=chosen.space)
    click.echo(in_json(asdict(setting)) if chosen.json else plain(setting.value))


@click.command(
    "set",
    cls=HelpedCommand,
    params=common_options(),
    arguments=[_NAME, ("VALUE", "Its new value; separate several names with commas")],
    example="config set audit_days 90",
)
@click.argument("name")
@click.argument("value")
@click.pass_obj
def set_(chosen: Chosen, name: str, value: str) -> None:
    """Set a value in config.toml. Comments and other settings are kept."""
    from mnemos.config_file import check_name, get_setting, set_value

    check_name(name)
    _check_enabled(chosen, name)
    set_value(home_folder(chosen.home), name, value)
    _report(chosen, get_setting(name, chosen.home, space=chosen.space))


@click.command(
    cls=HelpedCommand, params=common_options(), arguments=[_NAME], example="config unset audit_days"
)
@click.argument("name")
@click.pass_obj
def unset(chosen: Chosen, name: str) -> None:
    """Delete a setting from config.toml, so that its default applies."""
    from mnemos.config_file import check_name, get_setting, unset_value

    check_name(name)
    _check_enabled(chosen, name)
    unset_value(home_folder(chosen.home), name)
    _report(chosen, get_setting(name, chosen.home, space=chosen.space))


def _check_enabled(chosen: Chosen, name: str) -> None:
    if name != "disabled":
        Settings.load(chosen.home).check_enabled()


def _report(chosen: Chosen, setting: Setting) -> None:
    if chosen.json:
        click.echo(in_json(asdict(setting)))
        return
    from mnemos.config_file import FILE

    wins = "" if setting.origin in ("default", FILE) else f"; {setting.origin} overrides {FILE}"
    click.echo(plain(f"{setting.name} is now {setting.value or 'empty'} ({setting.origin}{wins})."))


COMMANDS = (show, get, set_, unset)
