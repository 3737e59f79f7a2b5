"""Reader of Roo Code, whose tasks have the format of Cline's."""

from __future__ import annotations

from typing import Final

from mnemos.transfer.readers.cline import make_reader

READER: Final = make_reader("roo", "Roo Code")
