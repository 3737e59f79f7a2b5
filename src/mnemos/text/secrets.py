"""Secrets found in text and taken out before it is stored.

Three sources: tokens that say what they are (``ghp_…``), values given to a name that says so
(``password=…``, ``"api_key": "…"``), and the places a protocol keeps them (URLs, headers, key files).
Whatever is a stand-in for a secret stays: ``$PASSWORD``, ``sk-xxxx``, ``<your token>``.

Every message that is stored passes here, and hardly any holds a secret. So a few searches for
literals, in bytes, decide whether any expression runs at all; and every expression is linear,
because the text may be megabytes chosen by somebody hostile.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from mnemos.text.secret_values import (
    is_generated,
    is_key,
    is_password,
    is_password_in_url,
    is_placeholder,
    is_random,
)


@dataclass(frozen=True, slots=True)
class Secret:
    """Where the value of a secret is: ``text[start:end]``."""

    kind: str
    start: int
    end: int


def redact(text: str) -> str:
    """``text`` with the value of every secret replaced by ``[redacted: KIND]``.

    The same object when there is none. Redacting again changes nothing. Valid JSON stays valid,
    also JSON in a string of JSON.
    """
    found = find_secrets(text)
    if not found:
        return text
    parts: list[str] = []
    end = 0
    for secret in found:
        parts += text[end : secret.start], f"{_MARK}{secret.kind}]"
        end = secret.end
    return "".join(parts) + text[end:]


def find_secrets(text: str) -> list[Secret]:
    """The secrets of ``text`` in the order they stand in it; no two overlap."""
    # One byte a character, so that a place in it is a place in the text.
    data = text.encode("ascii", "replace")
    # Back to str at once: what is searched for is found in half the time it takes in bytes.
    folded = data.translate(_FOLDED).decode("ascii")
    if _DIGIT not in folded:
        return []
    found: list[Secret] = []
    runs = data.translate(_RUNS).decode("ascii")
    if _LONG_RUN in runs:
        found += _tokens(text, runs)
    if "@" in text and "://" in text:
        found += _passwords_in_urls(text)
    if "bearer" in folded:
        found += _found(text, "bearer token", _BEARER)
    if " -" in text and (" -u" in text or " -p" in text or " --" in text):
        found += _passwords_in_commands(text)
    if "basic " in folded:
        found += _basic_credentials(text)
    names = [name for name in _NAMES if name in folded]
    if not text.isascii():
        names += [name.lower() for name in _FOREIGN_NAMES if name in text]
    if names:
        found += _assigned_values(text, names)
    return _without_overlaps(found) if found else found


def _without_overlaps(found: list[Secret]) -> list[Secret]:
    """Overlapping finds become one, named by the one that starts first or, then, was found first."""
    kept: list[Secret] = []
    for secret in sorted(found, key=lambda each: each.start):
        if kept and secret.start < kept[-1].end:
            kept[-1] = Secret(kept[-1].kind, kept[-1].start, max(kept[-1].end, secret.end))
        else:
            kept.append(secret)
    return kept


_MARK: Final = "[redacted: "

# No secret is without a digit or one of these signs, and many a message is.
_DIGIT: Final = "0"
_FOLDED: Final = bytes(range(256)).lower().translate(bytes.maketrans(b"123456789@#$%^&*+~", b"0" * 18))
_RUN_OF: Final = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
_RUNS: Final = bytes(ord("a" if byte in _RUN_OF else " ") for byte in range(256))
_LONG_RUN: Final = "a" * 20
_NAMES: Final = ("pass", "key", "token", "secret", "pw")
_FOREIGN_NAMES: Final = (
    *("пароль", "Пароль", "密码", "密碼", "パスワード", "비밀번호", "contraseña", "Contraseña"),
    *("hasło", "Hasło", "şifre", "Şifre", "كلمة المرور"),
)

# --- tokens that say what they are ---------------------------------------------------------------

# The escape of JSON that may stand right before a token: \n, \t, \u201c.
_ESCAPE: Final = re.compile(r"[nrtbf]|u[0-9A-Fa-f]{4}")

# Prefix, kind, least length of the whole token.
_PREFIXES: Final = (
    ("sk-ant-", "Anthropic key", 30),
    ("sk-or-", "OpenRouter key", 30),
    ("sk-", "OpenAI key", 23),
    ("AKIA", "AWS access key", 20),
    ("ASIA", "AWS access key", 20),
    ("github_pat_", "GitHub token", 40),
    ("ghp_", "GitHub token", 34),
    ("gho_", "GitHub token", 34),
    ("ghu_", "GitHub token", 34),
    ("ghs_", "GitHub token", 34),
    ("ghr_", "GitHub token", 34),
    ("glpat-", "GitLab token", 26),
    ("gldt-", "GitLab token", 25),
    ("glrt-", "GitLab token", 25),
    ("xoxa-", "Slack token", 24),
    ("xoxb-", "Slack token", 24),
    ("xoxe-", "Slack token", 24),
    ("xoxe.", "Slack token", 24),
    ("xoxo-", "Slack token", 24),
    ("xoxp-", "Slack token", 24),
    ("xoxr-", "Slack token", 24),
    ("xoxs-", "Slack token", 24),
    ("xapp-", "Slack token", 24),
    ("sk_live_", "Stripe key", 24),
    ("sk_test_", "Stripe key", 24),
    ("rk_live_", "Stripe key", 24),
    ("rk_test_", "Stripe key", 24),
    ("whsec_", "Stripe key", 30),
    ("AIza", "Google API key", 39),
    ("GOCSPX-", "Google client secret", 30),
    ("ya29.", "Google token", 30),
    ("npm_", "npm token", 36),
    ("pypi-", "PyPI token", 50),
    ("hf_", "Hugging Face token", 30),
    ("dop_v1_", "DigitalOcean token", 50),
    ("doo_v1_", "DigitalOcean token", 50),
    ("dor_v1_", "DigitalOcean token", 50),
    ("SG.", "SendGrid key", 50),
    ("gsk_", "Groq key", 30),
    ("xai-", "xAI key", 40),
    ("pplx-", "Perplexity key", 40),
    ("tvly-", "Tavily key", 25),
    ("r8_", "Replicate token", 35),
    ("lin_api_", "Linear key", 35),
    ("ntn_", "Notion token", 35),
    ("secret_", "Notion token", 45),
    ("shpat_", "Shopify token", 36),
    ("shpss_", "Shopify token", 36),
    ("figd_", "Figma token", 35),
    ("dapi", "Databricks token", 34),
    ("glsa_", "Grafana token", 35),
    ("hvs.", "Vault token", 28),
    ("ATATT3", "Atlassian token", 60),
    ("sntrys_", "Sentry token", 40),
    ("dckr_pat_", "Docker token", 30),
    ("rubygems_", "RubyGems token", 40),
    ("key-", "Mailgun key", 36),
    ("PMAK-", "Postman key", 40),
    ("NRAK-", "New Relic key", 30),
    ("AGE-SECRET-KEY-1", "age key", 60),
)
_ANY_PREFIX: Final = tuple(prefix for prefix, _, _ in _PREFIXES)
_SHAPES: Final = {
    "AWS access key": re.compile(r"[A-Z0-9]{20}"),
    "Google API key": re.compile(r"[\w-]{39}"),
    "SendGrid key": re.compile(r"SG\.[\w-]{16,32}\.[\w-]{32,64}"),
    "Databricks token": re.compile(r"dapi[0-9a-f]{32}(?:-\d)?"),
    "Mailgun key": re.compile(r"key-[0-9a-f]{32}"),
}
_DOTTED: Final = frozenset(("SendGrid key", "Google token", "Slack token", "Vault token"))
_JWT: Final = re.compile(r"eyJ[\w-]{8,}+\.[\w-]{8,}+(?:\.[\w-]{8,}+)?+")
_TWILIO: Final = re.compile(r"SK[0-9a-f]{32}")
_DISCORD: Final = re.compile(r"[MNO][\w-]{22,27}+\.[\w-]{6}\.[\w-]{27,45}+")
_TELEGRAM_ID: Final = re.compile(r"(?<![0-9])[0-9]{8,10}:\Z")
_TELEGRAM: Final = re.compile(r"AA[\w-]{31,34}")
_SIGNATURE: Final = re.compile(r"[?&](?:amp;)?(?:sig|X-Amz-Signature)=([A-Za-z0-9%+/=_-]{32,}+)")
_HOOK: Final = re.compile(
    r"(?:hooks\.slack\.com/(?:services|workflows)/|discord(?:app)?\.com/api/webhooks/)"
    r"([A-Za-z0-9_/-]{30,}+)"
)


def _tokens(text: str, runs: str) -> Iterator[Secret]:
    end = 0
    while (start := runs.find(_LONG_RUN, end)) >= 0:
        end = runs.find(" ", start)
        end = end if end >= 0 else len(text)
        if start and text[start - 1] == "\\" and (escape := _ESCAPE.match(text, start)):
            start = escape.end()
        # A sentence may end right after it.
        value = text[start:end].rstrip(".")
        if value and (secret := _known_token(text, start, value)):
            yield secret
    if ".com/" in text:
        yield from _found(text, "webhook", _HOOK)
    if "ig" in text:
        yield from _found(text, "URL signature", _SIGNATURE)
    if "PRIVATE KEY" in text:
        for key in _PRIVATE_KEY.finditer(text):
            yield Secret("private key", *key.span())


def _found(text: str, kind: str, expression: re.Pattern[str]) -> Iterator[Secret]:
    for match in expression.finditer(text):
        if is_random(match[1]):
            yield Secret(kind, *match.span(1))


def _known_token(text: str, start: int, value: str) -> Secret | None:
    if value.startswith(_ANY_PREFIX):
        kind, length = next((k, n) for prefix, k, n in _PREFIXES if value.startswith(prefix))
        if kind not in _DOTTED:
            value = value.partition(".")[0]
        shape = _SHAPES.get(kind)
        genuine = shape.fullmatch(value) and not is_placeholder(value) if shape else is_random(value)
        if genuine and len(value) >= length:
            return Secret(kind, start, start + len(value))
    if value.startswith("eyJ") and (jwt := _JWT.match(value)):
        return Secret("JWT", start, start + jwt.end())
    if _TWILIO.fullmatch(value):
        return Secret("Twilio key", start, start + len(value))
    if value[0] in "MNO" and (discord := _DISCORD.fullmatch(value)) and is_random(value):
        return Secret("Discord token", start, start + discord.end())
    before = text[max(0, start - 16) : start]
    if _TELEGRAM.fullmatch(value) and _TELEGRAM_ID.search(before):
        return Secret("Telegram bot token", start, start + len(value))
    return None


# --- URLs, headers, key files --------------------------------------------------------------------

# The greedy run takes in an @ of the password itself; it ends at the path.
_USER_INFO: Final = re.compile(r"://[^\s/:@\"'`\\<>]{0,128}:([^\s/\"'`\\<>]{1,256})@(?=[\w\[.-])")
_PORT_AND_QUERY: Final = re.compile(r"\d{1,5}[?#]")
_BEARER: Final = re.compile(r"(?i)\bbearer[ :=\"']{1,3}([A-Za-z0-9._~+/-]{16,}+=*)")
# curl -u name:password, mysql -ppassword, sshpass -p password
_COMMAND: Final = re.compile(
    r" (?:-u|--user|--proxy-user)[ =]{0,2}\\*[\"']?[\w.@-]{1,64}+:(?P<user>[^\s\"'`\\]{1,128}+)"
    r"|\b(?:mysql(?:dump|admin)?|sshpass|mariadb)(?: [^\s\"'`\\|;&]{1,40}+){0,6}? "
    r"-p ?\\*[\"']?(?P<pass>[^\s\"'`\\]{1,128}+)"
)
_BASIC: Final = re.compile(r"(?i)\bbasic {1,4}([A-Za-z0-9+/]{8,}+={0,2})")
_SEPARATOR: Final = r"(?:\s|\\++[nrt])"
_PRIVATE_KEY: Final = re.compile(
    r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
    rf"(?:{_SEPARATOR}{{1,8}}+[A-Z][A-Za-z-]{{2,20}}: [^\n\\\"]{{0,200}}+){{0,8}}"
    rf"{_SEPARATOR}*+[A-Za-z0-9+/=]{{24,}}+(?:{_SEPARATOR}++[A-Za-z0-9+/=]{{32,}}+)*+"
    rf"(?:{_SEPARATOR}*+(?:[A-Za-z0-9+/=]{{1,76}}+{_SEPARATOR}*+){{0,2}}"
    r"-----END (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----)?+"
)


def _passwords_in_urls(text: str) -> Iterator[Secret]:
    for url in _USER_INFO.finditer(text):
        if not _PORT_AND_QUERY.match(url[1]) and is_password_in_url(url[1]):
            yield Secret("password in URL", *url.span(1))


def _passwords_in_commands(text: str) -> Iterator[Secret]:
    for command in _COMMAND.finditer(text):
        group = "user" if command["user"] else "pass"
        # docker run -u 1000:1000 gives two numbers, neither of them a password.
        if not command[group].isdigit() and is_password(command[group], quoted=False):
            yield Secret("password", *command.span(group))


def _basic_credentials(text: str) -> Iterator[Secret]:
    for basic in _BASIC.finditer(text):
        try:
            credentials = base64.b64decode(basic[1], validate=True).decode("utf-8")
        except (binascii.Error, UnicodeDecodeError):
            continue
        # "Basic instructions" is base64 too, but not of a name and a password.
        if ":" in credentials and credentials.isprintable():
            yield Secret("basic auth", *basic.span(1))


# --- values given to a name ----------------------------------------------------------------------

# From the end of the name to the beginning of the value, in lower case. A loose sign may well be
# none ("the password for root: …", "token …", "'password', '…'"): it takes a value beyond doubt.
_ASSIGNED: Final = re.compile(
    r"(?:word|wd|phrase|code|wort|e|d)?[0-9]?(?![a-z0-9_])"
    r"(?:(?P<close>\\*[\"'`])[\])]?)?"
    r"(?:(?P<sign>[ \t]{0,8}(?:=>|:=|==?|[:：>])|[ \t]{1,4}(?:is|was|to):?(?=[ \t])"
    r"|(?:[\s,]|\\++n){1,40}+\\*[\"']?value\\*[\"']?[ \t]{0,2}[:=])"
    r"|(?P<loose>(?:[ \t]{1,4}[a-z0-9]{1,12}){1,4}?(?::|[ \t]is)(?=[ \t])|,|(?=[ \t])))"
    r"[ \t]{0,8}(?:(?:str|string|text|bytes|secretstr)[ \t]{0,2}=[ \t]{0,2})?"
    r"(?:[bruf]{0,2}(?P<open>\\*[\"'`]))?"
)
_KIND_OF_KEY: Final = re.compile(
    r"(?:(?P<aws>secret[ _-]?access)|(?P<azure>account|shared[ _-]?access)|api|access|secret|private"
    r"|encryption|signing|auth|master|client|subscription|consumer|app|server|license)[ _-]?\Z"
)
_FLAG: Final = re.compile(r"(?:^|[\s\"'`=\[,(])--?[a-z0-9-]*\Z")
# A page of results, a stop word of a model, a compass.
# The next page of results; a word that means something to a model; part of an ARN; a compass.
_NO_SECRET: Final = {
    "token": re.compile(r"(?:page|next|output|continuation|sync|cursor|idempotency|eos|bos|pad|unk)[_ -]?\Z"),
    "secret": re.compile(r"[0-9]:\Z"),
    "pass": re.compile(r"(?:com|by|tres|over|under|sur|en|out|im|band)\Z"),
    "pw": re.compile(r"[a-z]\Z"),
}
_LONGEST_VALUE: Final = 8_192
_LONGEST_BARE: Final = 512
_BARE_VALUE: Final = re.compile(rf"[^\s\"'`\\<>]{{1,{_LONGEST_BARE}}}+")
_REST_OF_VALUE: Final = re.compile(r"[^\s\"'`\\<>]*+")
_NEXT_PARAMETER: Final = re.compile(r"[&;](?=[\w. -]{1,40}=)|;")
_ASCII_LOWER: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


def _assigned_values(text: str, names: list[str]) -> Iterator[Secret]:
    lower = text.lower()
    if len(lower) != len(text):
        lower = text.translate(_ASCII_LOWER)
    for name in names:
        at = -1
        while (at := lower.find(name, at + 1)) >= 0:
            match = _ASSIGNED.match(lower, at + len(name))
            kind = _kind_of(name, lower[max(0, at - 24) : at]) if match else None
            if match and kind and (value := _value_after(text, match)):
                flag = match["loose"] == "" and _FLAG.search(lower[max(0, at - 24) : at])
                loose = match["loose"] is not None and not flag
                if secret := _judge(text, kind, value, loose=loose):
                    yield secret
                if secret or not (value.quoted or loose):
                    at = value.end - 1


def _kind_of(name: str, before: str) -> str | None:
    """What a value given to ``name`` is, or None when the name does not mean a secret here."""
    if name == "key":
        key = _KIND_OF_KEY.search(before)
        return key and ("AWS secret key" if key["aws"] else "Azure key" if key["azure"] else "API key")
    if (no_secret := _NO_SECRET.get(name)) and no_secret.search(before):
        return None
    return name if name in ("secret", "token") else "password"


@dataclass(frozen=True, slots=True)
class _Value:
    start: int
    end: int
    quoted: bool


def _value_after(text: str, match: re.Match[str]) -> _Value | None:
    start, sign = match.end(), match["sign"] or match["loose"]
    if match["open"] and (end := _end_of_quoted(text, start, match["open"])) is not None:
        return _Value(start, end, quoted=True)
    if sign == "," or (match["close"] and not match["open"]):
        return None  # "token": 7 is a number of JSON, and must stay one
    end = _end_of_bare(text, start)
    tag = sign.endswith(">") and not sign.endswith("=>")
    if end == start or (tag and not text.startswith("</", end)):
        return None
    return _Value(start, end, quoted=False)


def _judge(text: str, kind: str, value: _Value, *, loose: bool) -> Secret | None:
    # What begins like a secret is one to its end, and a hostile text is not judged by the megabyte.
    beginning = text[value.start : min(value.end, value.start + 256)]
    is_secret = is_password if kind == "password" else is_key
    if not is_secret(beginning, quoted=value.quoted) or (loose and not is_generated(beginning)):
        return None
    end = value.end
    if not value.quoted and end - value.start == _LONGEST_BARE:
        rest = _REST_OF_VALUE.match(text, end)
        end = rest.end() if rest else end
    return Secret(kind, value.start, end)


def _end_of_quoted(text: str, start: int, opening: str) -> int | None:
    """Where the string that ``opening`` begins ends, or None if its end is not in sight.

    In JSON in a string of JSON a quote is ``\\"``, and a quote in a value there is ``\\\\\\"``: each
    level doubles the backslashes and adds one, which tells the end from a quote in the value.
    """
    depth, mark = len(opening) - 1, opening[-1]
    at = start - 1
    while (at := text.find(mark, at + 1, start + _LONGEST_VALUE)) >= 0:
        slashes = at - start - len(text[start:at].rstrip("\\"))
        if slashes < depth:
            return None
        if slashes % (2 * (depth + 1)) == depth:
            return at - depth
    return None


def _end_of_bare(text: str, start: int) -> int:
    bare = _BARE_VALUE.match(text, start)
    if bare is None:
        return start
    if parameter := _NEXT_PARAMETER.search(text, start, bare.end()):
        return parameter.start()
    if bare.end() - start == _LONGEST_BARE:
        return bare.end()
    return start + len(bare[0].rstrip(",.:;)]}"))
