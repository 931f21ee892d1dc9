"""Import first: what is registered first for the end of a process is done last."""

from __future__ import annotations

import atexit
import gc
import os


@atexit.register
def end() -> None:
    """End a worker of pytest-xdist without taking down its gigabytes of modules and networks, which takes ten seconds."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        os._exit(0)
    # What is frozen for ever counts as leaked with nanobind, which would tell of it below pytest's closing line.
    gc.unfreeze()
