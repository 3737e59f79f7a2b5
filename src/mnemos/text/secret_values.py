"""Rules that tell a secret from a placeholder, a reference, code and the name of a thing.

Documentation, code and chat are full of ``password=$PASSWORD`` and ``token: next-page-2``. A value counts as
a secret if it looks chosen or generated: letters with digits or signs among them, and not a reference, a
placeholder, a path, a version or the name of a thing. Letters alone count as a word, unless the beginning of
a known token comes before them and they look random.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final


def _in_one_case(words: str) -> str:
    """Match each word in lower, upper and title case: random letters mix them."""
    return "|".join(form for word in words.split() for form in (word, word.upper(), word.capitalize()))


_STAND_IN: Final = re.compile(
    _in_one_case("your example placeholder dummy redacted insert replace fake sample todo foobar xxxx")
    + r"|(?i:change.?me)|\*{3}|\.{3}|…|[<>]|\$[{(]|\{\{|\}\}|%\(|^\{\w*\}$|^%\w+%$|^\$\w+$"
)
_SECRET_NAME: Final = re.compile(_in_one_case("pass token secret key cred string"))
_KEYBOARD: Final = re.compile(
    r"(?i)0123456789|1234567890|abcdefgh|qwerty|abc|def|ghi|xyz|123|456|789|foo|bar|baz|test|secret"
)
_NAMES_OF_SECRETS: Final = re.compile(
    r"(?i)(?:my|new|old|the|db|a|some|user|admin|root)?[-_ ]?"
    r"(?:pass(?:word|wd|phrase)?|pwd|pw|secret|token|(?:api)?[-_ ]?key|user(?:name)?|hash|value)s?"
)
_REFERENCE: Final = re.compile(
    r"[$:]\w+$|[!#&|]\w|--|[-+]?[/~.]|[A-Za-z]:\\|[A-Za-z][\w+.-]*://"
    r"|(?:arn|vault|op|env|ssm|file|keyring|aws|gcp|azure|k8s|sops|ENC|ref|secretref)[:\[]"
    r"|(?:os|process|settings|config|conf|cfg|self|this|args|options|opts|params|request|req|env"
    r"|ctx|data|body|event|import|vars?|secrets|credentials|creds|user)\.\w"
    r"|\d{4}-\d\d-\d\d|\d{1,2}:\d\d|v?\d+(?:\.\d+)+$|\d+(?:\.\d+)?\s?%$|\[\w-",
    re.A,
)
# The beginnings of expressions: a call or an index, a member, a comparison, a choice, a type, an object.
_CODE: Final = re.compile(
    r"[A-Za-z_$][\w$.]*+(?:[(\[{]|::|->|\?\.|=>|[=!]==?(?=[\w$!(])|\?\?|\?[^\s:]{1,40}:|[|][A-Za-z][\w|]*$"
    r"|[-+*/][A-Za-z_$][\w$.]*+[(\[])"
    r"|[A-Za-z_$][\w$]*+(?:\.#?[A-Za-z_$][\w$]*+)+(?:$|[,;)\]}=&|?:+])"
    r"|\$[A-Za-z_]\w*+(?:\[|-?$)|\{(?:\}|[\w$]+[:,]|[\w$.]+\}?$)|\([\w$.]*[,)]|[(]{2}",
    re.A,
)
# Pairs of signs that are rare in passwords.
_CODE_INSIDE: Final = re.compile(r"\)\{|\}\)|\)\}|\(\)|&&|\|\||[=!]==|\bthis\.|-1[,)]")
# After "password: " the closing quote of the text, and then the code goes on.
_CODE_AFTER_QUOTE: Final = re.compile(r"\)[\s,;.?:)\]}]|\+[\w$.()\[\]]*[+}),;]|[,;]", re.A)
_CALL: Final = re.compile(r"[A-Za-z_][\w.:]*+[(\[{].*[)\]}]", re.A | re.S)
_FILE: Final = re.compile(
    r"(?i).*\.(?:pem|key|json|ya?ml|txt|env|p12|pfx|crt|cer|toml|ini|cfg|conf|py|jsx?|tsx?|go|rs|md|sh"
    r"|java|rb|php|html?|xml|sql|log|csv|com|org|net|io|dev|local)"
)
_EMAIL: Final = re.compile(r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,8}")
_ALGORITHM: Final = re.compile(
    r"(?i:(?:hmac|x|rsa|ecdsa|ssh)?[-_]?(?:aes|rsa|sha|md|es|hs|rs|ps|base|argon|pbkdf|oauth|ed|utf|saml"
    r"|tls|ssl|ripemd|blake|chacha|curve|http|gpt|llama|ipv|oidc|bcrypt|scrypt)[-_]?\d{0,5}"
    r"(?:id|[-_][a-z]{1,12})*|\d?password|lastpass|bitwarden|keepassx?c?)|\d{1,3}[a-z]+"
)
_PART: Final = re.compile(r"[A-Za-z]{1,20}\d{0,2}|\d{1,4}|\d{1,2}[A-Za-z]{1,2}")
_SPACE: Final = re.compile(r"\s")
# Later scripts have no spaces, so that a sentence would look like a value.
_LAST_CYRILLIC: Final = "\u052f"
_LETTER: Final = re.compile(r"[^\W\d_]")
_DIGIT: Final = re.compile(r"[0-9]")
_SIGN: Final = re.compile(r"[@#$%^&*+~]")
_VOWEL: Final = re.compile(r"[aeiouAEIOU]")
_RARE_LETTER: Final = re.compile(r"[jkqvwxzJKQVWXZ]")


def is_placeholder(value: str) -> bool:
    """True for a placeholder such as ``xxxx`` or ``<your key>``."""
    if len(set(value)) < min(8, 1 + len(value) // 2) or _STAND_IN.search(value):
        return True
    return len(_KEYBOARD.sub("", value)) <= len(value) // 3


def is_random(token: str) -> bool:
    """True if a part of ``token`` looks generated rather than written."""
    return not is_placeholder(token) and any(
        len(part) >= 12 and (_has_letters_and_digits(part) or _is_mixed_case(part) or _is_gibberish(part))
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


def is_code_after_quote(value: str) -> bool:
    """True for what follows a text that ends with the name of a secret: ``"Password:"),b("x")``."""
    return _CODE_AFTER_QUOTE.match(value) is not None


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
        or (_CALL.fullmatch(value) is not None if quoted else _is_code(value))
    )


def _is_name(value: str) -> bool:
    """True for words and small numbers: next-page-2, us-east-1, DB_PASSWORD_2."""
    parts = re.split(r"[-_.:/]+", value.strip("-_.:/"))
    return (
        len(parts) > 1
        and (value.islower() or value.isupper())
        and all(_PART.fullmatch(part) for part in parts)
    )


def _is_code(value: str) -> bool:
    """True for an expression or the name of a variable, as the value of a name without quotes."""
    return bool(_CODE.match(value) or _CODE_INSIDE.search(value)) or _is_variable(value)


def _is_variable(value: str) -> bool:
    """True for the name of a value without quotes: password1, userToken2, config.key1."""
    return value.replace(".", "").isidentifier() and ("." in value or _SECRET_NAME.search(value) is not None)


def _has_letters_and_digits(value: str) -> bool:
    return _DIGIT.search(value) is not None and _LETTER.search(value) is not None


def _is_mixed_case(value: str) -> bool:
    """True for random letters such as aTqLmR, unlike CamelCaseWords."""
    cases = [c.isupper() for c in value]
    return 5 * sum(before != after for before, after in pairwise(cases)) >= 2 * len(value)


def _is_gibberish(letters: str) -> bool:
    """True for random letters: half of them in upper case, or a quarter rare in words."""
    upper = sum(map(str.isupper, letters))
    is_odd = 2 * len(_RARE_LETTER.findall(letters)) > len(_VOWEL.findall(letters))
    return len(letters) >= 16 and (is_odd or len(letters) < 3 * upper < 2 * len(letters))
