"""What a method in this process says: kept, and passed on where it is another's."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from inpaintbench.errors import InputError
from inpaintbench.eval.adapters.starting import words_kept


def test_nothing_said_leaves_no_file(tmp_path: Path) -> None:
    for heading in ("", "mine:fill()"):
        with words_kept(tmp_path / "logs" / "a.txt", heading=heading, seconds=60):
            assert (tmp_path / "logs" / "a.txt").exists() == bool(heading)
    assert not (tmp_path / "logs" / "a.txt").exists()


def test_all_ways_to_say_something_arrive_in_their_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "a.txt"
    with words_kept(log):
        sys.stdout.write("é\n")
        sys.stderr.write("err\n")
        sys.stdout.buffer.write(b"bytes\n")
        subprocess.run(["echo", "child"], stdout=sys.stdout, check=True)
        logger = logging.Logger("mine")
        logger.addHandler(logging.StreamHandler())
        logger.warning("logged")
        elsewhere = threading.Thread(target=print, args=("a bar of progress",))
        elsewhere.start()
        elsewhere.join()
    assert log.read_text(encoding="utf-8") == "é\nerr\nbytes\nchild\nlogged\n"
    assert capsys.readouterr().out == "a bar of progress\n"


def test_a_failure_stands_below_the_heading(tmp_path: Path) -> None:
    log = tmp_path / "a.txt"
    with pytest.raises(ZeroDivisionError), words_kept(log, heading="mine:fill()"):
        sys.stdout.write(str(1 / 0))
    heading, first, *_, last = log.read_text().splitlines()
    assert (heading, first) == ("mine:fill()", "Traceback (most recent call last):")
    assert last == "ZeroDivisionError: division by zero"
    with pytest.raises(InputError), words_kept(log, heading="mine:fill()"):
        raise InputError("the method gave None")
    assert log.read_text() == "mine:fill()\nthe method gave None\n"
    with pytest.raises(InputError), words_kept(tmp_path / "b.txt"):
        raise InputError("this package's own method says all in its reason")
    assert not (tmp_path / "b.txt").exists()


def test_of_a_block_that_hangs_the_log_tells_where(tmp_path: Path) -> None:
    log = tmp_path / "a.txt"
    with words_kept(log, heading="mine:fill()", seconds=0.05):
        time.sleep(0.15)
    assert "test_of_a_block_that_hangs_the_log_tells_where" in log.read_text()
