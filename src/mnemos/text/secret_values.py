"""Whether a value is a secret, or something that stands where a secret would.

Documentation, code and chat are full of ``password=$PASSWORD`` and ``token: next-page-2``. A value is
taken for a secret when it looks chosen or generated: letters with digits or signs among them, and
not a reference, a placeholder, a path, a version, or the name of a thing. What is made of letters
only is taken for a word.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final


def _in_one_case(words: str) -> str:
    """An expression for each of ``words`` in lower, upper and title case: random letters mix them."""
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
# Beyond it are scripts without spaces, in which a sentence would be a value.
_LAST_CYRILLIC: Final = "\u052f"
_LETTER: Final = re.compile(r"[^\W\d_]")
_DIGIT: Final = re.compile(r"[0-9]")
_SIGN: Final = re.compile(r"[@#$%^&*+~]")


def is_placeholder(value: str) -> bool:
    """Whether ``value`` says that a secret belongs here, as ``xxxx`` and ``<your key>`` do."""
    if len(set(value)) < min(8, 1 + len(value) // 2) or _STAND_IN.search(value):
        return True
    return len(_KEYBOARD.sub("", value)) <= len(value) // 3


def is_random(token: str) -> bool:
    """Whether a part of ``token`` looks generated rather than written."""
    return not is_placeholder(token) and any(
        len(part) >= 12 and (_has_letters_and_digits(part) or _is_mixed_case(part))
        for part in re.split(r"[-_./]", token)
    )


def is_generated(value: str) -> bool:
    """Whether ``value`` is beyond doubt: its letters and digits take turns as chance makes them."""
    kinds = ["d" if c.isdigit() else "u" if c.isupper() else "l" for c in value if c.isalnum()]
    changes = sum(before != after for before, after in pairwise(kinds))
    return len(kinds) >= 10 and "d" in kinds and 3 * changes >= len(kinds)


def is_password_in_url(value: str) -> bool:
    """Whether ``value``, found where URLs keep the password, is one."""
    return not (
        is_placeholder(value) or _NAMES_OF_SECRETS.fullmatch(value) or value[0] in "$%{[(" or len(value) < 3
    )


def is_password(value: str, *, quoted: bool) -> bool:
    """Whether ``value``, given to something called a password, is one."""
    if len(value) < 6:
        return False
    chosen = value.isdigit() or _has_letters_and_digits(value)
    if not chosen and not (len(value) >= 8 and _SIGN.search(value) and _LETTER.search(value)):
        return False
    return not _is_something_else(value, quoted=quoted)


def is_key(value: str, *, quoted: bool) -> bool:
    """Whether ``value``, given to something called a key, a token or a secret, is one."""
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
    """next-page-2, us-east-1, DB_PASSWORD_2, projects/7/secrets/db: words and small numbers."""
    parts = re.split(r"[-_.:/]+", value.strip("-_.:/"))
    return (
        len(parts) > 1
        and (value.islower() or value.isupper())
        and all(_PART.fullmatch(part) for part in parts)
    )


def _is_variable(value: str) -> bool:
    """password1, userToken2, config.key1: without quotes, the name of a value rather than a value."""
    return value.replace(".", "").isidentifier() and ("." in value or _SECRET_NAME.search(value) is not None)


def _has_letters_and_digits(value: str) -> bool:
    return _DIGIT.search(value) is not None and _LETTER.search(value) is not None


def _is_mixed_case(value: str) -> bool:
    """aTqLmR, unlike CamelCaseWords: in random letters every second one changes case."""
    cases = [c.isupper() for c in value]
    return 5 * sum(before != after for before, after in pairwise(cases)) >= 2 * len(value)
