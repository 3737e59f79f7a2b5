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
    data = text.encode("utf-8", "surrogatepass")
    found: list[Secret] = []
    if _LONG_RUN in data.translate(_RUNS):
        found += _tokens(text)
    if b"://" in data:
        found += _url_secrets(text)
    folded = data.translate(_LOWER)
    if b"private key" in folded:
        found += _private_keys(text)
    if b"basic " in folded:
        found += _basic_credentials(text)
    if (
        b"pass" in folded
        or b"key" in folded
        or b"token" in folded
        or b"secret" in folded
        or b"pwd" in folded
        or (len(data) != len(text) and any(name in folded for name in _FOREIGN))
    ):
        found += _assigned_values(text)
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

_TOKEN_CHARACTERS: Final = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
_LOWER: Final = bytes(range(256)).lower()
_RUNS: Final = bytes(97 if byte in _TOKEN_CHARACTERS else 32 for byte in range(256))
_LONG_RUN: Final = b"a" * 20
_FOREIGN: Final = tuple(
    name.encode() for name in ("пароль", "Пароль", "密码", "密碼", "パスワード", "비밀번호", "contraseña")
)

# --- tokens that say what they are ---------------------------------------------------------------

_RUN: Final = re.compile(r"[A-Za-z0-9_.-]{20,}")
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
_BEARER: Final = re.compile(r"(?i)\bbearer[ :=\"']{1,3}\Z")
_BEARER_VALUE: Final = re.compile(r"[A-Za-z0-9._~+/-]{16,}+=*")
_HOOK: Final = re.compile(
    r"(?:hooks\.slack\.com/(?:services|workflows)/|discord(?:app)?\.com/api/webhooks/)"
    r"([\w/-]{30,}+)"
)


def _tokens(text: str) -> Iterator[Secret]:
    for run in _RUN.finditer(text):
        start, end = run.span()
        if start and text[start - 1] == "\\" and (escape := _ESCAPE.match(text, start)):
            start = escape.end()
        # A sentence may end right after it.
        value = text[start:end].rstrip(".")
        if value and (secret := _known_token(text, start, value)):
            yield secret
    if ".com/" in text:
        for hook in _HOOK.finditer(text):
            if is_random(hook[1]):
                yield Secret("webhook", *hook.span(1))


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
    if _BEARER.search(before) and (bearer := _BEARER_VALUE.match(text, start)) and is_random(value):
        return Secret("bearer token", start, bearer.end())
    return None


# --- URLs, headers, key files --------------------------------------------------------------------

# The greedy run takes in an @ of the password itself; it ends at the path.
_USER_INFO: Final = re.compile(r"://[^\s/:@\"'`\\<>]{0,128}:([^\s/\"'`\\<>]{1,256})@(?=[\w\[.-])")
_PORT_AND_QUERY: Final = re.compile(r"\d{1,5}[?#]")
_SIGNATURE: Final = re.compile(r"[?&](?:amp;)?(?:sig|X-Amz-Signature)=([\w%+/=-]{32,}+)")
_BASIC: Final = re.compile(r"(?i)\bbasic {1,4}([A-Za-z0-9+/]{8,}+={0,2})")
_SEPARATOR: Final = r"(?:\s|\\++[nrt])"
_PRIVATE_KEY: Final = re.compile(
    r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
    rf"(?:{_SEPARATOR}{{1,8}}+[A-Z][A-Za-z-]{{2,20}}: [^\n\\\"]{{0,200}}+){{0,8}}"
    rf"{_SEPARATOR}*+[A-Za-z0-9+/=]{{24,}}+(?:{_SEPARATOR}++[A-Za-z0-9+/=]{{16,}}+)*+"
    rf"(?:{_SEPARATOR}*+(?:[A-Za-z0-9+/=]{{1,76}}+{_SEPARATOR}*+){{0,2}}"
    r"-----END (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----)?+"
)


def _url_secrets(text: str) -> Iterator[Secret]:
    if "@" in text:
        for url in _USER_INFO.finditer(text):
            if not _PORT_AND_QUERY.match(url[1]) and is_password_in_url(url[1]):
                yield Secret("password in URL", *url.span(1))
    if "ig" in text:
        for signature in _SIGNATURE.finditer(text):
            if is_random(signature[1]):
                yield Secret("URL signature", *signature.span(1))


def _private_keys(text: str) -> Iterator[Secret]:
    for key in _PRIVATE_KEY.finditer(text):
        yield Secret("private key", *key.span())


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

_FOREIGN_NAMES: Final = "пароль|密码|密碼|パスワード|비밀번호|contraseña|mot de passe"
# Looked for in lower case: ignoring case costs four times as much.
_NAME: Final = re.compile(
    rf"(?P<name>pass(?:word|wd|phrase|code|wort)?|pwd|{_FOREIGN_NAMES}"
    r"|(?:(?:secret|shared)[ _-]?access|api|access|secret|private|encryption|signing|auth|master"
    r"|account|client|subscription|consumer|app|server|license)[ _-]?key"
    r"|secret|token)[0-9]?(?![a-z0-9_])"
    r"(?P<close>\\*[\"'`])?[\])]?"
    r"(?P<sign>[ \t]{0,8}(?:=>|:=|==?|[:：>])|[ \t]{1,4}(?:is|was|to):?(?=[ \t])|(?=[ \t]))"
    r"[ \t]{0,8}(?:(?:str|string|text|bytes|secretstr)[ \t]{0,2}=[ \t]{0,2})?"
    r"(?:[bruf]{0,2}(?P<open>\\*[\"'`]))?"
)
_FLAG: Final = re.compile(r"(?:^|[\s\"'`=\[,(])--?[a-z0-9-]*\Z")
# A page of results, a stop word of a model, a compass.
_NOT_A_NAME: Final = re.compile(r"(?:page|next|continuation|sync|cursor|eos|bos|pad|unk)[_ -]?\Z")
_LONGEST_VALUE: Final = 8_192
_BARE_VALUE: Final = re.compile(r"[^\s\"'`\\<>]{1,512}+")
_REST_OF_VALUE: Final = re.compile(r"[^\s\"'`\\<>]*+")
_NEXT_PARAMETER: Final = re.compile(r"[&;](?=[\w. -]{1,40}=)|;")
_ASCII_LOWER: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


def _assigned_values(text: str) -> Iterator[Secret]:
    lower = text.lower()
    if len(lower) != len(text):
        lower = text.translate(_ASCII_LOWER)
    done = 0
    for match in _NAME.finditer(lower):
        if match.start() >= done and _names_a_secret(lower, match):
            secret = _value_after(text, match)
            if secret:
                done = secret.end
                yield secret


def _names_a_secret(lower: str, match: re.Match[str]) -> bool:
    before = lower[max(0, match.start() - 24) : match.start()]
    if match["name"] == "pass" and before[-1:].isalpha():
        return False
    if not match["sign"] and not _FLAG.search(before):
        return False
    return not (match["name"] == "token" and _NOT_A_NAME.search(before))


def _value_after(text: str, match: re.Match[str]) -> Secret | None:
    start = match.end()
    end = _end_of_quoted(text, start, match["open"]) if match["open"] else None
    quoted = end is not None
    if end is None:
        if match["close"] and not match["open"]:
            return None  # "token": 7 is a number of JSON, and must stay one
        end = _end_of_bare(text, start)
    kind = _kind_of(match["name"])
    judge = is_password if kind == "password" else is_key
    return Secret(kind, start, end) if judge(text[start:end], quoted=quoted) else None


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
    end = bare.end()
    if end - start == 512:
        rest = _REST_OF_VALUE.match(text, end)
        end = rest.end() if rest else end
    return start + len(text[start:end].rstrip(",.:;)]}"))


def _kind_of(name: str) -> str:
    if name in ("secret", "token"):
        return name
    if not name.endswith("key"):
        return "password"
    if name.startswith(("account", "shared")):
        return "Azure key"
    return "AWS secret key" if name.startswith("secret") and "access" in name else "API key"
