"""Ports for programs that listen by themselves."""

from __future__ import annotations

import random
import socket
from contextlib import suppress


def free_port() -> int:
    """A port that nobody listens at, outside those that the kernel and Ray give to others while the program starts."""
    for port in random.sample(range(20_000, 32_000), 100):
        with socket.socket() as taken, suppress(OSError):
            taken.bind(("127.0.0.1", port))
            return port
    raise AssertionError("no free port")
