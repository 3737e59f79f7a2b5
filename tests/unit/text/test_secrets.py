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
    "upp": string.ascii_uppercase + string.digits,
    "let": string.ascii_letters,
    "uplet": string.ascii_uppercase,
}
RECIPE = re.compile(rf"\{{(uuid|jwt|(?:{'|'.join(ALPHABETS)}|basic|pem|pemn|pemnn|pemcut):[^{{}}]*)\}}")


def cook(text: str, seed: int) -> str:
    chance = random.Random(seed)

    def letters(alphabet: str, length: int) -> str:
        # The first and the last are letters or digits: a sign there may not belong to the secret.
        made = chance.choices(ALPHABETS[alphabet], k=length)
        while length > 1 and alphabet in ("url", "b64", "b64a") and not made[0].isalnum():
            made[0] = chance.choice(ALPHABETS["an"])
        if length > 1 and not made[-1].isalnum():
            made[-1] = chance.choice(ALPHABETS["an"])
        # A value of letters only is looked for where its beginning names it.
        if alphabet not in ("let", "uplet"):
            made[length // 2] = chance.choice(string.digits)
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


def test_there_are_enough_labelled_texts():
    assert len(SECRETS) >= 300
    assert len(NO_SECRETS) >= 500


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


@pytest.mark.parametrize("ensure_ascii", [True, False])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_secret_is_found_in_json_and_in_json_inside_json(depth, ensure_ascii):
    for number, recipe in enumerate(SECRETS):
        text, _, redacted = expected(recipe, seed=number)
        if ensure_ascii and not text.isascii() and recipe["kind"] == "password":
            continue  # a name such as пароль is not recognised as \u043f\u0430…
        document = text
        for _ in range(depth):
            document = json.dumps({"n": 1, "text": document}, ensure_ascii=ensure_ascii)
        document = redact(document)
        for _ in range(depth):
            document = json.loads(document)["text"]
        assert document == redacted


def test_a_tool_call_with_arguments_in_json_keeps_its_shape():
    arguments = json.dumps({"password": 'a"b\\c4d5', "user": "me", "retries": 3})
    call = json.dumps([{"id": "call_1", "function": {"name": "login", "arguments": arguments}}])
    redacted = json.loads(json.loads(redact(call))[0]["function"]["arguments"])
    assert redacted == {"password": "[redacted: password]", "user": "me", "retries": 3}


def test_a_number_of_json_is_left_alone():
    text = '{"password": 48291377, "token": 12345678901234}'
    assert redact(text) is text


def test_several_secrets_are_found_in_the_order_of_the_text():
    text = cook("a ghp_{an:36} b password=hunter2 c postgres://u:s3same@h/d e sk-{an:48}", seed=1)
    found = find_secrets(text)
    assert [secret.kind for secret in found] == [
        "GitHub token",
        "password",
        "password in URL",
        "OpenAI key",
    ]
    assert [text[secret.start : secret.end] for secret in found][1:3] == ["hunter2", "s3same"]


def test_a_token_that_is_given_to_a_name_is_called_what_it_is():
    text = cook('"password": "ghp_{an:36}"', seed=2)
    assert redact(text) == '"password": "[redacted: GitHub token]"'


def test_a_secret_longer_than_any_bound_is_taken_out_whole():
    bare, quoted = cook("{an:20000}", seed=3), cook("{an:6000}", seed=4)
    assert redact(f"password={bare} x") == "password=[redacted: password] x"
    assert redact(f'"token": "{quoted}"') == '"token": "[redacted: token]"'


BARE = str.maketrans("", "", "⟦⟧")
PIECES = [
    *("password", "token", "api_key", "secret", "passwd", "Bearer ", "Basic ", "--token ", " is "),
    *(": ", "=", '"', "'", "`", "\\", '\\"', '\\\\\\"', "\n", "\\n", " ", "{", "}", "[", "]", ",", "&", ";"),
    *("://", "@", "user:", "postgres://", "host/", "hunter2", "S3cr3t!pw", "x1y2z3a4b5c6", "$VAR", "…"),
    *("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "eyJ", ".", "sk-", "ghp_", "AKIA"),
    *("[redacted: password]", "[redacted: JWT]", "пароль", "\ud800", "\x00", "é", "<", ">", "</"),
    *(
        "\u200b",
        "\\u200b",
        "\u2060",
        "\ufe0f",
        "Cookie: ",
        "sid=",
        "JSESSIONID=",
        '"auth": "',
        "Passwort ist ",
    ),
    *("mot de passe de x est ", "«", "“", ".", "b.", "===", "?", "||", "hf_", "EAAA", "https://", "@o1/2"),
    *(cook(recipe, seed=5) for recipe in ("{an:40}", "{b64:64}", "{hex:32}", "sk-{an:48}", "{jwt}")),
]
scraps = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)


@given(st.one_of(scraps, st.text(st.characters(exclude_categories=()))))
def test_redacting_twice_is_redacting_once(text):
    once = redact(text)
    assert redact(once) == once


@given(scraps)
def test_secrets_lie_in_the_text_in_order_and_apart(text):
    ends = [0]
    for secret in find_secrets(text):
        assert ends[-1] <= secret.start < secret.end <= len(text)
        ends.append(secret.end)


@given(scraps, st.booleans(), st.integers(1, 3))
def test_valid_json_stays_valid_at_every_depth(text, ensure_ascii, depth):
    document = json.dumps({"password": text, "list": [text, 1]}, ensure_ascii=ensure_ascii)
    for _ in range(depth):
        document = json.dumps({"text": document}, ensure_ascii=ensure_ascii)
    document = redact(document)
    for _ in range(depth):
        document = json.loads(document)["text"]
    assert set(json.loads(document)) == {"password", "list"}


HOSTILE = [
    *("a", " ", "\\", ".", "sk-", "eyJ", "eyJaaaaaaaaaa.", "-eyJ1", "-----BEGIN ", "password="),
    *('password="', "password:\\'", "password ", "--password ", "token: ", "api_key", "://", "://a:"),
    *("://a:b@", "basic ", "bearer ", "1234567890:AA", "?sig=", "https://hooks.slack.com/services/"),
    *("-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\\n", "\\n", "key-1", "[redacted: "),
    *("a1\u200b", "a\\u200bb1", "cookie: sid=", "jsessionid=", "auth=", "password for a ", "password:a.b.c."),
    *('password="\\"', "://" + "a" * 25 + "@", "pass:{a:", "password:$a[", "password: “"),
]


@pytest.mark.parametrize("scrap", HOSTILE)
def test_a_hostile_text_is_read_to_its_end(scrap):
    # Anything worse than linear would not come back from this in the life of a test run.
    text = scrap * (200_000 // len(scrap)) + "\n| password=hunter2"
    assert redact(text).endswith("password=[redacted: password]")
    assert redact("1 -----BEGIN PRIVATE KEY-----" + text).endswith("password=[redacted: password]")
