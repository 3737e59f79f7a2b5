"""``hermes mnemos …``: the commands of Mnemos on the memory of this Hermes."""

from __future__ import annotations

import argparse
import sys

DESCRIPTION = """The commands of Mnemos, on the memory that this Hermes uses, such as:

  hermes mnemos recall "which port does staging use?"
  hermes mnemos sessions list
  hermes mnemos doctor

Without arguments, it shows where the memory is. `hermes mnemos -- --help` lists all commands."""


def register_cli(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``hermes mnemos``."""
    parser.description = DESCRIPTION
    parser.add_argument("words", nargs=argparse.REMAINDER, help="a mnemos command and its arguments")
    parser.set_defaults(func=mnemos_command)


def mnemos_command(arguments: argparse.Namespace) -> None:
    """Run a command of Mnemos, and exit with its code unless that is 0."""
    # Imported here, because Hermes builds its whole command line whichever part it runs.
    from mnemos.errors import MnemosError
    from mnemos.faces.cli.app import run
    from mnemos.integrations.hermes import host
    from mnemos.integrations.hermes.provider import HermesMemoryProvider

    words = arguments.words[1:] if arguments.words[:1] == ["--"] else arguments.words
    try:
        found = host.find_place(host.find_home())
        if not words:
            for name, value in HermesMemoryProvider().get_status_config({}).items():
                sys.stdout.write(f"{name}: {value}\n")
            return
    except MnemosError as exc:
        sys.exit(f"mnemos: {exc}")
    code = run(["--home", str(found.home), "--space", found.space, *words])
    if code:
        sys.exit(code)
