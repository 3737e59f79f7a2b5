"""The shared parts of the adapters for agent frameworks, with a memory on a server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

import mnemos
from mnemos.errors import InvalidInput
from mnemos.integrations.shared.history import History, item_of, message_of
from mnemos.integrations.shared.memory_source import open_source
from mnemos.integrations.shared.recall import recall_block

from ..http.servers import Server, serving


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    home = tmp_path_factory.mktemp("adapters") / "home"
    mnemos.open(home).close()
    with serving(home) as one:
        yield one


@pytest.mark.parametrize("is_open", [False, True])
def test_a_history_on_a_server_is_written_read_and_recalled(server: Server, *, is_open: bool) -> None:
    url = f"http://127.0.0.1:{server.port}"

    async def check() -> None:
        if is_open:
            opened = mnemos.open(url, token=server.token)
            memory, is_own = open_source(opened)
        else:
            memory, is_own = open_source(url, token=server.token)
        assert is_own is not is_open
        history = History(memory, f"s{is_open}", "x", user_id="ada")
        said = {"role": "user", "content": "The parrot lives in the garden."}
        await history.append([message_of(said), message_of({"role": "user", "content": "more"})])
        assert await history.pop() == {"role": "user", "content": "more"}
        assert [item_of(one) for one in await history.read(5)] == [said]
        block = await recall_block(memory, "Where does the parrot live?", user_id="ada", seconds=60.0)
        assert "garden" in block
        await history.clear()
        assert await history.read() == []
        await memory.close()

    asyncio.run(check())


def test_settings_of_a_server_are_refused(server: Server) -> None:
    with pytest.raises(InvalidInput, match="redact"):
        open_source(f"http://127.0.0.1:{server.port}", token=server.token, redact=False)
