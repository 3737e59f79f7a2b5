"""Tokens that name their kind, and credentials where protocols keep them: URLs, headers, cookies, key files.

Every expression is linear, because a hostile text may have megabytes.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Final

from mnemos.text.secret_values import (
    is_generated,
    is_key,
    is_password,
    is_password_in_url,
    is_placeholder,
    is_random,
)
from mnemos.text.secrets import Find

# --- tokens that name their kind -----------------------------------------------------------------

# A JSON escape that may come right before a token: \n, \t, \u201c.
_ESCAPE: Final = re.compile(r"[nrtbf]|u[0-9A-Fa-f]{4}")

# Rows of kind, least length of the whole token, prefixes. A longer prefix comes before its beginning.
_ROWS: Final = Path(__file__).with_suffix(".tsv").read_text(encoding="utf-8").splitlines()
_KINDS: Final = tuple(
    (kind, int(least), several) for kind, least, several in (row.split("\t") for row in _ROWS)
)
_PREFIXES: Final = {prefix: (kind, least) for kind, least, several in _KINDS for prefix in several.split()}
_ANY_PREFIX: Final = re.compile("|".join(map(re.escape, _PREFIXES)))
_MOST_NAMES: Final = 6
UNNAMED: Final = ("M", "N", "O")
"""The beginnings of Discord tokens, which have no other prefix."""
BEGINNINGS: Final = frozenset(prefix[:2] for prefix in (*_PREFIXES, "eyJ", "ew", "SK", "AA"))
"""The first two characters of tokens."""
_SHAPES: Final = {
    "AWS access key": re.compile(r"[A-Z0-9]{20}"),
    "Google API key": re.compile(r"[\w-]{39}"),
    "SendGrid key": re.compile(r"SG\.[\w-]{16,32}\.[\w-]{32,64}"),
    "Databricks token": re.compile(r"dapi[0-9a-f]{32}(?:-\d)?"),
    "Mailgun key": re.compile(r"key-[0-9a-f]{32}"),
    "Pulumi token": re.compile(r"pul-[0-9a-f]{40}"),
    "Alibaba key": re.compile(r"LTAI[A-Za-z0-9]{12,26}"),
}
# These have no sign that ends the prefix, so that a piece of base64 may begin like one.
_LOOK_ALIKES: Final = {
    "Square token": re.compile(r"(?<![+/])(?:EAAA[\w-]{60}|sq0atp-[\w-]{22,}+)(?![\w+/=-])"),
    "Facebook token": re.compile(r"(?<![+/])EAA[A-Za-z][A-Za-z0-9]{96,}+(?![\w+/=-])"),
    "Artifactory key": re.compile(r"(?<![+/])(?:AKCp\w{69}|cmVmd\w{59})(?![\w+/=-])"),
}
_DOTTED: Final = frozenset(
    ("SendGrid key", "Google token", "Slack token", "Vault token", "Doppler token", "Dynatrace token")
)
_REST_OF_BASE64: Final = re.compile(r"[A-Za-z0-9+/_-]*={0,3}")
_BASE64: Final = frozenset(
    ("Fly token", "Grafana token", "Sentry token", "1Password token", "AWS Bedrock key")
)
_JWT: Final = re.compile(r"eyJ[\w-]{8,}+\.[\w-]{8,}+(?:\.[\w-]{8,}+)?+")
_TWILIO: Final = re.compile(r"SK[0-9a-f]{32}")
_DISCORD: Final = re.compile(r"[MNO][\w-]{22,27}+\.[\w-]{6}\.[\w-]{27,45}+")
_TELEGRAM_ID: Final = re.compile(r"(?<![0-9])[0-9]{8,10}:\Z")
_TELEGRAM: Final = re.compile(r"AA[\w-]{31,34}")
_SIGNATURE: Final = re.compile(r"[?&](?:amp;)?(?:sig|X-Amz-Signature)=([A-Za-z0-9%+/=_-]{32,}+)")
_HOOK: Final = re.compile(
    r"(?:hooks\.slack\.com/(?:services|workflows|triggers)/|discord(?:app)?\.com/api/webhooks/)"
    r"([A-Za-z0-9_/-]{30,}+)"
)
# {"auths": …} in base64, as Kubernetes keeps it.
_DOCKER_CONFIG: Final = re.compile(
    r"(?:eyJhdXRoc|eyAiYXV0aHMi|ewoJImF1dGhz|ewogICJhdXRoc|ewogICAgImF1dGhz)[A-Za-z0-9+/]{24,}+={0,2}"
)


def find_tokens(text: str, runs: str, long_run: str) -> Iterator[Find]:
    """Yield known tokens; ``runs`` is the text with one character for all that a token may have."""
    end = 0
    while (start := runs.find(long_run, end)) >= 0:
        end = runs.find(" ", start)
        end = end if end >= 0 else len(text)
        if start and text[start - 1] == "\\" and (escape := _ESCAPE.match(text, start)):
            start = escape.end()
        # A token may come after a name and a full stop, and a full stop may follow it.
        for _ in range(_MOST_NAMES):
            # Checked before the run is copied, because hardly any run begins like a token.
            if text[start : start + 2] in BEGINNINGS or text[start : start + 1] in UNNAMED:
                value = text[start:end].rstrip(".")
                if value and (secret := _match_token(text, start, value)):
                    yield secret
                    break
            start = text.find(".", start, end) + 1
            if not start or end - start < len(long_run):
                break
    if "hooks.slack." in text or "/webhooks/" in text:
        yield from _find_all(text, "webhook", _HOOK)
    if "sig=" in text or "Signature=" in text:
        yield from _find_all(text, "URL signature", _SIGNATURE)
    if "PRIVATE KEY" in text:
        for key in _PRIVATE_KEY.finditer(text):
            yield ("private key", *key.span())


def _find_all(text: str, kind: str, expression: re.Pattern[str]) -> Iterator[Find]:
    for match in expression.finditer(text):
        if is_random(match[1]):
            yield (kind, *match.span(1))


def _match_token(text: str, start: int, value: str) -> Find | None:
    if (prefix := _ANY_PREFIX.match(value)) and (secret := _match_kind(text, start, value, prefix[0])):
        return secret
    if value.startswith("eyJ") and (jwt := _JWT.match(value)):
        return ("JWT", start, start + jwt.end())
    if config := _DOCKER_CONFIG.match(text, start):
        return ("Docker auth", *config.span())
    if _TWILIO.fullmatch(value):
        return ("Twilio key", start, start + len(value))
    if value[0] in UNNAMED and (discord := _DISCORD.fullmatch(value)) and is_random(value):
        return ("Discord token", start, start + discord.end())
    before = text[max(0, start - 16) : start]
    if _TELEGRAM.fullmatch(value) and _TELEGRAM_ID.search(before):
        return ("Telegram bot token", start, start + len(value))
    return None


def _match_kind(text: str, start: int, value: str, prefix: str) -> Find | None:
    kind, least = _PREFIXES[prefix]
    if kind not in _DOTTED:
        value = value.partition(".")[0]
    if len(value) < least or is_placeholder(value):
        return None
    end = start + len(value)
    shape = _SHAPES.get(kind)
    genuine = shape.fullmatch(value) if shape else is_random(value) or is_generated(value[len(prefix) :])
    if (alike := _LOOK_ALIKES.get(kind)) and not alike.match(text, start):
        return None
    if genuine and kind in _BASE64 and (rest := _REST_OF_BASE64.match(text, end)):
        end = rest.end()
    return (kind, start, end) if genuine else None


# --- URLs, headers, key files --------------------------------------------------------------------

# The greedy run includes an @ of the password itself and ends at the path.
_USER_INFO: Final = re.compile(r"://[^\s/:@\"'`\\<>]{0,128}:([^\s/\"'`\\<>]{1,256})@(?=[\w\[.-])")
_LONE_USER: Final = re.compile(
    r"://([A-Za-z0-9_~-]{20,128}(?::[0-9a-f]{32})?)@[\w.-]{1,255}(?P<project>/\d+\b)?"
)
_SENTRY_KEY: Final = re.compile(r"[0-9a-f]{32}(?::[0-9a-f]{32})?")
_PORT_AND_QUERY: Final = re.compile(r"\d{1,5}[?#]")
_BEARER: Final = re.compile(r"(?i)\bbearer[ :=\"']{1,3}([A-Za-z0-9._~+/-]{16,}+=*)")
# curl -u name:password
_USER_FLAG: Final = re.compile(
    r" -(?:u|-user|-proxy-user)[ =]{0,2}\\*[\"']?[\w.@-]{1,64}+:([^\s\"'`\\]{1,128}+)"
)
# mysql -ppassword, sshpass -p password, docker login -p password, redis-cli -a password
_PASSWORD_FLAG: Final = re.compile(
    r"\b(?:mysql(?:dump|admin)?|sshpass|mariadb|mongo(?:sh|dump|restore)?|(?:docker|podman) login|redis-cli)"
    r"(?: [^\s\"'`\\|;&]{1,40}+){0,6}? -[pa] ?\\*[\"']?([^\s\"'`\\]{1,128}+)"
)
_PROGRAMS: Final = ("mysql", "sshpass", "mariadb", "mongo", " login ", "redis-cli")
_COOKIE_FLAG: Final = re.compile(r"\bcurl [^\r\n]{0,200}?-b[ =]?\\*[\"']?([^\r\n\"']{1,2048}+)")
_BASIC: Final = re.compile(r"(?i)\bbasic {1,4}([A-Za-z0-9+/]{8,}+={0,2})")
# After "auth": "…" of Docker's config.json, and _auth=… of npm.
_AUTH: Final = re.compile(r"auth\\*[\"']?[ \t]{0,4}[:=][ \t]{0,4}\\*[\"']?([A-Za-z0-9+/]{8,}+={0,2})", re.I)
_AUTHORIZATION: Final = re.compile(
    r"auth(?:orization\\*[\"']?[ \t]{0,4}[:=]|\\*[\"']?:)[ \t]{0,4}\\*[\"']?(?:[a-z-]{3,12} )?"
    r"([\w.~+/=-]{20,512}+)(?![(\[])",
    re.I,
)
_COOKIE: Final = re.compile(
    r"cookies?\\*[\"']?(?:[ \t]{0,4}[:=][ \t]{0,4}|[ (])\\*[\"']?([^\r\n]{1,4096}+)", re.I
)
_COOKIE_PAIR: Final = re.compile(
    r"(?P<name>[\w.-]{1,64}+)(?P<sign>=|\\*[\"'] ?[:=,] ?\\*[\"'])(?P<value>[^\s;,\"'\\&?<>]{8,512}+)"
)
_SESSION: Final = re.compile(r"(?i)sess|sid$|auth|token|jwt|login|remember|csrf|xsrf|clearance")
# PHPSESSID, JSESSIONID, ASP.NET_SessionId and laravel_session mean a cookie anywhere.
_SESSION_ID: Final = re.compile(
    r"sess(?:ion)?(?:id)?(?:=|\\*[\"'] ?[:=,] ?\\*[\"'])([^\s;,\"'\\&?<>]{8,512}+)", re.I
)
_BEFORE_SESSION_ID: Final = ("php", "j", ".net_", "laravel_")
_SEPARATOR: Final = r"(?:\s|\\++[nrt])"
_PRIVATE_KEY: Final = re.compile(
    r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
    rf"(?:{_SEPARATOR}{{1,8}}+[A-Z][A-Za-z-]{{2,20}}: [^\n\\\"]{{0,200}}+){{0,8}}"
    rf"{_SEPARATOR}*+[A-Za-z0-9+/=]{{24,}}+(?:{_SEPARATOR}++[A-Za-z0-9+/=]{{32,}}+)*+"
    rf"(?:{_SEPARATOR}*+(?:[A-Za-z0-9+/=]{{1,76}}+{_SEPARATOR}*+){{0,2}}"
    r"-----END (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----)?+"
)


def find_url_passwords(text: str) -> Iterator[Find]:
    for url in _LONE_USER.finditer(text):
        if url["project"] and _SENTRY_KEY.fullmatch(url[1]):
            yield ("Sentry DSN", *url.span(1))
        elif is_random(url[1]):
            yield ("password in URL", *url.span(1))
    for url in _USER_INFO.finditer(text):
        if not _PORT_AND_QUERY.match(url[1]) and is_password_in_url(url[1]):
            yield ("password in URL", *url.span(1))


def find_command_passwords(text: str) -> Iterator[Find]:
    flags = [_USER_FLAG.finditer(text)]
    if any(program in text for program in _PROGRAMS):
        flags.append(_PASSWORD_FLAG.finditer(text))
    for command in chain(*flags):
        # docker run -u 1000:1000 gives two numbers, neither of them a password.
        if not command[1].isdigit() and is_password(command[1], quoted=False):
            yield ("password", *command.span(1))


def find_bearer_tokens(text: str) -> Iterator[Find]:
    return _find_all(text, "bearer token", _BEARER)


def find_basic_credentials(text: str) -> Iterator[Find]:
    for basic in _BASIC.finditer(text):
        if _is_login(basic[1]):
            yield ("basic auth", *basic.span(1))


def find_authorizations(text: str, folded: str) -> Iterator[Find]:
    end = 0
    for at in _find_word(folded, "auth"):
        if at < end or text[at - 1 : at].isalnum():
            continue
        if (auth := _AUTH.match(text, at)) and _is_login(auth[1]):
            yield ("Docker auth", *auth.span(1))
        elif auth := _AUTHORIZATION.match(text, at):
            end = auth.end()
            if is_random(auth[1]) and is_key(auth[1], quoted=False):
                yield ("authorization", *auth.span(1))


def _find_word(folded: str, word: str) -> Iterator[int]:
    at = -1
    while (at := folded.find(word, at + 1)) >= 0:
        yield at


def _is_login(encoded: str) -> bool:
    """True for the base64 of a name and a password; "Basic instructions" is base64, too."""
    try:
        credentials = base64.b64decode(encoded, validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return False
    return ":" in credentials and credentials.isprintable()


def find_cookies(text: str, folded: str) -> Iterator[Find]:
    end = 0
    for at in _find_word(folded, "cookie"):
        # A header that names itself again is read once.
        if at >= end and (header := _COOKIE.match(text, at)):
            end = header.end()
            yield from _find_cookie_values(text, header)
    if "curl " in text and " -b" in text:
        for flag in _COOKIE_FLAG.finditer(text):
            yield from _find_cookie_values(text, flag)


def _find_cookie_values(text: str, header: re.Match[str]) -> Iterator[Find]:
    for pair in _COOKIE_PAIR.finditer(text, *header.span(1)):
        name, value, is_plain = pair["name"], pair["value"], pair["sign"] == "="
        is_session = _SESSION.search(name) or (is_plain and len(value) >= 32 and is_random(value))
        if is_session and is_key(value, quoted=not is_plain):
            yield ("session cookie", *pair.span("value"))


def find_session_ids(text: str, folded: str) -> Iterator[Find]:
    end = 0
    for at in _find_word(folded, "sess"):
        if at < end or not (cookie := _SESSION_ID.match(text, at)):
            continue
        end = cookie.end()
        if folded.endswith(_BEFORE_SESSION_ID, 0, at) and is_key(cookie[1], quoted=True):
            yield ("session cookie", *cookie.span(1))
