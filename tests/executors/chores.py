"""Step functions that behave badly, for tests of executors; importable in worker processes."""

from __future__ import annotations

import ctypes
import errno
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from inpaintbench.errors import Rejected
from inpaintbench.types import Attribute
from inpaintbench.workspace import Blobs


def behave(payload: Mapping[str, Any], *, parameters: Mapping[str, Any], blobs: Blobs) -> list[Attribute]:
    """Do what ``payload["how"]`` says; every call leaves a mark in the folder ``payload["marks"]``."""
    name, how = payload["name"], payload.get("how", "work")
    if marks := payload.get("marks"):
        (Path(marks) / f"{name}-{time.time_ns()}").touch()
    ACTIONS.get(how, _work)(payload)
    blob, _ = blobs.put(".txt", lambda path: path.write_text(f"{name} {parameters.get('factor', 1)}"))
    return [Attribute(name, "length", float(len(name) * parameters.get("factor", 1)), None, "behave", "1", blob)]


def say(payload: Mapping[str, Any], *, parameters: Mapping[str, Any], blobs: Blobs) -> list[Attribute]:
    """One row with the value ``payload["says"]``."""
    return [Attribute(payload["name"], "said", payload["says"], None, "say", "1")]


def reread(payload: Mapping[str, Any], *, parameters: Mapping[str, Any], blobs: Blobs) -> list[Attribute]:
    """One row with the bytes of the blob ``payload["blob"]``."""
    size = blobs.proved(payload["blob"]).stat().st_size
    return [Attribute(payload["blob"], "size", float(size), None, "reread", "1")]


def name(payload: Mapping[str, Any], *, parameters: Mapping[str, Any], blobs: Blobs) -> list[Attribute]:
    """One row that names the blob ``payload["blob"]``, which it does not look at."""
    return [Attribute("naming", "named", 1.0, None, "name", "1", payload["blob"])]


def limit(payload: Mapping[str, Any], *, parameters: Mapping[str, Any], blobs: Blobs) -> list[Attribute]:
    """One row with the bytes of private memory that this process may have; -1 = any number."""
    return [Attribute(payload["name"], "limit", float(resource.getrlimit(resource.RLIMIT_DATA)[0]), None, "limit", "1")]


def who(payload: Mapping[str, Any], *, parameters: Mapping[str, Any], blobs: Blobs) -> list[Attribute]:
    """One row with the process that did it; with ``payload["once"]``, a file, the first to come kills its process."""
    time.sleep(payload.get("seconds", 0))
    if (once := payload.get("once")) and not Path(once).exists():
        Path(once).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return [Attribute(payload["name"], "process", float(os.getpid()), None, "who", "1")]


def behave_unless_told(payload: Mapping[str, Any], *, parameters: Mapping[str, Any], blobs: Blobs) -> list[Attribute]:
    """Do what ``parameters["how"]`` says."""
    return behave({**payload, "how": parameters["how"]}, parameters={}, blobs=blobs)


def behave_together(jobs: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]], *, blobs: Blobs) -> list[list[Attribute]]:
    """One mark for all; the rows say how many were done at once. One that is to fail spoils it for all."""
    marks = jobs[0][0]["marks"]
    (Path(marks) / f"together-{time.time_ns()}").touch()
    if any(parameters.get("spoils") for _, parameters in jobs):
        raise ZeroDivisionError("a fault of the program")
    return [[Attribute(payload["name"], "jobs", float(len(jobs)), None, "behave", "1")] for payload, _ in jobs]


def read_ahead(jobs: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]], *, blobs: Blobs) -> str:
    """Do what ``payload["reading"]`` says, and leave a mark."""
    payload = jobs[0][0]
    (Path(payload["marks"]) / f"read-{payload['name']}-{time.time_ns()}").touch()
    time.sleep(payload.get("reading_seconds", 0))
    ACTIONS.get(payload.get("reading", "work"), _work)({})
    return str(payload["name"])


def behave_ahead(
    payload: Mapping[str, Any], *, parameters: Mapping[str, Any], blobs: Blobs, ahead: str | None = None
) -> list[Attribute]:
    """``behave``, with a mark that tells whether it was given what was read for it."""
    assert ahead in (None, payload["name"])
    (Path(payload["marks"]) / f"{'given' if ahead else 'alone'}-{payload['name']}-{time.time_ns()}").touch()
    return behave(payload, parameters=parameters, blobs=blobs)


def behave_ahead_together(
    jobs: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]], *, blobs: Blobs, ahead: str | None = None
) -> list[list[Attribute]]:
    """``behave_ahead`` for each."""
    return [behave_ahead(payload, parameters=parameters, blobs=blobs, ahead=ahead) for payload, parameters in jobs]


def nothing(jobs: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]], *, blobs: Blobs) -> None:
    """Reads nothing ahead."""


def in_parts(
    jobs: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]], *, blobs: Blobs, ahead: None = None
) -> list[list[Attribute]]:
    """A row for each of ``parameters["names"]`` that ``payload["before"]`` does not have, those of before among them; does what
    ``payload["before the card"]`` or ``payload["on the card"]`` says, and leaves a mark with the process."""
    from inpaintbench.tables import rows_of_json

    made = []
    for payload, parameters in jobs:
        before = {row.name: row for row in rows_of_json(payload.get("before", "[]"), Attribute)}
        part = "before the card" if parameters["names"] == ["light"] else "on the card" if before else "whole"
        (Path(payload["marks"]) / f"{part}-{payload['name']}-{os.getpid()}-{time.time_ns()}").touch()
        ACTIONS.get(payload.get(part, "work"), _work)({**payload, "name": f"{part}-{payload['name']}"})
        values = {"visible": float(os.environ.get("CUDA_VISIBLE_DEVICES") or 0)}
        own = {
            name: Attribute(payload["name"], name, values.get(name, len(name) / 7), None, "parts", "1")
            for name in parameters["names"]
        }
        made.append([before.get(name, own[name]) for name in parameters["names"]])
    return made


def _killed_once(payload: Mapping[str, Any]) -> None:
    if len(list(Path(payload["marks"]).glob(f"{payload['name']}-*"))) == 1:
        time.sleep(0.5)  # by then the next is being read
        os.kill(os.getpid(), signal.SIGKILL)


def _greedy(_: Mapping[str, Any]) -> None:
    bytearray(3 << 30)


def _work(payload: Mapping[str, Any]) -> None:
    time.sleep(payload.get("seconds", 0))


def _slow(_: Mapping[str, Any]) -> None:
    time.sleep(0.05)


def _reject(_: Mapping[str, Any]) -> None:
    raise Rejected("not to be had")


def _fail(_: Mapping[str, Any]) -> None:
    raise ZeroDivisionError("a fault of the program")


def _hang(_: Mapping[str, Any]) -> None:
    while True:
        time.sleep(1)


def _hang_in_c(_: Mapping[str, Any]) -> None:
    ctypes.PyDLL(None).sleep(1000)  # holds the interpreter lock, ignores Python's signal handlers


def _crash(_: Mapping[str, Any]) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def _segfault(_: Mapping[str, Any]) -> None:
    ctypes.string_at(0)  # the thread that does this goes no further; after a signal from itself it might


def _killed(_: Mapping[str, Any]) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _unpicklable(_: Mapping[str, Any]) -> None:
    class Local(Exception):
        def __init__(self) -> None:
            super().__init__(lambda: None)

    raise Local


def _disk_full(_: Mapping[str, Any]) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def _orphan(payload: Mapping[str, Any]) -> None:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
    Path(payload["marks"], "child").write_text(str(child.pid))
    _hang(payload)


ACTIONS = {
    "greedy": _greedy, "reject": _reject, "fail": _fail, "hang": _hang, "hang_in_c": _hang_in_c, "crash": _crash,
    "killed": _killed, "unpicklable": _unpicklable, "disk_full": _disk_full, "orphan": _orphan,
    "killed_once": _killed_once, "segfault": _segfault, "slow": _slow,
}  # fmt: skip
