"""Secrets are cut out of what is stored; what is left must still be what it was: text, or JSON."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from mnemos.sessions.sessions import Sessions

# Put together here, so that no scanner takes this file for a leak.
PIECES = [
    '"', "'", "\\", "\\\\", '\\"', "{", "}", "[", "]", ":", ",", "=", " ", "\n", "\r\n", "\t", "\0", "\u2028",
    "password", "password=", "password: ", '"password": "', "api_key=", "secret=", "token=", "PWD=",
    "Authorization: Bearer ", "Bearer ", "Basic ", "https://user:", "@host/", "postgres://u:p", "ssh-rsa ",
    "-----BEGIN " + "PRIVATE KEY-----", "-----END " + "PRIVATE KEY-----",
    "-----BEGIN RSA " + "PRIVATE KEY-----",
    "AKIA" + "ABCDEFGHIJKLMNOP", "gh" + "p_" + "a1B2" * 9, "sk" + "-" + "a1B2c3D4" * 6,
    "xox" + "b-1234567890-abcdef", "ey" + "JhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxIn0." + "c2lnbmF0dXJl" * 3,
    "AIza" + "a1B2c" * 7, "a1B2c3D4" * 5, "0123456789abcdef" * 4, "hunter2", "京", "🎉",
]  # fmt: skip
TEXT = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
JSON = st.recursive(
    TEXT | st.integers() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=50, suppress_health_check=list(HealthCheck))
@given(content=TEXT | st.lists(JSON, max_size=3), calls=JSON, metadata=JSON)
@example(content=[["password=", None], 0], calls=None, metadata=None)
@example(content=None, calls=[{"prompt": "Enter password:", "answer": "hunter2hunter2"}], metadata=None)
@example(content=None, calls=None, metadata={"token=": "a", "b": ["secret:"]})
def test_a_redacted_message_can_still_be_read(
    sessions: Sessions, content: Any, calls: Any, metadata: Any
) -> None:
    id = sessions.append_message("s", "user", content, tool_calls=calls, metadata=metadata)
    (message,) = sessions.get_messages_around(id, 0, 0)
    for given_value, stored in (
        (content, message["content"]),
        (calls, message["tool_calls"]),
        (metadata, message["metadata"]),
    ):
        assert shape(stored) == shape(given_value)
    sessions.get_messages_as_conversation("s")
    sessions.search_messages("user")


def shape(value: Any) -> Any:
    """The structure without its texts: keys may be redacted too, and two of them become one."""
    if isinstance(value, list):
        return [shape(item) for item in value]
    return type(value)


@settings(max_examples=50, suppress_health_check=list(HealthCheck))
@given(arguments=st.dictionaries(TEXT, JSON, max_size=3))
@example(arguments={"command": "mysql --password=", "then": "ls"})
@example(arguments={"password": 'a"b\\', "user": "root"})
def test_arguments_stay_json(sessions: Sessions, arguments: dict[str, Any]) -> None:
    """Hosts send them back to the model, and APIs refuse a call whose arguments are none."""
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": json.dumps(arguments)}}
    id = sessions.append_message("s", "assistant", tool_calls=[call])
    (message,) = sessions.get_messages_around(id, 0, 0)
    stored = message["tool_calls"][0]["function"]["arguments"]
    assert isinstance(json.loads(stored), dict)
