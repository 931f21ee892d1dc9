"""A real PostgreSQL on this machine, made for the tests and thrown away after them."""

from __future__ import annotations

import contextlib
import itertools
import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pg8000.native
import pytest
from ports import free_port

_USER = "tests"


def binaries() -> Path | None:
    """The folder of PostgreSQL's own programs, or None."""
    named = shutil.which("initdb")
    # Debian keeps the server's programs off the PATH, one folder a version.
    folders = [Path(named).resolve().parent] if named else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: -int(folder.parent.name.split(".")[0]))
    return next((folder for folder in folders if (folder / "initdb").exists() and (folder / "postgres").exists()), None)


class Postgres:
    """One server on loopback, with a password and with fsync as in real life."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self._programs, self._folder = programs, folder
        self._password = secrets.token_urlsafe(12)
        self._names = (f"journal_{number}" for number in itertools.count())
        self._process: subprocess.Popen[bytes] | None = None
        self.port = free_port()
        password_file = folder / "password"
        password_file.write_text(self._password)
        if os.geteuid() == 0:
            account = _account()
            for path in (folder, password_file):
                os.chown(path, account.pw_uid, account.pw_gid)
        self._call(
            "initdb", "--pgdata=data", f"--username={_USER}", "--pwfile=password", "--auth=scram-sha-256", "--encoding=UTF8",
            "--locale=C", "--no-sync",
        )  # fmt: skip

    def start(self) -> None:
        """Start the server and wait until it takes connections."""
        log = (self._folder / "log").open("ab")
        with log:
            self._process = subprocess.Popen(
                [self._programs / "postgres", "-D", "data", "-p", str(self.port), "-h", "127.0.0.1", "-k", str(self._folder),
                 "-c", "shared_buffers=32MB", "-c", "max_connections=100"],
                stdout=log, stderr=log, **self._as_other(),
            )  # fmt: skip
        for _ in range(600):
            with contextlib.suppress(pg8000.exceptions.InterfaceError, pg8000.exceptions.DatabaseError), self._connected():
                return
            if self._process.poll() is not None:
                break
            time.sleep(0.05)
        raise RuntimeError(f"PostgreSQL does not start:\n{(self._folder / 'log').read_text()}")

    def crash(self) -> None:
        """End the server at once; what was committed is there after the next start."""
        self._end(signal.SIGQUIT)

    def stop(self) -> None:
        """End the server, cutting off whoever is connected."""
        self._end(signal.SIGINT)

    def fresh(self) -> str:
        """The URL of a new, empty database."""
        name = next(self._names)
        with self._connected() as connection:
            connection.run(f"CREATE DATABASE {name}")
        return f"postgresql://{_USER}:{self._password}@127.0.0.1:{self.port}/{name}"

    def drop(self, url: str) -> None:
        """Throw away a database of ``fresh``."""
        with self._connected() as connection:
            connection.run(f"DROP DATABASE {url.rpartition('/')[2]} WITH (FORCE)")

    def _connected(self) -> pg8000.native.Connection:
        return pg8000.native.Connection(
            _USER, host="127.0.0.1", port=self.port, password=self._password, database="postgres", timeout=30, ssl_context=False
        )

    def _end(self, how: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(timeout=30)
            self._process = None

    def _call(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [self._programs / program, *arguments], capture_output=True, text=True, check=False, **self._as_other()
        )
        assert done.returncode == 0, done.stderr

    def _as_other(self) -> dict[str, Any]:
        """PostgreSQL refuses to be run by root."""
        shared: dict[str, Any] = {"cwd": self._folder, "env": {"PATH": os.environ["PATH"], "LC_ALL": "C", "TZ": "UTC"}}
        if os.geteuid() != 0:
            return shared
        account = _account()
        return {**shared, "user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}


@contextlib.contextmanager
def running_postgres() -> Iterator[Postgres]:
    """A server of its own; skips the test where PostgreSQL is not installed, and fails it where ``CI`` is set."""
    programs = binaries()
    if programs is None:
        said = "PostgreSQL's programs (initdb, postgres) are neither on the PATH nor below /usr/lib/postgresql"
        if os.environ.get("CI"):
            pytest.fail(said)
        pytest.skip(said)
    # Not pytest's own folder: the account that runs the server must reach it.
    folder = Path(tempfile.mkdtemp(prefix="inpaintbench-postgres-", dir="/tmp"))
    try:
        server = Postgres(programs, folder)
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder)


def _account() -> pwd.struct_passwd:
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    raise RuntimeError("root cannot run PostgreSQL, and there is neither an account `postgres` nor `nobody`")
