"""The forms of secrets in a text, and the rules that tell a secret from a placeholder.

Separate from ``secrets``, which decides by literals whether any of it is needed: compiling these expressions
takes longer than the rest of a start. Every expression is linear, because a hostile text may have megabytes.

Documentation, code and chat are full of ``password=$PASSWORD`` and ``token: next-page-2``. A value counts as
a secret if it looks chosen or generated: letters with digits or signs among them, and not a reference, a
placeholder, a path, a version or the name of a thing. Letters alone count as a word.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

Find = tuple[str, int, int]
"""The kind of a secret, where its value starts, and where it ends."""

# --- tokens that name their kind -----------------------------------------------------------------

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
    ("mnm_", "Mnemos token", 40),
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
# The beginnings of tokens. Every long run of letters is checked, and hardly any begins so.
UNNAMED: Final = "MNO"
"""The beginnings of Discord tokens, which have no other prefix."""
BEGINNINGS: Final = frozenset(prefix[:2] for prefix in (*_ANY_PREFIX, "eyJ", "SK", "AA"))
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


def find_tokens(text: str, runs: str, long_run: str) -> Iterator[Find]:
    """Yield known tokens; ``runs`` is the text with one character for all that a token may have."""
    end = 0
    while (start := runs.find(long_run, end)) >= 0:
        end = runs.find(" ", start)
        end = end if end >= 0 else len(text)
        if start and text[start - 1] == "\\" and (escape := _ESCAPE.match(text, start)):
            start = escape.end()
        # A full stop may follow the token.
        value = text[start:end].rstrip(".")
        if value and (secret := _match_token(text, start, value)):
            yield secret
    if ".com/" in text:
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
    if value[:2] not in BEGINNINGS and value[0] not in UNNAMED:
        return None
    if value.startswith(_ANY_PREFIX):
        kind, length = next((k, n) for prefix, k, n in _PREFIXES if value.startswith(prefix))
        if kind not in _DOTTED:
            value = value.partition(".")[0]
        shape = _SHAPES.get(kind)
        genuine = shape.fullmatch(value) and not is_placeholder(value) if shape else is_random(value)
        if genuine and len(value) >= length:
            return (kind, start, start + len(value))
    if value.startswith("eyJ") and (jwt := _JWT.match(value)):
        return ("JWT", start, start + jwt.end())
    if _TWILIO.fullmatch(value):
        return ("Twilio key", start, start + len(value))
    if value[0] in UNNAMED and (discord := _DISCORD.fullmatch(value)) and is_random(value):
        return ("Discord token", start, start + discord.end())
    before = text[max(0, start - 16) : start]
    if _TELEGRAM.fullmatch(value) and _TELEGRAM_ID.search(before):
        return ("Telegram bot token", start, start + len(value))
    return None


# --- URLs, headers, key files --------------------------------------------------------------------

# The greedy run includes an @ of the password itself and ends at the path.
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


def find_url_passwords(text: str) -> Iterator[Find]:
    for url in _USER_INFO.finditer(text):
        if not _PORT_AND_QUERY.match(url[1]) and is_password_in_url(url[1]):
            yield ("password in URL", *url.span(1))


def find_command_passwords(text: str) -> Iterator[Find]:
    for command in _COMMAND.finditer(text):
        group = "user" if command["user"] else "pass"
        # docker run -u 1000:1000 gives two numbers, neither of them a password.
        if not command[group].isdigit() and is_password(command[group], quoted=False):
            yield ("password", *command.span(group))


def find_bearer_tokens(text: str) -> Iterator[Find]:
    return _find_all(text, "bearer token", _BEARER)


def find_basic_credentials(text: str) -> Iterator[Find]:
    for basic in _BASIC.finditer(text):
        try:
            credentials = base64.b64decode(basic[1], validate=True).decode("utf-8")
        except (binascii.Error, UnicodeDecodeError):
            continue
        # "Basic instructions" is base64 too, but not of a name and a password.
        if ":" in credentials and credentials.isprintable():
            yield ("basic auth", *basic.span(1))


# --- values given to a name ----------------------------------------------------------------------

# From the end of the name to the beginning of the value, in lower case. A loose sign may not be an
# assignment ("the password for root: …", "token …", "'password', '…'") and needs a value beyond doubt.
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
# Other meanings: the next page of results, a token of a model, part of an ARN, a compass.
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
_NEXT_PARAMETER: Final = re.compile(r"&(?=[\w. -]{1,40}=)|;")
_ASCII_LOWER: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


def find_assigned_values(text: str, names: list[str]) -> Iterator[Find]:
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
    """Return the kind of a value assigned to ``name``; None if the name means something else here."""
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


def _judge(text: str, kind: str, value: _Value, *, loose: bool) -> Find | None:
    # The beginning decides, so that a hostile megabyte is not judged.
    beginning = text[value.start : min(value.end, value.start + 256)]
    is_secret = is_password if kind == "password" else is_key
    if not is_secret(beginning, quoted=value.quoted) or (loose and not is_generated(beginning)):
        return None
    end = value.end
    if not value.quoted and end - value.start == _LONGEST_BARE:
        rest = _REST_OF_VALUE.match(text, end)
        end = rest.end() if rest else end
    return (kind, value.start, end)


def _end_of_quoted(text: str, start: int, opening: str) -> int | None:
    """Return the end of the string that ``opening`` begins; None if it is too far.

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


# --- secrets and placeholders ---------------------------------------------------------------------


def _in_one_case(words: str) -> str:
    """Match each word in lower, upper and title case: random letters mix them."""
    return "|".join(form for word in words.split() for form in (word, word.upper(), word.capitalize()))


_STAND_IN: Final = re.compile(
    _in_one_case("your example placeholder dummy redacted insert replace fake sample todo foobar xxxx")
    + r"|(?i:change.?me)|\*{3}|\.{3}|…|[<>]|\$[{(]|\{\{|\}\}|%\(|^\{\w*\}$|^%\w+%$|^\$\w+$"
)
_SECRET_NAME: Final = re.compile(_in_one_case("pass token secret key cred"))
_KEYBOARD: Final = re.compile(
    r"(?i)0123456789|1234567890|abcdefgh|qwerty|abc|def|ghi|xyz|123|456|789|foo|bar|baz|test|secret"
)
_NAMES_OF_SECRETS: Final = re.compile(
    r"(?i)(?:my|new|old|the|db|a|some|user|admin|root)?[-_ ]?"
    r"(?:pass(?:word|wd|phrase)?|pwd|pw|secret|token|(?:api)?[-_ ]?key|user(?:name)?|hash|value)s?"
)
_REFERENCE: Final = re.compile(
    r"[$:]\w+$|[!#&|]\w|--|[-+]?[/~.]|[A-Za-z]:\\|[A-Za-z_][\w.]*[(\[{]|[A-Za-z][\w+.-]*://"
    r"|(?:arn|vault|op|env|ssm|file|keyring|aws|gcp|azure|k8s|sops|ENC|ref|secretref)[:\[]"
    r"|(?:os|process|settings|config|conf|cfg|self|this|args|options|opts|params|request|req|env"
    r"|ctx|data|body|event|import|vars?|secrets|credentials|creds|user)\.\w"
    r"|\d{4}-\d\d-\d\d|\d{1,2}:\d\d|v?\d+(?:\.\d+)+$|\d+(?:\.\d+)?\s?%$",
    re.A,
)
_FILE: Final = re.compile(
    r"(?i).*\.(?:pem|key|json|ya?ml|txt|env|p12|pfx|crt|cer|toml|ini|cfg|conf|py|jsx?|tsx?|go|rs|md|sh"
    r"|java|rb|php|html?|xml|sql|log|csv|com|org|net|io|dev|local)"
)
_EMAIL: Final = re.compile(r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,8}")
_ALGORITHM: Final = re.compile(
    r"(?i:(?:hmac|x|rsa|ecdsa|ssh)?[-_]?(?:aes|rsa|sha|md|es|hs|rs|ps|base|argon|pbkdf|oauth|ed|utf|saml"
    r"|tls|ssl|ripemd|blake|chacha|curve|http|gpt|llama|ipv|oidc|bcrypt|scrypt)[-_]?\d{0,5}"
    r"(?:id|[-_][a-z]{1,6})*|\d?password|lastpass|bitwarden|keepassx?c?)|\d{1,3}[a-z]+"
)
_PART: Final = re.compile(r"[A-Za-z]{1,20}\d{0,2}|\d{1,4}|\d{1,2}[A-Za-z]{1,2}")
_SPACE: Final = re.compile(r"\s")
# Later scripts have no spaces, so that a sentence would look like a value.
_LAST_CYRILLIC: Final = "\u052f"
_LETTER: Final = re.compile(r"[^\W\d_]")
_DIGIT: Final = re.compile(r"[0-9]")
_SIGN: Final = re.compile(r"[@#$%^&*+~]")


def is_placeholder(value: str) -> bool:
    """True for a placeholder such as ``xxxx`` or ``<your key>``."""
    if len(set(value)) < min(8, 1 + len(value) // 2) or _STAND_IN.search(value):
        return True
    return len(_KEYBOARD.sub("", value)) <= len(value) // 3


def is_random(token: str) -> bool:
    """True if a part of ``token`` looks generated rather than written."""
    return not is_placeholder(token) and any(
        len(part) >= 12 and (_has_letters_and_digits(part) or _is_mixed_case(part))
        for part in re.split(r"[-_./]", token)
    )


def is_generated(value: str) -> bool:
    """True if letters and digits alternate as in random values."""
    kinds = ["d" if c.isdigit() else "u" if c.isupper() else "l" for c in value if c.isalnum()]
    changes = sum(before != after for before, after in pairwise(kinds))
    return len(kinds) >= 10 and "d" in kinds and 3 * changes >= len(kinds)


def is_password_in_url(value: str) -> bool:
    """True if a value in the place of a URL's password is one."""
    return not (
        is_placeholder(value) or _NAMES_OF_SECRETS.fullmatch(value) or value[0] in "$%{[(" or len(value) < 3
    )


def is_password(value: str, *, quoted: bool) -> bool:
    """True if a value assigned to a password is one."""
    if len(value) < 6:
        return False
    chosen = value.isdigit() or _has_letters_and_digits(value)
    if not chosen and not (len(value) >= 8 and _SIGN.search(value) and _LETTER.search(value)):
        return False
    return not _is_something_else(value, quoted=quoted)


def is_key(value: str, *, quoted: bool) -> bool:
    """True if a value assigned to a key, a token or a secret is one."""
    if len(value) < 10:
        return False
    if not _has_letters_and_digits(value) and not (len(value) >= 20 and _is_mixed_case(value)):
        return False
    return not _is_something_else(value, quoted=quoted)


def _is_something_else(value: str, *, quoted: bool) -> bool:
    return (
        _SPACE.search(value) is not None
        or max(value) > _LAST_CYRILLIC
        or is_placeholder(value)
        or _REFERENCE.match(value) is not None
        or _NAMES_OF_SECRETS.fullmatch(value) is not None
        or _FILE.fullmatch(value) is not None
        or _EMAIL.fullmatch(value) is not None
        or _ALGORITHM.fullmatch(value) is not None
        or _is_name(value)
        or (not quoted and _is_variable(value))
    )


def _is_name(value: str) -> bool:
    """True for words and small numbers: next-page-2, us-east-1, DB_PASSWORD_2."""
    parts = re.split(r"[-_.:/]+", value.strip("-_.:/"))
    return (
        len(parts) > 1
        and (value.islower() or value.isupper())
        and all(_PART.fullmatch(part) for part in parts)
    )


def _is_variable(value: str) -> bool:
    """True for the name of a value without quotes: password1, userToken2, config.key1."""
    return value.replace(".", "").isidentifier() and ("." in value or _SECRET_NAME.search(value) is not None)


def _has_letters_and_digits(value: str) -> bool:
    return _DIGIT.search(value) is not None and _LETTER.search(value) is not None


def _is_mixed_case(value: str) -> bool:
    """True for random letters such as aTqLmR, unlike CamelCaseWords."""
    cases = [c.isupper() for c in value]
    return 5 * sum(before != after for before, after in pairwise(cases)) >= 2 * len(value)
