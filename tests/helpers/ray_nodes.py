"""Nodes of one Ray cluster on this machine that share nothing: each has its own HOME, TMPDIR and cache."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from ports import free_port

from inpaintbench.storage import CACHE

_OBJECT_STORE_BYTES = "80000000"

# Said to each node and driver: a Ray that was started in the process of the tests leaves its own choice in the environment.
AUTHENTICATION = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "5" * 64}


def environment_of(folder: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """That of a machine whose places all lie in ``folder``."""
    places = {"HOME": folder / "home", "TMPDIR": folder / "tmp", CACHE: folder / "cache"}
    for path in places.values():
        path.mkdir(parents=True, exist_ok=True)
    own = {name: str(path) for name, path in places.items()} | {"RAY_USAGE_STATS_ENABLED": "0", **AUTHENTICATION}
    return {**os.environ, **environment, **own}


def start_node(folder: Path, environment: Mapping[str, str], *how: str) -> subprocess.Popen[bytes]:
    """A node in a process group of its own, which ends with it; returns at once."""
    words = [str(Path(sys.executable).with_name("ray")), "start", "--block", "--num-cpus", "1", "--disable-usage-stats"]
    own = environment_of(folder, environment)
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(
            [*words, "--object-store-memory", _OBJECT_STORE_BYTES, *how], stdout=log, stderr=log, start_new_session=True, env=own
        )


def kill(node: subprocess.Popen[bytes]) -> None:
    """As a machine that loses its power: everything in its process group, and what that started."""
    below = [node.pid]
    for process in below:
        children = Path(f"/proc/{process}/task/{process}/children")
        below += map(int, children.read_text().split()) if children.exists() else []
    for process in below:
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            continue
    node.wait()


@contextmanager
def cluster(folder: Path, environment: Mapping[str, str]) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """The address of a cluster of two nodes, and the nodes, the head first."""
    port, sockets = free_port(), folder / "r"
    head = ("--head", "--port", str(port), "--include-dashboard", "false", "--temp-dir", str(sockets))
    nodes = [start_node(made(folder / "one"), environment, *head)]
    try:
        for _ in range(3000):  # five minutes: on a busy machine a head has taken more than one
            log = (folder / "one" / "log").read_text(errors="replace")[-2000:]
            assert nodes[0].poll() is None, f"the head ended: {log}"
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        else:
            raise AssertionError(f"the head does not answer: {log}")
        nodes.append(start_node(made(folder / "two"), environment, "--address", f"127.0.0.1:{port}"))
        yield f"127.0.0.1:{port}", nodes
    finally:
        for node in reversed(nodes):
            kill(node)


def made(folder: Path) -> Path:
    """The folder, which was not there."""
    folder.mkdir(parents=True)
    return folder
