"""The other side of a sync: a program that answers, or a folder of files."""

from __future__ import annotations

import hashlib
import json
import platform
import re
import shlex
import subprocess
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final
from urllib.parse import urlsplit

import msgspec

from mnemos import files
from mnemos.errors import InvalidInput, MnemosError, NotFound, Refused, Unavailable
from mnemos.progress import Progress
from mnemos.structs import analyse
from mnemos.transfer.archive.archive_import import lock_imports
from mnemos.transfer.sync.exchange import (
    VERSION,
    Answering,
    Report,
    check_clock,
    check_digests,
    checking,
    count_differences,
    identify,
    pull,
)
from mnemos.transfer.sync.record_merge import read_removed, revive
from mnemos.transfer.sync.session_merge import list_gone
from mnemos.transfer.sync.state import REMOVED, Record, State
from mnemos.transfer.sync.tally import Tally

if TYPE_CHECKING:
    from mnemos.memory import Memory

FOLDER: Final = "mnemos-sync"
LONGEST_FRAME: Final = 160 * 1024 * 1024
"""Maximum bytes of a request, an answer or an unpacked file."""
_READY: Final = b'{"mnemos sync": '
# Lines that a login shell may print before.
_MOST_NOISE: Final = 200
_MANIFEST: Final = "manifest.z"
_HOME: Final = re.compile(r"[0-9a-f]{16}")
_NAME: Final = re.compile(r"[0-9a-f]{32}")
_HOST: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*|\[[0-9A-Fa-f:.]+\]")
_USER: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_MOST_HOMES: Final = 100
# Exit codes of ssh and of the remote shell.
_REASONS: Final = {
    127: "The command mnemos was not found there: install it, on the path of shells that ssh starts.",
    255: "ssh could not log in; it says why above.",
}


def write_frame(value: Record) -> bytes:
    """Encode a request, an answer or a file as JSON, in the order of its names."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()


def read_frame(data: bytes) -> Record:
    """Parse a request or an answer. Anything but an object raises InvalidInput."""
    if len(data) > LONGEST_FRAME:
        raise InvalidInput(f"A sync message has more than {LONGEST_FRAME >> 20} MB.")
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as exc:
        raise InvalidInput(f"A sync message is not JSON: {str(exc)[:100]}") from exc
    if not isinstance(found, dict):
        raise InvalidInput("A sync message is not an object.")
    return found


def serve(memory: Memory, requests: IO[bytes], answers: IO[bytes]) -> None:
    """Answer requests, one per line, until there are no more."""
    answering = Answering(memory)
    answers.write(_READY + b"%d}\n" % VERSION)
    answers.flush()
    while line := requests.readline(LONGEST_FRAME + 1):
        try:
            reply = answering.answer(read_frame(line))
        except MnemosError as exc:
            reply = {"error": str(exc)}
        answers.write(write_frame(reply) + b"\n")
        answers.flush()


class Program:
    """A program that answers requests on standard output. Leaving the block ends it."""

    def __init__(self, name: str, command: Sequence[str]) -> None:
        self.name = name
        self._has_answered = False
        try:
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603
        except OSError as exc:
            raise Unavailable(f"{command[0]} can't be run: {exc.strerror}. Install it first.") from exc

    def __enter__(self) -> Program:
        for _ in range(_MOST_NOISE):
            line = self._read()
            if line.startswith(_READY):
                self._has_answered = True
                return self
        self._end()
        raise Unavailable(f"{self.name} does not answer. Is Mnemos installed there?")

    def __exit__(self, *_: object) -> None:
        self._end()

    def ask(self, request: Record) -> Record:
        writer = self._process.stdin
        try:
            assert writer is not None  # noqa: S101
            writer.write(write_frame(request) + b"\n")
            writer.flush()
        except OSError as exc:
            raise self._find_error() from exc
        reply = read_frame(self._read())
        if "error" in reply:
            raise Refused(f"{self.name} refused: {str(reply['error'])[:500]}")
        return reply

    def _read(self) -> bytes:
        reader = self._process.stdout
        assert reader is not None  # noqa: S101
        line = reader.readline(LONGEST_FRAME + 1)
        if not line.endswith(b"\n"):
            raise self._find_error()
        return line

    def _find_error(self) -> Unavailable:
        self._end()
        code = self._process.returncode
        if self._has_answered:
            return Unavailable(
                f"The connection to {self.name} ended (exit code {code}). Everything received until then is "
                "kept; sync again to complete it."
            )
        reason = _REASONS.get(code, f"Mnemos did not start there (exit code {code}).")
        return Unavailable(f"No connection to {self.name}. {reason} Nothing was changed.")

    def _end(self) -> None:
        for stream in (self._process.stdin, self._process.stdout):
            try:
                if stream is not None:
                    stream.close()
            except OSError:
                # The program ended before it read everything.
                pass
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def connect_ssh(url: str, space: str) -> Program:
    """Start Mnemos on another machine with ssh.

    A host that ssh could read as an option is refused.
    """
    parts = urlsplit(url)
    try:
        host, port = parts.hostname or "", parts.port
    except ValueError as exc:
        raise InvalidInput(f"{url[:200]!r} is not an address: {exc}") from exc
    user = parts.username
    is_valid = _HOST.fullmatch(host) and (user is None or _USER.fullmatch(user)) and parts.password is None
    if not is_valid or parts.query or parts.fragment or parts.path.strip("/"):
        raise InvalidInput(f"{url[:200]!r} is not an ssh address. Use ssh://HOST or ssh://USER@HOST:PORT.")
    where = host if user is None else f"{user}@{host}"
    command = f"mnemos sync --serve --space {shlex.quote(space)}"
    # Notices within a minute and a half that a machine is gone.
    options = ["-T", "-C", "-oServerAliveInterval=30", *(() if port is None else ("-p", str(port)))]
    return Program(f"ssh://{where}", ["ssh", *options, "--", where, command])


class Listing(msgspec.Struct, frozen=True):
    """The list of what a machine left in a folder: digest and file of each address."""

    version: int
    home: str
    machine: str
    space: str
    at: float
    parts: dict[str, tuple[str, str]]


class SyncFolder:
    """A folder that machines reach at different times, with a subfolder for each."""

    def __init__(self, memory: Memory, other: Path) -> None:
        if not other.is_dir():
            raise NotFound(f"There is no folder {other}. Create it, or plug in the drive.")
        self._memory = memory
        self._root = other / FOLDER
        self._own = self._root / identify(memory)

    def sync(self, progress: Progress, *, dry_run: bool = False) -> Report:
        """Merge what other machines left, and leave what this one has."""
        Answering(self._memory)
        report = Report(str(self._root.parent))
        revive(self._memory)
        mine = State(self._memory)
        others = [one for name in self._list_homes() if (one := self._read_listing(name, report)) is not None]
        for number, listing in enumerate(others):
            progress(number / (len(others) + 1))
            digests = check_digests({address: part[0] for address, part in listing.parts.items()})
            if dry_run:
                for kind, number in count_differences(mine.digests, digests).items():
                    report.different[kind] = max(number, report.different.get(kind, 0))
                continue
            tally = Tally()
            with checking(listing.machine[:100]), lock_imports(self._memory):
                touched = self._pull(listing, digests, mine, tally)
            report.received.include(tally)
            mine.renew_small()
            mine.renew_sessions(touched)
        if not dry_run:
            self._leave(mine, report.sent)
            report.is_same = all(
                {address: part[0] for address, part in one.parts.items()} == mine.digests for one in others
            )
        progress(1.0)
        return report

    def _pull(self, listing: Listing, digests: Mapping[str, str], mine: State, tally: Tally) -> set[str]:
        missing: list[str] = []

        def fetch(addresses: Sequence[str]) -> dict[str, list[Record]]:
            found = {}
            for address in addresses:
                records = self._read_part(listing, listing.parts[address][1])
                if records is None:
                    missing.append(address)
                else:
                    found[address] = records
            return found

        removed = fetch([address for address in digests if address.startswith(f"{REMOVED}/")])
        gone = list_gone(read_removed([record for records in removed.values() for record in records]))
        touched = pull(self._memory, mine, digests, fetch, tally, gone)
        if missing:
            tally.explain(
                f"{len(missing):,} files of {listing.machine} are not in the folder yet, not whole or not "
                "readable. Sync again when the drive has caught up."
            )
        return touched

    def _list_homes(self) -> list[str]:
        names = [path.name for path in self._root.glob("*") if _HOME.fullmatch(path.name)]
        if len(names) > _MOST_HOMES:
            raise Refused(f"{self._root} has {len(names):,} machines. The limit is {_MOST_HOMES}.")
        return sorted(name for name in names if name != self._own.name)

    def _read_listing(self, home: str, report: Report | None) -> Listing | None:
        """Return a machine's listing; None for another space or an incomplete one."""
        try:
            data = _unpack(self._root / home / _MANIFEST)
            listing = msgspec.json.decode(data, type=analyse(Listing))
        except (OSError, zlib.error, msgspec.DecodeError) as exc:
            if report is not None:
                reason = "a list that is not whole"
                if isinstance(exc, OSError):
                    is_missing = isinstance(exc, FileNotFoundError)
                    reason = "nothing yet" if is_missing else f"a list that can't be read ({exc.strerror})"
                report.received.explain(f"{self._root / home} has {reason}. Sync again later.")
            return None
        if listing.version != VERSION:
            raise Refused(
                f"{self._root / home} was written by another version of Mnemos. Install the same one."
            )
        if listing.home != home or listing.space != self._memory.settings.space:
            return None
        if not all(_NAME.fullmatch(name) for _, name in listing.parts.values()):
            raise Refused(f"{self._root / home} lists files that sync does not write. Nothing was changed.")
        check_clock(listing.machine[:100], listing.at, self._memory.clock())
        return listing

    def _read_part(self, listing: Listing, name: str) -> list[Record] | None:
        """Return the records of a file; None if it is incomplete."""
        try:
            data = _unpack(self._place(self._root / listing.home, name))
        except (OSError, zlib.error):
            return None
        if _name(data) != name:
            return None
        records = read_frame(data).get("records")
        if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
            raise InvalidInput(f"{name} of {listing.machine[:100]} holds no records")
        return records

    def _leave(self, mine: State, sent: Tally) -> None:
        """Write what is new, then the list, then delete what is no longer listed."""
        before = self._read_listing(self._own.name, None) if self._own.is_dir() else None
        known = {} if before is None else before.parts
        parts: dict[str, tuple[str, str]] = {}
        for address, digest in mine.digests.items():
            part = known.get(address)
            if part is None or part[0] != digest or not self._place(self._own, part[1]).exists():
                data = write_frame({"records": mine.read(address)})
                part = digest, _name(data)
                self._pack(self._place(self._own, part[1]), data)
                sent.add("files")
            parts[address] = part
        settings = self._memory.settings
        listing = Listing(
            VERSION, self._own.name, platform.node(), settings.space, self._memory.clock(), parts
        )
        if before is None or parts != known:
            self._pack(self._own / _MANIFEST, msgspec.json.encode(listing))
            # If something is forgotten later, this is listed as a copy.
            self._memory.storage.write(lambda tx: tx.audit.note_backup(str(self._own), listing.at))
        listed = {name for _, name in parts.values()}
        for path in self._own.glob("*/*.z"):
            if path.stem not in listed:
                self._refuse_links(path)
                path.unlink(missing_ok=True)

    def _place(self, folder: Path, name: str) -> Path:
        return folder / name[:2] / f"{name}.z"

    def _pack(self, path: Path, data: bytes) -> None:
        self._refuse_links(path)
        try:
            files.replace(path, zlib.compress(data, 6))
        except MnemosError as exc:
            # The merge came first, so don't claim that nothing was changed.
            reason = str(exc).partition(". ")[0]
            raise type(exc)(f"{reason}. Received changes are kept; sync again to send the rest.") from exc

    def _refuse_links(self, path: Path) -> None:
        """Refuse to write where another machine may have put a link to a local file."""
        below = [path, *path.parents]
        for place in below[: below.index(self._root) + 1]:
            if place.is_symlink():
                raise Refused(f"{place} is a link, and sync makes none. Delete it, then sync again.")


def _name(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


def _unpack(path: Path) -> bytes:
    """Return a file's content, refusing one that unpacks to more than the limit."""
    with files.open_regular(path) as file:
        packed = file.read(LONGEST_FRAME + 1)
    unpacking = zlib.decompressobj()
    data = unpacking.decompress(packed, LONGEST_FRAME)
    if unpacking.unconsumed_tail or len(packed) > LONGEST_FRAME:
        raise Refused(
            f"{path} has more than {LONGEST_FRAME >> 20} MB unpacked. Nothing was imported from it."
        )
    if not unpacking.eof:
        raise zlib.error("it is cut off")
    return data
