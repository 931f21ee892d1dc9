"""Bars of tqdm in the logs of programs."""

from __future__ import annotations

from pathlib import Path

import pytest
from tqdm import tqdm

from inpaintbench.eval.adapters.progress import Bar, bar_in, last_bar


@pytest.mark.parametrize(("said", "bar"), [
    ("37%|███▋      | 37/100 [00:12<00:20,  3.00it/s]", Bar(37, 100, 12, 20)),
    ("sampling: 37%|###7      | 37/100 [1:02:03<2:00:00,  3.00s/it, loss=0.1]", Bar(37, 100, 3723, 7200)),
    ("\r 0%|          | 0/50 [00:00<?, ?it/s]", Bar(0, 50, 0, None)),
    ("\r 0%|          | 0/50 [00:00<?, ?it/s]\r 2%|2         | 1/50 [00:05<04:05,  5.00s/it]", Bar(1, 50, 5, 245)),
    ("100%|██████████| 50/50 [04:10<00:00,  5.00s/it]\nwriting\n", Bar(50, 50, 250, None)),
    ("12%|█▏        | 1.20k/10.0k [00:12<01:28, 100B/s]", Bar(1200, 10000, 12, 88)),
    ("3 of 10 done, 30%", None),
    ("", None),
])  # fmt: skip
def test_the_last_bar_is_read(said: str, bar: Bar | None) -> None:
    assert last_bar(said) == bar


def test_a_bar_is_read_as_tqdm_draws_it(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    with log.open("w") as file, tqdm(total=8, file=file, mininterval=0, desc="frames") as drawn:
        drawn.update(3)
        file.flush()
        found = bar_in(log)
    assert found is not None
    assert (found.done, found.total) == (3, 8)


def test_of_a_log_the_end_alone_is_read(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    drawn = "".join(f"\r{done}%|###| {done}/100 [00:12<00:20, 3.00it/s]" for done in range(1, 60))
    log.write_text("$ cd /; python first.py\n" + drawn * 50)
    assert bar_in(log) == Bar(59, 100, 12, 20)
    # The next program has drawn none yet.
    log.write_text(log.read_text() + "\nended with exit status 0, after 12.0 s\n$ cd /; python second.py\nloading\n")
    assert bar_in(log) is None
    log.write_text(f"$ cd /; python first.py\n{drawn}\nended with exit status 0, after 12.0 s\n")
    assert bar_in(log) is None
