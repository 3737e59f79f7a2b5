"""``python -m mnemos`` is the ``mnemos`` command."""

from __future__ import annotations

from mnemos.faces.cli import main

if __name__ == "__main__":
    main()
