"""Run every regular expression of the package on hostile texts, and print those that take too long.

``python pattern_times.py SIZE [all]`` prints the number of expressions, and for each slow one its name with
the beginning of the text. With ``all``, each text is tried in two forms.
"""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mnemos

# Characters per second of CPU time. A linear expression reads a hundred times as many.
LEAST_SPEED = 40_000
# For those that see few characters.
SECONDS = 1.0
# The characters that these get to see at most, wherever they are used.
BOUNDED = {
    "language.closing.grammar.": 40,
    "language.closing.clauses.LANGUAGES": 40,
    "language.closing.clauses._IDENTIFIER": 100,
    "language.extraction.": 500,
    "language.brevity.": 2_500,
}
# Files of other programs that a person names, and SQL in a process that is ended in time.
ELSEWHERE = ("integrations.clients.", "integrations.hermes.plugin.", "integrations.providers.", "workspace.")
_REPEATED = """
a A 1 . _ - / \\ : , ' " ( [ { < = * @ ! ? ` é 东 😀 α a. a- a/ a: a@ 1. 1, <a> () [] \\" ://a. a@b. eyJ.
Aa aα a1 &#65; %41 -/ .- a-- ``` ~~~ ---
""".split()
_WITH_BLANKS = (
    " ",
    "\t",
    "\n",
    "a ",
    "1 ",
    "<a ",
    "- a\n",
    "a\n",
    " \n",
    "the ",
    "password ",
    "'a' ",
    "a'b ",
    "A ",
)


def make_texts(size: int) -> Iterator[str]:
    for unit in (*_REPEATED, *_WITH_BLANKS):
        text = (unit * (size // len(unit) + 1))[:size]
        # The last part decides, and nothing before it fits.
        yield f"x{text[:-2]}\0"
        if sys.argv[2:]:
            yield text


def find_patterns() -> dict[str, tuple[re.Pattern[Any], set[str]]]:
    """Return every expression with its name and the methods that are called on it."""
    found: dict[str, tuple[re.Pattern[Any], set[str]]] = {}
    for info in pkgutil.walk_packages(mnemos.__path__, "mnemos."):
        if info.name.endswith("__main__"):
            continue
        try:
            module = importlib.import_module(info.name)
        except ImportError:
            # An extra that is not installed.
            continue
        source = Path(module.__file__ or "").read_text(encoding="utf-8")
        for attribute, value in list(vars(module).items()):
            if getattr(value, "__module__", info.name) in (info.name, "re", None, "functools"):
                called = set(re.findall(rf"\b{re.escape(attribute)}(?:\(\))?\.(\w+)\(", source))
                for number, pattern in enumerate(_dig(value)):
                    name = f"{info.name.removeprefix('mnemos.')}.{attribute}"
                    found[f"{name}#{number}"] = pattern, called
    return found


def _dig(value: Any, depth: int = 0) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif depth > 5:
        return
    elif isinstance(value, dict):
        yield from _dig([*value.keys(), *value.values()], depth + 1)
    elif isinstance(value, (list, tuple, set, frozenset)):
        for one in value:
            yield from _dig(one, depth + 1)
    elif isinstance(value, type):
        yield from _dig([one for one in vars(value).values() if isinstance(one, re.Pattern)], depth + 1)
    elif hasattr(value, "cache_info"):
        # Compiled, or loaded with expressions in it, when first needed.
        wrapped = value.__wrapped__
        if hasattr(wrapped, "func") or not inspect.signature(wrapped).parameters:
            yield from _dig(value(), depth + 1)
    elif type(value).__module__.startswith("mnemos."):
        names = [*getattr(value, "__dict__", ()), *getattr(type(value), "__slots__", ())]
        yield from _dig([getattr(value, name, None) for name in names], depth + 1)


class TooSlow(Exception):
    pass


def ring(*_: object) -> None:
    raise TooSlow


def is_slow(pattern: re.Pattern[Any], methods: set[str], text: str, seconds: float) -> bool:
    subject: Any = text.encode() if isinstance(pattern.pattern, bytes) else text
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        if not methods or methods - {"match", "fullmatch"}:
            for _ in pattern.finditer(subject):
                pass
        if "match" in methods:
            pattern.match(subject)
        if "fullmatch" in methods:
            pattern.fullmatch(subject)
    except TooSlow:
        return True
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return False


def main() -> None:
    signal.signal(signal.SIGVTALRM, ring)
    whole = list(make_texts(int(sys.argv[1])))
    tried: set[object] = set()
    slow: list[str] = []
    for name, (pattern, methods) in find_patterns().items():
        key = pattern.pattern, pattern.flags, frozenset(methods)
        if name.startswith(ELSEWHERE) or key in tried:
            continue
        tried.add(key)
        bound = next((most for beginning, most in BOUNDED.items() if name.startswith(beginning)), None)
        seconds = SECONDS if bound is not None else len(whole[0]) / LEAST_SPEED
        for text in whole if bound is None else make_texts(bound):
            if is_slow(pattern, methods, text, seconds):
                slow.append(f"{name} on {text[:12]!r}")
                break
    print(json.dumps([len(tried), slow]))


if __name__ == "__main__":
    main()
