"""Short forms that facts are written with, and what they stand for. The one table of them."""

from __future__ import annotations

from typing import Final

from mnemos.text.words import runs, stem

ABBREVIATIONS: Final = {
    "cfg": "configuration",
    "impl": "implementation",
    "msg": "message",
    "req": "requirement",
    "usr": "user",
    "resp": "response",
    "prod": "production",
    "feat": "feature",
    "dev": "development",
    "deps": "dependencies",
    "auth": "authentication",
    "err": "error",
    "db": "database",
    "btn": "button",
    "env": "environment",
    "doc": "documentation",
    "perf": "performance",
    "init": "initialization",
    "mgmt": "management",
    "refct": "refactor",
    "mvmt": "movement",
    "notif": "notification",
    "perms": "permissions",
    "val": "validation",
    "async": "asynchronous",
    "sync": "synchronization",
    "mndtry": "mandatory",
    "nvr": "never",
    "alw": "always",
    "tmp": "temporary",
    "idx": "index",
    "tbl": "table",
    "svc": "service",
    "pkg": "package",
    "repo": "repository",
    "api": "interface",
    "clt": "client",
    "srv": "server",
}

# Signs and fragments that are no words of a text, but are read as some.
SIGNS: Final = {"pr": "for", "w/": "with", "→": "then/to", "↑": "upgrade"}

# Long words by their stems: "configured" is found by "cfg" as "configuration" is.
_SHORT: Final = {stem(long): short for short, long in ABBREVIATIONS.items()}


def counterparts(text: str) -> str:
    """The other forms of what is written here: of short forms the long, of long forms the short."""
    there = [form for run in runs(text) for form in run.forms]
    found: dict[str, None] = {}
    for form in there:
        long = ABBREVIATIONS.get(form)
        short = _SHORT.get(stem(form)) if long is None else None
        if long is not None:
            found[long] = None
        elif short is not None:
            found[short] = None
    return " ".join(form for form in found if form not in there)
