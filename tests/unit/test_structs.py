"""Conversion into structs from several threads."""

from __future__ import annotations

import subprocess
import sys

# A second thread converts into the type while its fields are still being looked at.
_RACE = """
import threading
import msgspec
from mnemos.structs import convert

class Inner(msgspec.Struct):
    number: "wait_for_other()"

class Outer(msgspec.Struct):
    inner: Inner
    name: str

found = []
other = threading.Thread(target=lambda: found.append(convert({"name": "b", "inner": {"number": 2}}, Outer)))

def wait_for_other():
    if not other.ident:
        other.start()
        other.join(0.2)
    return int

found.append(convert({"name": "a", "inner": {"number": 1}}, Outer))
other.join()
print(sorted(one.name + str(one.inner.number) for one in found))
"""


def test_two_threads_convert_into_a_type_that_is_new_to_both() -> None:
    done = subprocess.run([sys.executable, "-c", _RACE], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "['a1', 'b2']\n"), done.stderr
