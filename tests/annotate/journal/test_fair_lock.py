"""The queue for a lock: who gives up waiting leaves it, and takes nobody's turn."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from inpaintbench.annotate.journal.database import FairLock


class Interrupted:
    """A lock whose second taking, the one that waits, is interrupted."""

    def __init__(self) -> None:
        self.taken = 0

    def acquire(self) -> None:
        self.taken += 1
        if self.taken == 2:
            raise KeyboardInterrupt

    def release(self) -> None:
        """Nobody waits for it."""


def in_a_thread(work: Callable[[], None]) -> None:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join(timeout=30)
    assert not thread.is_alive()


def test_who_is_interrupted_while_waiting_leaves_the_queue_and_the_owner_keeps_the_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    turns, seen = FairLock("journal"), []

    def wait_in_vain() -> None:
        with monkeypatch.context() as patched:
            patched.setattr("inpaintbench.annotate.journal.database.threading.Lock", Interrupted)
            try:
                turns.__enter__()
            except KeyboardInterrupt:
                seen.append("interrupted")

    def take() -> None:
        with turns:
            seen.append("taken")

    with turns:
        in_a_thread(wait_in_vain)
        assert seen == ["interrupted"]
        assert not turns._waiting
        assert turns._owner == threading.get_ident()
    in_a_thread(take)
    assert seen == ["interrupted", "taken"]


def test_a_thread_that_has_its_turn_cannot_take_another() -> None:
    turns = FairLock("journal")
    with turns, pytest.raises(RuntimeError, match="is writing to 'journal' already"):
        turns.__enter__()
