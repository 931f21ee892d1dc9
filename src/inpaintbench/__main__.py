"""`python -m inpaintbench` and the installed program are the command line."""

from __future__ import annotations

import gc
import os
import signal
import sys
from types import FrameType


def main() -> None:
    """Run the command line; an interrupt while it is still loading ends it without a word about where it was."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # a job in the background ignores Ctrl-C, and so does this
        signal.signal(signal.SIGINT, _leave)
    # Loading numpy starts a thread a core, which takes longer than all else that a command does before it answers. Work is spread
    # over processes, each of which keeps to one core.
    gc.disable()  # until a command begins: what is imported stays, and looking through it is an eighth of a command's help
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        from inpaintbench.cli import main as run
    except ImportError as error:
        # A part that nothing works without is missing or broken.
        if os.environ.get("INPAINTBENCH_DEBUG", "") not in ("", "0"):
            raise
        what = " ".join(str(error).split())
        way = "pip install --force-reinstall PATH_TO_CLONE mends what it needs"
        sys.stderr.write(f"inpaintbench: cannot start: {what}; {way}\n")
        sys.exit(1)
    run()


def _leave(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - signature of signal handlers
    os.write(2, b"inpaintbench: stopped before anything was begun\n")
    os._exit(128 + number)


if __name__ == "__main__":
    main()
