"""The ``mnemos`` command."""

from __future__ import annotations

import sys

from mnemos import __version__


def main() -> None:
    """Run the command line.

    The version is printed before anything is imported, and hooks run without click.
    """
    if sys.argv[1:] in (["--version"], ["-V"], ["version"]) and _print_version():
        return
    if sys.argv[1:2] == ["hook"] and _is_run_by_a_program(sys.argv[2:]):
        from mnemos.integrations.hooks import hook_watchdog

        hook_watchdog.main(sys.argv[2:])
    # Imported here, because click and a command's modules are only needed to run one.
    from mnemos.faces.cli.app import run

    sys.exit(run())


def _print_version() -> bool:
    """Return False if nothing could be written. The whole program then handles it."""
    try:
        print(f"mnemos {__version__}", flush=True)
    except OSError:
        return False
    return True


def _is_run_by_a_program(arguments: list[str]) -> bool:
    """True if a program runs the hook. A person who types one gets help instead."""
    asks = not arguments or not {"-h", "--help"}.isdisjoint(arguments)
    return not asks and not (sys.stdin is not None and sys.stdin.isatty())
