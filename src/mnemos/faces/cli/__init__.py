"""The ``mnemos`` command."""

from __future__ import annotations

import sys

from mnemos import __version__


def main() -> None:
    """Run the command line. ``--version`` answers before anything is imported."""
    if sys.argv[1:] == ["--version"]:
        sys.stdout.write(f"mnemos {__version__}\n")
        return
    # click and what the command needs: only when a command is really run.
    from mnemos.faces.cli.app import run

    sys.exit(run())
