"""Words that find a fact although it doesn't contain them.

Facts are written with short forms (``cfg``) and show values without naming their kind
(``api.example.com:3005`` is a host and a port). People ask with the long forms and the kinds. The words
are indexed with the fact and never shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
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

# Signs and fragments that have a meaning in the notation.
SIGNS: Final = {"pr": "for", "w/": "with", "→": "then/to", "↑": "upgrade"}

# Keyed by stem, so that "configured" finds "cfg" just as "configuration" does.
_SHORT: Final = {stem(long): short for short, long in ABBREVIATIONS.items()}

# Searched in order; each match adds its words. The text may have any length, so every pattern is linear: it
# starts with the deciding sign, or at the beginning of a run of characters.
_SHAPES: Final = tuple(
    (re.compile(pattern, re.IGNORECASE), words)
    for pattern, words in (
        (r"\w:\d{2,5}(?![\d:])", "port host address"),
        (r"\bport \d", "port"),
        (r"\w://", "url link address"),
        (r"(?<![\w@.-])(?:[\w-]+\.)+(?:com|org|net|io|dev|app|internal|local|de|fr|es|eu)\b", "host url"),
        (r"\b\d{1,3}(?:\.\d{1,3}){3}\b", "ip address"),
        (r"[\w.+-]@[\w-]+\.\w", "email mail address"),
        (r"(?<!\w)\+\d[\d ()/-]{6}", "phone telephone number call"),
        (r"(?<![\w.])v?\d+(?:\.\d+){1,3}(?![\w.]|\s?(?:%|s\b|h\b|d\b|eur|usd|mb|gb|kb))", "version"),
        (r"\b\d+\s?lts\b", "version"),
        (r"[€$£]\s?\d|\d\s?(?:€|\$|£|eur|usd|gbp|chf|euros?|dollars?)\b", "price cost money"),
        (r"\d\s?%", "percent share"),
        (r"\b(?:[01]?\d|2[0-3])[:h][0-5]\d\b", "time when clock"),
        (r"\d\s?(?:s|sec|secs|seconds?)\b", "seconds long time"),
        (r"\d\s?(?:m|min|mins|minutes?)\b", "minutes long time"),
        (r"\d\s?(?:h|hrs?|hours?)\b", "hours long time"),
        (r"\d\s?(?:d|j|days?|jours?|tage?)\b", "days long time"),
        (r"\d\s?(?:w|wks?|weeks?)\b", "weeks long time"),
        (r"\d\s?(?:mo|months?)\b", "months long time"),
        (r"\d\s?(?:y|yrs?|years?)\b", "years long time"),
        (r"\d\s?(?:[kmgt]i?b)\b", "size space"),
        (r"\d\s?(?:req|requests?|calls?)?/(?:s|sec|min|h|d)\b", "rate limit"),
        (r"(?<!\S)~?/[\w.-]|\w/\w+/\w", "path file folder"),
        (r"(?<!\S)#[a-z][\w-]", "channel chat"),
        (r"\b\d{4}-\d\d-\d\d\b", "date day when"),
        (r"→|->", "then to"),
        (r">=|≥", "at least minimum"),
        (r"<=|≤", "at most maximum"),
    )
)

# Short forms common in software. Unlike those of the notation, they aren't taught to models.
_COMMON: Final = {
    "2fa": "second factor", "acct": "account", "addr": "address", "admin": "administrator",
    "app": "application", "arch": "architecture", "avg": "average", "ci": "build pipeline integration",
    "cert": "certificate", "conf": "configuration", "config": "configuration", "cpu": "processor",
    "creds": "credentials", "cron": "schedule", "dns": "domain name", "fe": "frontend", "fw": "firmware",
    "gdpr": "privacy data protection", "hw": "hardware", "img": "image", "infra": "infrastructure",
    "int": "integer number", "js": "javascript", "jwt": "token", "k8s": "kubernetes", "kb": "knowledge",
    "lang": "language", "lb": "load balancer", "lib": "library", "loc": "location", "max": "maximum most",
    "mfa": "second factor", "min": "minimum least", "mx": "mail", "num": "number", "oncall": "on call duty",
    "ops": "operations", "org": "organisation", "os": "operating system", "param": "parameter",
    "pg": "postgres postgresql", "pii": "personal data", "pw": "password", "pwd": "password",
    "py": "python", "qa": "testing quality", "qty": "quantity", "ram": "memory", "rel": "release",
    "sched": "schedule", "sla": "service level answer time", "spec": "specification", "ssh": "remote login",
    "sso": "single sign on", "ssl": "certificate encryption", "sw": "software", "tel": "phone telephone",
    "temp": "temperature", "tls": "certificate encryption", "totp": "second factor", "ts": "typescript",
    "ttl": "lifetime expiry cache", "txt": "text", "tz": "time zone timezone", "ui": "user interface",
    "ver": "version", "vm": "virtual machine", "vpn": "private network remote access",
    "mon": "monday", "tue": "tuesday", "wed": "wednesday", "thu": "thursday", "fri": "friday",
    "sat": "saturday", "sun": "sunday", "jan": "january", "feb": "february", "mar": "march", "apr": "april",
    "jun": "june", "jul": "july", "aug": "august", "sep": "september", "sept": "september",
    "oct": "october", "nov": "november", "dec": "december",
}  # fmt: skip


def find_counterparts(text: str) -> str:
    """Return the long forms of the short forms in a text, and the other way round."""
    there = _forms(text)
    found: dict[str, None] = {}
    for form in there:
        other = ABBREVIATIONS.get(form) or _SHORT.get(stem(form))
        if other is not None:
            found[other] = None
    return " ".join(form for form in found if form not in there)


def name_kinds(text: str) -> str:
    """Return the words people ask with for the values in a text, such as "port" or "price"."""
    there = set(_forms(text))
    return " ".join(dict.fromkeys(word for word in _kinds(text, there) if word not in there))


def _forms(text: str) -> list[str]:
    return [form for run in runs(text) for form in run.forms]


def _kinds(text: str, there: set[str]) -> Iterator[str]:
    for pattern, words in _SHAPES:
        if pattern.search(text):
            yield from words.split()
    for form in sorted(there & _COMMON.keys()):
        yield from _COMMON[form].split()
