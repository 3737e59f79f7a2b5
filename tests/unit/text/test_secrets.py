import base64
import json
import random
import re
import string
import uuid
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemos.text.secrets import Secret, find_secrets, redact

FIXTURES = Path(__file__).parent / "fixtures"
SECRETS = json.loads((FIXTURES / "secrets.json").read_text("utf-8"))
NO_SECRETS = json.loads((FIXTURES / "no_secrets.json").read_text("utf-8"))

# The fixtures hold recipes, {an:36}, and no literal that a scanner of secrets would take for one.
ALPHABETS = {
    "an": string.ascii_letters + string.digits,
    "low": string.ascii_lowercase + string.digits,
    "up": string.ascii_uppercase + "234567",
    "hex": string.digits + "abcdef",
    "dig": string.digits,
    "url": string.ascii_letters + string.digits + "_-",
    "b64": string.ascii_letters + string.digits + "+/",
    "b64a": string.ascii_letters + string.digits + "+/",
}
RECIPE = re.compile(r"\{(uuid|jwt|(?:an|low|up|hex|dig|url|b64|b64a|basic|pem|pemn|pemnn|pemcut):[^{}]*)\}")


def cook(text: str, seed: int) -> str:
    chance = random.Random(seed)

    def letters(alphabet: str, length: int) -> str:
        # The first and the last are letters or digits: a sign there may not belong to the secret.
        made = chance.choices(ALPHABETS[alphabet], k=length)
        while length > 1 and alphabet in ("url", "b64", "b64a") and not made[0].isalnum():
            made[0] = chance.choice(ALPHABETS["an"])
        if length > 1 and not made[-1].isalnum():
            made[-1] = chance.choice(ALPHABETS["an"])
        return "".join(made)

    def one(match: re.Match[str]) -> str:
        name, _, rest = match[1].partition(":")
        if name == "uuid":
            return str(uuid.UUID(int=chance.getrandbits(128), version=4))
        if name == "jwt":
            return f"eyJ{letters('an', 33)}.eyJ{letters('an', 60)}.{letters('url', 43)}"
        if name == "basic":
            return base64.b64encode(rest.encode()).decode()
        if name.startswith("pem"):
            return private_key(name, rest)
        return letters(name, int(rest))

    def private_key(name: str, label: str) -> str:
        newline = {"pemn": "\\n", "pemnn": "\\\\n"}.get(name, "\n")
        body = [letters("b64", 64) for _ in range(6)]
        if name == "pemcut":
            return newline.join([f"-----BEGIN {label}PRIVATE KEY-----", *body])
        ends = f"-----BEGIN {label}PRIVATE KEY-----", f"-----END {label}PRIVATE KEY-----"
        return newline.join([ends[0], *body, letters("b64", 22) + "==", ends[1]])

    return RECIPE.sub(one, text)


def expected(recipe: dict[str, str], seed: int) -> tuple[str, Secret, str]:
    """The text, where its secret is, and the text without it."""
    before, _, rest = cook(recipe["text"], seed).partition("⟦")
    value, _, after = rest.partition("⟧")
    secret = Secret(recipe["kind"], len(before), len(before) + len(value))
    return before + value + after, secret, f"{before}[redacted: {recipe['kind']}]{after}"


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def test_there_are_enough_labelled_texts():
    assert len(SECRETS) >= 150
    assert len(NO_SECRETS) >= 150


@pytest.mark.parametrize("number", range(len(SECRETS)))
def test_a_secret_is_found_and_nothing_but_its_value_is_replaced(number):
    text, secret, redacted = expected(SECRETS[number], seed=number)
    assert find_secrets(text) == [secret]
    assert redact(text) == redacted


@pytest.mark.parametrize("number", range(len(NO_SECRETS)))
def test_a_text_without_secrets_comes_back_as_the_same_object(number):
    text = cook(NO_SECRETS[number], seed=number)
    assert redact(text) is text
    assert find_secrets(text) == []
