"""Worker processes: what a signal leaves of their pool."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

# The pool's queue forgets the thread that it woke after Ctrl-C has come: an exception there would leave it, and the next notice,
# that all should end, would go to nobody.
PROGRAM = """
import collections, os, signal, sys, time
from inpaintbench.executors.children import Children

class Interrupted(collections.deque):
    def remove(self, waiter):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0)
        super().remove(waiter)

if __name__ == "__main__":
    children = Children(1)
    condition = children._pool._context.task_queue.not_empty
    while not condition._waiters:
        time.sleep(0.01)
    condition._waiters = Interrupted(condition._waiters)
    try:
        children.schedule([], workspace=".", time_limit_seconds=60)
    except KeyboardInterrupt:
        condition._waiters = collections.deque(condition._waiters)
        time.sleep(1)  # the thread has taken its work and waits again
        children.close(kill=True)
        sys.exit("ended")
"""


def test_ctrl_c_while_work_is_given_out_leaves_a_pool_that_ends(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (1, "ended\n")
