"""A study of a million events: memory, start, an answer, the overview and the report.

python bench/annotate_million.py [--events N]
"""

from __future__ import annotations

import argparse
import json
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import combinations, islice
from pathlib import Path
from typing import Any

import numpy as np

from inpaintbench.annotate import study as studies
from inpaintbench.annotate.journal import Journal
from inpaintbench.annotate.study import Proxy, Study, StudyTask, Tile, load
from inpaintbench.types import content_id

METHODS = ("alpha", "beta", "gamma", "delta", "epsilon")
STRENGTHS = dict(zip(METHODS, (0.9, 0.4, 0.0, -0.4, -0.9), strict=True))
RATERS, ITEMS_OF_SOURCE = 500, 20
BEGIN = 1_767_600_000.0
# Name of the measure -> the most that it may be at a million events, and its unit.
BARS: dict[str, tuple[float | None, str]] = {
    "memory of the server": (600, "MB"), "start": (5, "s"), "an answer, median": (5, "ms"), "an answer, 99 %": (None, "ms"),
    "overview": (20, "ms"), "report": (60, "s"),
}  # fmt: skip


def made(folder: Path, *, events: int) -> Study:
    """A study of pairs with as many tasks as so many events need, 20 raters a task."""
    tasks_wanted = max(40, events // 2 // 20)
    pairs = list(combinations(sorted(METHODS), 2))
    file = studies.parse_study(
        {"title": "A million", "subjects": {"dataset": "D", "runs": ["R"]}, "checks": {"gold_share": 0.0, "repeat_share": 0.0},
         "questions": [{"leaf": "pairwise", "raters_per_task": 22}]},
        where="made here", folder=folder,
    )  # fmt: skip
    tasks, proxies = [], {}
    for number in range(tasks_wanted):
        item, pair = f"item{number // len(pairs):06}", pairs[number % len(pairs)]
        tiles = tuple(Tile("candidate", name, 64 * place, 0, 64, 64) for place, name in enumerate(pair))
        proxy = Proxy(content_id("p", number) * 2 + ".mp4", 75, 25.0, 128, 64, tiles)
        proxies[proxy.name] = proxy
        source = f"source{number // len(pairs) // ITEMS_OF_SOURCE:04}"
        tasks.append(StudyTask(studies.task_id("pairwise", item, pair), "pairwise", item, source, pair, proxy.name, caption=item))
    study = Study(studies.study_id(file, tuple(tasks)), file, tuple(tasks), proxies)
    studies.save(study, folder)
    return study


def lines(study: Study, *, events: int) -> Iterator[tuple[str, str, dict[str, Any], float]]:
    """Kind, rater, body and time: leases and answers in turn, some skips and answers taken back."""
    rng = np.random.default_rng(23)
    per_rater = events // 2 // RATERS
    order = [rng.permutation(len(study.tasks)) for _ in range(RATERS)]
    widths = rng.integers(300, 900, RATERS).tolist()
    draws = rng.random((per_rater, RATERS, 3))
    at = BEGIN
    for turn in range(per_rater):
        for rater in range(RATERS):
            task = study.tasks[order[rater][turn % len(study.tasks)]]
            first, chance, seconds = draws[turn, rater]
            shown = task.candidates if first < 0.5 else task.candidates[::-1]
            name = f"r{rater:03}"
            lease, submission = content_id("lease", study.study_id, name, turn), content_id("s", name, turn) * 2
            body = {"lease_id": lease, "task_id": task.task_id, "shown": list(shown), "purpose": "vote", "expires_at": at + 1200}
            yield "lease", name, body, at
            if chance > 0.99:
                skip = {"submission_id": submission, "lease_id": lease, "task_id": task.task_id, "reason": "unclear", "text": ""}
                yield "skip", name, skip, at + 5
            else:
                lead = STRENGTHS[shown[0]] - STRENGTHS[shown[1]]
                place = "tie" if chance < 0.15 else "place-0" if (chance - 0.15) / 0.84 < 1 / (1 + np.exp(-lead)) else "place-1"
                answer = {
                    "submission_id": submission, "lease_id": lease, "task_id": task.task_id, "given": {"better": place},
                    "choice": place if place == "tie" else shown[int(place[-1])], "seconds": 4 + 3 * seconds,
                    "watched_frames": 75, "dropped_frames": int(100 * first) % 4, "plays": 1.0, "stuttered": False,
                    "suggestion_shown": "hidden", "seen": seen_by(rater, width=widths[rater], chance=chance),
                }  # fmt: skip
                yield "answer", name, answer, at + 5 + seconds
            at += 0.02


def seen_by(rater: int, *, width: int, chance: float) -> dict[str, Any]:
    """What a browser says of its screen: the window changes its size now and then, and is hidden for a while."""
    browser = ("Chrome 140", "Firefox 141", "Safari 26")[rater % 3]
    width += 40 * int(chance * 10)
    return {
        "width": width, "scale": round(width / 64, 3), "pixel_ratio": (1.0, 1.5, 2.0)[rater % 3], "zoom": 1.0,
        "full_screen": bool(chance < 0.1), "portrait": False, "browser": browser,
        "hidden_seconds": round(30 * float(chance), 3) if chance < 0.05 else 0.0, "frame_source": "callback",
    }  # fmt: skip


def filled(folder: Path, *, events: int) -> None:
    """The study with its journal."""
    study = made(folder, events=events)
    with Journal(folder / "journal.sqlite") as journal:
        journal.register(study.study_id, title=study.file.title)
        seq, batch = 0, 20_000
        stream = lines(study, events=events)
        while True:
            if not (taken := list(islice(stream, batch))):
                break
            with journal.writing(study.study_id) as writer:
                for kind, rater, body, at in taken:
                    seq += 1
                    writer.put(kind, rater, body, at=at, seq=seq)  # type: ignore[arg-type]


def cpu() -> float:
    """CPU seconds of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds, and what came of it."""
    begun = cpu()
    result = work()
    return cpu() - begun, result


def serving(folder: Path) -> dict[str, float]:
    """Memory, start, answers and overview of a desk in a process of its own."""
    from inpaintbench.annotate.desk.desk import Desk

    study = load(folder)
    journal = Journal(folder / "journal.sqlite")
    now = [time.time()]
    start, desk = timed(lambda: Desk(study, journal, clock=lambda: now[0]))
    answers = []
    for turn in range(200):
        rater = f"r{turn % 50:03}"
        work = desk.work(rater)
        if not work["queue"]:
            continue
        card = work["queue"][0]
        sent = {
            "submission_id": content_id("new", now[0]), "lease_id": card["lease_id"], "given": {"better": "place-0"},
            "seconds": 4.0, "watched_frames": 75, "dropped_frames": 0, "plays": 1.0, "stuttered": False,
        }  # fmt: skip
        now[0] += 10
        answers.append(timed(lambda rater=rater, sent=sent: desk.answer(rater, sent))[0])
    desk.overview()
    looks = []
    for turn in range(10):
        desk.work(f"r{100 + turn}")
        looks.append(timed(desk.overview)[0])
    journal.close()
    return {
        "memory of the server": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "start": start, "an answer, median": 1000 * float(np.median(answers)),
        "an answer, 99 %": 1000 * float(np.quantile(answers, 0.99)),
        "overview": 1000 * float(np.median(looks)),
    }  # fmt: skip


def reporting(folder: Path) -> dict[str, float]:
    """CPU seconds of the whole command."""
    command = [sys.executable, "-m", "inpaintbench", "annotate", "report", str(folder), "--out", str(folder / "report")]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"report": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="40,000 events: too few for a snapshot")
    parser.add_argument("--keep", type=Path, help="folder of the study; used again when it is there")
    parser.add_argument("--serving", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.serving:
        print(json.dumps(serving(asked.serving)))
        return 0
    events = 40_000 if asked.quick else 1_000_000
    with tempfile.TemporaryDirectory() as scratch:
        folder = asked.keep or Path(scratch) / "study"
        if not (folder / "study.json").exists():
            folder.mkdir(parents=True, exist_ok=True)
            filled(folder, events=events)
        with closing(sqlite3.connect(folder / "journal.sqlite")) as connection, connection:
            connection.execute("DELETE FROM snapshots")
        command = [sys.executable, __file__, "--serving", str(folder)]
        first, second = (
            json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout) for _ in range(2)
        )
        second |= reporting(folder)
        tasks = len(load(folder).tasks)
    print("## A study of a million events\n")
    print(
        f"{events:,} events of {RATERS} raters on {tasks:,} pairs in a SQLite journal. Times are CPU seconds of the process, "
        "memory is the most that it ever had. The first start folds all events and keeps a snapshot; the next one begins from "
        "it. An answer is stored, and the next task handed out; the overview is that of the admin page; the report is the whole "
        "command, with the table of judgements.\n"
    )
    print("| what | from all events | from the snapshot | at most |\n|---|---|---|---|")
    good = True
    for name, (most, unit) in BARS.items():
        before = f"{first[name]:.3g} {unit}" if name in first else ""
        bar = f"{most} {unit}" if most is not None else ""
        print(f"| {name} | {before} | {second[name]:.3g} {unit} | {bar} |")
        good &= most is None or second[name] <= most
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
