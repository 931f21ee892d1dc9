"""Executors, which run a step over many items."""

from __future__ import annotations

import os
import threading

# Set by whoever handles interrupts: an executor then ends with `KeyboardInterrupt`.
STOP_ASKED = threading.Event()


def default_workers() -> int:
    """One worker a core that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
