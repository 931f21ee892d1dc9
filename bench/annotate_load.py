"""50 and 200 raters in a closed loop over real HTTP while servers are killed: what is lost or doubled, how long a submit takes.

python bench/annotate_load.py [--quick]
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "helpers"))

import numpy as np
from annotate_load import Result, run_load
from postgres import running_postgres
from studies_made import write_study

from inpaintbench.annotate.journal import Journal
from inpaintbench.annotate.study import load

LIMIT_MS, RATERS = 300, 50
QUESTIONS = [{"leaf": "keep_reject", "raters_per_task": 3}]


def checked(folder: Path, result: Result, *, database: str | None) -> dict[str, int]:
    """Counts of what went wrong between what raters were told and what the journal holds."""
    journal = Journal(database or folder / "journal.sqlite")
    events = [event for event in journal.events(load(folder).study_id) if event.kind == "answer"]
    journal.close()
    stored = Counter(str(event.body["submission_id"]) for event in events)
    tasks = Counter((event.rater_id, event.body["task_id"]) for event in events)
    return {
        "acknowledged": len(result.acknowledged),
        "lost": len(set(result.acknowledged) - set(stored)),
        "doubled": sum(count > 1 for count in stored.values()) + len(stored) - len(set(result.acknowledged)),
        "task twice": sum(count > 1 for count in tasks.values()),
    }


def row(name: str, folder: Path, result: Result, *, raters: int, kills: int, database: str | None = None) -> tuple[str, bool]:
    found = checked(folder, result, database=database)
    p50, p95 = (1000 * float(np.quantile(result.seconds, share)) for share in (0.5, 0.95))
    good = not (found["lost"] or found["doubled"] or found["task twice"]) and (p95 < LIMIT_MS or raters > RATERS)
    rate = found["acknowledged"] / result.elapsed_seconds
    return (
        f"| {raters} | {name} | {found['acknowledged']} | {found['lost']} | {found['doubled']} | {found['task twice']} | {kills} "
        f"| {result.retried} | {result.moved} | {p50:.0f} ms | {p95:.0f} ms | {rate:.0f} |",
        good,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    crowds = [(10, 200, 2)] if quick else [(RATERS, 5000, 10), (4 * RATERS, 6000, 10)]
    print("## Raters under load\n")
    print(
        f"{RATERS} raters, then {4 * RATERS}, each sending the next answer as soon as the last one is acknowledged; servers and "
        "raters share the cores. Submit = answer stored and next task handed out. Asked: none lost, none doubled, and of "
        f"{RATERS} raters 95 % of submits within {LIMIT_MS} ms. Times are of requests that were answered at the first try; the "
        "rate counts the time in which killed servers start and raters enter, of whom a server takes five a second from one "
        "address.\n"
    )
    print(f"The machine had a load of {os.getloadavg()[0]:.0f} on {os.cpu_count()} cores when this began.\n")
    print("| raters | journal | answers | lost | doubled | task twice | kills | sent again | moved | median | 95 % | answers/s |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    lines = []
    with tempfile.TemporaryDirectory() as scratch, running_postgres() as postgres:
        for raters, answers, kills in crowds:
            places = [("SQLite, one server", hits, 1, None) for hits in (0, kills)]
            places += [("PostgreSQL, two servers", hits, 2, postgres.fresh()) for hits in (0, kills)]
            for name, hits, servers, url in places:
                folder = Path(scratch) / f"{servers}-{raters}-{hits}"
                write_study(folder, QUESTIONS, subjects=2 * answers // 3, still=True, checks={"repeat_share": 0.0})
                done = run_load(folder, raters=raters, answers=answers, kills=hits, servers=servers, database=url)
                lines.append(row(name, folder, done, raters=raters, kills=hits, database=url))
    print("\n".join(text for text, _ in lines))
    return 0 if all(good for _, good in lines) else 1


if __name__ == "__main__":
    raise SystemExit(main())
