"""Another process that writes to a journal: ``python journal_writer.py URL STUDY``, told what to do line by line.

``write NAME COUNT`` appends so many events, one a transaction; ``fork`` does so without end in a child, whose number it prints.
Each submission id is printed once its event is committed.
"""

from __future__ import annotations

import os
import sys
import uuid

from inpaintbench.annotate.journal import Journal


def answer(name: str, *, number: int = 0) -> dict[str, object]:
    """The body of an answer that was never given before."""
    return {
        "submission_id": str(uuid.uuid4()), "lease_id": uuid.uuid4().hex, "task_id": f"task-{number}", "given": {"part": "yes"},
        "choice": {"part": name}, "seconds": 2.5, "watched_frames": 90, "dropped_frames": 0, "plays": 1.0, "stuttered": False,
        "suggestion_shown": "hidden",
    }  # fmt: skip


def append(journal: Journal, study: str, name: str, *, number: int) -> str:
    """Append one answer; its submission id."""
    body = answer(name, number=number)
    with journal.writing(study) as writer:
        writer.append("answer", name, body, at=float(number))
    return str(body["submission_id"])


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main(url: str, study: str) -> None:
    say("ready")
    for line in sys.stdin:
        order, *words = line.split()
        if order == "write":
            with Journal(url) as journal:
                for number in range(int(words[1])):
                    say(append(journal, study, words[0], number=number))
            say("done")
        elif child := os.fork():
            os.waitpid(child, 0)
            say("dead")
        else:
            say(f"pid {os.getpid()}")
            journal, number = Journal(url), 0
            while True:
                say(append(journal, study, "forked", number=number))
                number += 1


if __name__ == "__main__":
    main(*sys.argv[1:])
