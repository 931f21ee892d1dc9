"""`python -m inpaintbench` and the installed program are the command line."""

from __future__ import annotations

import os
import signal
from types import FrameType


def main() -> None:
    """Run the command line; an interrupt while it is still loading ends it without a word about where it was."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # a job in the background ignores Ctrl-C, and so does this
        signal.signal(signal.SIGINT, _leave)
    from inpaintbench.cli import main as run

    run()


def _leave(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - signature of signal handlers
    os.write(2, b"inpaintbench: stopped before anything was begun\n")
    os._exit(128 + number)


if __name__ == "__main__":
    main()
