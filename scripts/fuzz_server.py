"""Send requests that schemathesis makes from the OpenAPI document to a server: no answer may be a 5xx.

``python scripts/fuzz_server.py SCHEMATHESIS CASES``: the program, and the least number of requests.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

from mnemos.faces.cli.demo import history
from mnemos.faces.http import limits
from mnemos.faces.http.address import Address
from mnemos.faces.http.api import Api
from mnemos.faces.http.connections import make_server
from mnemos.faces.http.request_log import RequestLog
from mnemos.faces.http.workers import Spaces, Workers
from mnemos.memory import Memory
from mnemos.memory.access_tokens import Doorkeeper, create_token
from mnemos.operations.index import ENTRIES

CHECKS = (
    "not_a_server_error", "status_code_conformance", "content_type_conformance",
    "response_schema_conformance", "ignored_auth",
)  # fmt: skip
# They are streams without an end, or begin a process that goes on.
LEFT_OUT = ("/v1/events", "/v1/evaluate")


def main(program: str, cases: int) -> int:
    limits.PER_SECOND = limits.BURST = 1e9  # type: ignore[misc]
    statuses: Counter[int] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        # No program of whoever runs it is found.
        os.environ["HOME"] = folder
        with (
            Memory.at(Path(folder) / "home", disabled=False, embedder="none") as memory,
            Address("127.0.0.1", 0).listen() as listening,
        ):
            memory.sessions.import_sessions(history(time.time()))
            workers, host = Workers(), f"127.0.0.1:{listening.getsockname()[1]}"
            log = RequestLog(lambda line: statuses.update([json.loads(line)["status"]]))
            app = Api(Spaces(memory), workers, Doorkeeper(memory.settings), [host], log)
            server = make_server(app, lifespan=False)
            thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listening])))
            thread.start()
            token = create_token(memory.settings, "fuzz", "admin", now=time.time())[1]
            try:
                failed = _fuzz(program, cases, f"http://{host}", token, folder)
            finally:
                server.should_exit = True
                thread.join()
                workers.close()
    total = sum(statuses.values())
    print(f"{total:,} requests, by status: {dict(sorted(statuses.items()))}")
    if failed or total < cases or max(statuses) >= 500:
        return 1
    return 0


def _fuzz(program: str, cases: int, url: str, token: str, folder: str) -> int:
    command = [
        str(Path(program).absolute()),
        "run",
        f"{url}/openapi.json",
        f"--header=Authorization: Bearer {token}",
    ]
    command += [f"--max-examples={cases // len(ENTRIES) + 1}", "--phases=examples,coverage,fuzzing"]
    command += [f"--checks={','.join(CHECKS)}", "--continue-on-failure", "--generation-database=none"]
    command += [f"--exclude-path={path}" for path in LEFT_OUT]
    return subprocess.run(command, cwd=folder, check=False).returncode  # noqa: S603 - of whoever runs it


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
