"""Servers that other machines reach, with TLS, and servers of several processes."""

from __future__ import annotations

import http.client
import os
import shutil
import signal
import ssl
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from mnemos.errors import InvalidInput, Refused
from mnemos.faces.http.address import Address, Exposure
from mnemos.memory.access_tokens import create_token
from mnemos.settings import Settings

from ..conftest import Mnemos
from ..mcp.wire import SECONDS
from .servers import Server, serving

TLS = Path(__file__).parents[2] / "data" / "tls"
CERTIFICATE, KEY = str(TLS / "certificate.pem"), str(TLS / "key.pem")
NAME = "memory.example.com"


@pytest.fixture
def home(filled: Path, tmp_path: Path) -> Path:
    return shutil.copytree(filled / "home", tmp_path / "home")


def test_an_address_that_others_reach_needs_a_host_encryption_and_a_token(tmp_path: Path) -> None:
    bare, ready = Settings(home=tmp_path / "bare"), Settings(home=tmp_path / "ready")
    create_token(ready, "phone", "read", now=time.time())
    everywhere = Address.make("0.0.0.0", 80)
    hosts = ((), (NAME,))
    encrypted = (Exposure(), Exposure(behind_proxy=True), Exposure(certificate=CERTIFICATE, key=KEY))
    for names, way, settings in product(hosts, encrypted, (bare, ready)):
        exposure = Exposure(names, way.certificate, way.key, behind_proxy=way.behind_proxy)
        if names and way != Exposure() and settings is ready:
            exposure.check_address(everywhere, settings)
            continue
        with pytest.raises(Refused):
            exposure.check_address(everywhere, settings)
    Exposure().check_address(Address.make("127.0.0.1", 80), bare)


def test_an_expired_token_does_not_count(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    create_token(settings, "old", "read", days=1, now=time.time() - 200_000)
    with pytest.raises(Refused):
        Exposure((NAME,), behind_proxy=True).check_address(Address.make("::", 80), settings)


def test_files_that_are_not_for_tls_are_invalid(tmp_path: Path) -> None:
    Exposure(certificate=CERTIFICATE, key=KEY).check_files()
    for certificate, key in ((CERTIFICATE, None), (None, KEY), (KEY, CERTIFICATE), (str(tmp_path), KEY)):
        with pytest.raises(InvalidInput):
            Exposure(certificate=certificate, key=key).check_files()


def test_clients_connect_with_tls(home: Path) -> None:
    arguments = ("--tls-cert", CERTIFICATE, "--tls-key", KEY, "--allowed-host", NAME)
    with serving(home, *arguments) as server:
        context = ssl.create_default_context(cafile=CERTIFICATE)
        for host, status in ((NAME, 200), (f"{NAME}:{server.port}", 200), (f"{NAME}:1", 421)):
            with server.connect() as plain, context.wrap_socket(plain, server_hostname=NAME) as encrypted:
                encrypted.sendall(f"GET /health HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
                answer = http.client.HTTPResponse(encrypted)
                answer.begin()
                assert answer.status == status
        with server.connect() as unencrypted:
            unencrypted.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            assert unencrypted.recv(12) == b""


@pytest.fixture
def several(home: Path) -> Iterator[Server]:
    with serving(home, "--workers", "2") as one:
        yield one


def children(server: Server) -> set[int]:
    listed = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text()
    return {int(one) for one in listed.split()}


def wait_for_workers(server: Server, but: int = 0) -> set[int]:
    deadline = time.monotonic() + SECONDS
    while len(found := children(server) - {but}) < 2:
        assert time.monotonic() < deadline
    return found


linux = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")


@linux
def test_a_worker_that_is_killed_is_replaced(several: Server) -> None:
    first = min(wait_for_workers(several))
    os.kill(first, signal.SIGKILL)
    assert first not in wait_for_workers(several, but=first)
    said = {"session_id": "empty", "role": "user", "content": "still here"}
    assert several.post("sessions_append", said).status == 200
    assert {
        several.post("sessions_search", {"query": "still"}).json["hits"][0]["role"] for _ in range(8)
    } == {"user"}


@linux
def test_workers_end_with_the_process_that_started_them(several: Server) -> None:
    found = wait_for_workers(several)
    several.process.kill()
    several.process.wait()
    deadline = time.monotonic() + SECONDS
    while any(_is_running(one) for one in found):
        assert time.monotonic() < deadline


def test_several_workers_share_tokens_and_stop_together(several: Server, home: Path) -> None:
    _, token = create_token(Settings(home=home), "phone", "read", now=time.time())
    assert [several.post("memory_status", token=token).status for _ in range(8)] == [200] * 8
    assert several.stop() == 0
    with pytest.raises(ConnectionRefusedError):
        several.connect()


@pytest.mark.parametrize("options", [("--mcp", "--workers", "2"), ("--tools", "facts")])
def test_options_that_do_not_go_together_are_refused(
    home: Path, mnemos: Mnemos, options: tuple[str, ...]
) -> None:
    assert mnemos("serve", *options, "--port", "0", "--home", str(home)).code == 2


def _is_running(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
