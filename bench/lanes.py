"""How many workers one run can feed where networks run in one process a card: workers that sleep, fed by the real executor.

python bench/lanes.py [--quick]

Items of four methods, with as many rows as `devil/corrected` gives. A worker sleeps for the time that an item takes on one core,
the process of the card for what it takes there, so that nothing but the driver needs the processor: it keeps the ledger, pickles
payloads and hands rows on. The same work in one lane of four processes stands beside it, and both tables are compared. From the
driver's CPU time of an item follows where it saturates.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.executors.base import Step, Tasks
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.tables import rows_of_json
from inpaintbench.types import Score
from inpaintbench.workspace import Blobs, Workspace

METHODS, ITEM_SECONDS, CARD_SECONDS = 4, 8.0, 0.1
"""CPU time of an item of 90 frames of 832x480 besides networks, and that of a card: counted, not measured here."""
PROTOCOL = PROTOCOLS.get("devil/corrected")
NETWORKS = [name for name in PROTOCOL.metrics if PROTOCOL.weights_of([name])]
PLAIN = [name for name in PROTOCOL.metrics if name not in NETWORKS]
Job = tuple[Mapping[str, Any], Mapping[str, Any]]


def rest(jobs: Sequence[Job], *, blobs: Blobs, ahead: None = None) -> list[list[Score]]:  # noqa: ARG001
    """Sleep for what is not done before, and give every row."""
    seconds, made = jobs[0][0]["seconds"], []
    for payload, parameters in jobs:
        before = rows_of_json(payload.get("before", "[]"), Score)
        known = {row.metric for row in before}
        own = [
            Score(
                parameters["method"], payload["name"], metric.name, region, PROTOCOL.name, "0" * 16, len(metric.name) / 7, None,
                {"frames": 90, "pixels": 123_456}, measured=dict.fromkeys(("truth", "hole", "prediction"), "0" * 64),
            )
            for metric in PROTOCOL.build_metrics([name for name in parameters["metrics"] if name not in known])
            for region in metric.regions
        ]  # fmt: skip
        made.append(sorted([*before, *own], key=lambda row: parameters["metrics"].index(row.metric)))
    time.sleep(
        seconds["plain"] * (not jobs[0][0].get("before")) + seconds["networks"] * (set(NETWORKS) <= set(jobs[0][1]["metrics"]))
    )
    return made


def nothing(jobs: Sequence[Job], *, blobs: Blobs) -> None:
    """Read nothing ahead."""


def step_of(method: str, *, two: bool) -> Step:
    """Of one method, in one part or two."""
    whole = Step(
        f"score.{method}", "1", "scores", Score, "", {"method": method, "metrics": list(PROTOCOL.metrics)},
        together="lanes:rest", ahead="lanes:nothing", on_card=True,
    )  # fmt: skip
    return replace(whole, before=replace(whole, parameters={"method": method, "metrics": PLAIN}, on_card=False)) if two else whole


def run(folder: Path, *, workers: int, items: int, shrunk: float, two: bool) -> tuple[float, float, dict[str, bytes]]:
    """Items a second once all workers are there, the driver's CPU seconds of an item, and the tables.

    Args:
        folder: of the run.
        workers: processes.
        items: how many.
        shrunk: factor of all seconds.
        two: lanes.
    """
    seconds = {"plain": ITEM_SECONDS * shrunk, "networks": CARD_SECONDS * shrunk}
    moments: list[tuple[int, float, float]] = []

    def told(_: str, done: int, __: int) -> None:
        moments.append((done, time.perf_counter(), time.process_time()))

    def tasks(count: int, first: int) -> Tasks:
        ids = [f"item-{first + place:06}" for place in range(count)]
        # As many bytes as the row of an item has.
        row = {"attributes": {f"attribute.{place}": 0.123456 for place in range(60)}, "seconds": seconds}
        return Tasks(pa.array(ids), pa.array(ids), lambda place: {"name": ids[place], **row})

    workspace = Workspace(folder)
    with LocalExecutor(workspace, workers=workers, progress=told) as executor:
        steps = [step_of(f"method-{number}", two=two) for number in range(METHODS)]
        given = tasks(items, 0)
        executor.run_together([(step, given) for step in steps], label="lanes")
    # Once half is done every worker is there; at the end some have nothing left.
    middle = [one for one in moments if items // 2 <= one[0] <= items - workers]
    (first, begun, cpu), (last, ended, cpu_then) = middle[0], middle[-1]
    held = {path.name: path.read_bytes() for path in (folder / "tables").rglob("*.parquet")}
    return (last - first) / (ended - begun), (cpu_then - cpu) / (last - first), held


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="four workers, few items")
    quick = parser.parse_args().quick
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    sys.path.insert(0, str(Path(__file__).parent))
    shrunk = 1 / 8 if not quick else 1 / 40
    print("## Two lanes\n")
    print(
        f"Workers sleep {ITEM_SECONDS * shrunk:g} s an item of {METHODS} methods, the process of the card "
        f"{CARD_SECONDS * shrunk:g} s: 1/{1 / shrunk:g} of what was counted for 90 frames of 832x480. On {os.cpu_count()} cores, "
        "which the driver shares with the start of every sleep.\n"
    )
    print("| workers | lanes | items a second | of what sleeping allows | driver's CPU an item |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        tables, costs = {}, []
        for workers, two in ((4, True),) if quick else ((4, False), (16, True), (64, True)):
            items = 24 if quick else 8 * workers
            rate, cost, _ = run(Path(scratch) / f"{workers}-{two}", workers=workers, items=items, shrunk=shrunk, two=two)
            most = (
                min(workers / (ITEM_SECONDS * shrunk), 1 / (CARD_SECONDS * shrunk))
                if two
                else workers / ((ITEM_SECONDS + CARD_SECONDS) * shrunk)
            )
            costs.append(cost)
            print(f"| {workers} | {1 + two} | {rate:.1f} | {rate / most:.0%} | {1e3 * cost:.1f} ms |", flush=True)
        for two in (False, True):
            tables[two] = run(Path(scratch) / f"same-{two}", workers=4, items=24, shrunk=shrunk / 10, two=two)[2]
    cost = max(costs)
    print(
        f"\nTables of one lane and two are {'the same bytes' if tables[False] == tables[True] else 'NOT the same'}. At "
        f"{1e3 * cost:.1f} ms an item the driver feeds {1 / cost:.0f} items a second: {ITEM_SECONDS / cost:,.0f} workers of "
        f"{ITEM_SECONDS:g} s an item. One card has enough with {1 / CARD_SECONDS:.0f} items a second, of "
        f"{ITEM_SECONDS / CARD_SECONDS:.0f} workers."
    )
    return int(tables[False] != tables[True])


if __name__ == "__main__":
    sys.exit(main())
