"""What the store costs beside plain Arrow: a step's results kept, found again, written as a table and read.

python bench/store.py [--quick]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import tracemalloc
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from inpaintbench.executors.base import Step, Task
from inpaintbench.executors.children import perform_all
from inpaintbench.executors.ledgered import LedgeredExecutor, Results, Waiting
from inpaintbench.tables import schema_of
from inpaintbench.types import Attribute, Plain, Score
from inpaintbench.workspace import Blobs, Workspace

ROWS_OF_ITEM = 40
"""Of `eval run --for scores`: about twenty metrics in two regions."""


def attributes(payload: Plain, *, parameters: Plain, blobs: Blobs) -> list[Attribute]:  # noqa: ARG001 - what a step is given
    """One row, as a measured clip has."""
    return [Attribute(payload["name"], "cut_score", payload["value"], None, "cut_score", "1")]


def scores(payload: Plain, *, parameters: Plain, blobs: Blobs) -> list[Score]:  # noqa: ARG001
    """The rows of an item."""
    return [
        Score("telea", payload["name"], f"m{place}", "hole", "devil/corrected", "0" * 12, payload["value"], None, {"frames": 90})
        for place in range(ROWS_OF_ITEM)
    ]


class Inside(LedgeredExecutor):
    """Works without workers, so that what is measured is the store."""

    def _results(self, waiting: Waiting) -> Results:
        while waiting:
            unit = waiting.popleft()
            yield unit, perform_all(unit.jobs, str(self.workspace.path))

    def _close(self, *, kill: bool) -> None: ...


def arrow(path: Path, columns: dict[str, list[Any]], schema: pa.Schema) -> float:
    """Seconds of writing these columns as Parquet and reading them."""
    begun = time.perf_counter()
    pq.write_table(pa.table(columns, schema=schema), path, compression="zstd")
    pq.read_table(path)
    return time.perf_counter() - begun


def measured(folder: Path, step: Step, count: int) -> list[str]:
    """A row of the table: seconds of each part and how often the seconds of Arrow they are."""
    tasks = [Task(f"{place:016x}", "0" * 64, {"name": f"{place:016x}", "value": place / 7}) for place in range(count)]
    workspace, spent = Workspace(folder / step.name), {}

    def timed(name: str, work: Any) -> Any:
        begun = time.perf_counter()
        made = work()
        spent[name] = time.perf_counter() - begun
        return made

    with Inside(workspace) as executor:
        tracemalloc.start()
        executor.run(step, tasks[: count // 20])
        kibibytes = tracemalloc.get_traced_memory()[1] / 1024 / (count // 20)
        tracemalloc.stop()
        timed("first run", lambda: executor.run(step, tasks))
        timed("run again", lambda: executor.run(step, tasks))
    records = timed("read as records", lambda: workspace.table(step.table, step.record))
    (path,) = (workspace.path / "tables" / step.table).glob("*.parquet")
    rows = pq.read_table(path).to_pylist()
    columns = {name: [row[name] for row in rows] for name in schema_of(step.record).names}
    plain = arrow(folder / "plain.parquet", columns, schema_of(step.record))
    assert len(records) == len(rows)
    assert asdict(records[-1])
    cells = [f"{seconds:.2f} s, {seconds / plain:.0f} times" for seconds in spent.values()]
    return [f"{step.table}, {len(rows):,} rows of {count:,} subjects", f"{plain:.2f} s", *cells, f"{kibibytes:.1f} KiB"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    count = 2_000 if parser.parse_args().quick else 100_000
    name = Path(__file__).stem
    sys.path.insert(0, str(Path(__file__).parent))
    steps = [
        Step("measure.cut_score", "1", "attributes", Attribute, f"{name}:attributes"),
        Step("score.devil.corrected.telea", "2", "scores", Score, f"{name}:scores"),
    ]
    print("## Store\n")
    print("Beside writing the same columns with Arrow and reading them. Memory of the driver is the peak for each subject, the "
          "tasks themselves left out.\n")  # fmt: skip
    print("| table | Arrow | first run | run again | read as records | memory |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for step, subjects in zip(steps, (count, count // 20), strict=True):
            print(f"| {' | '.join(measured(Path(folder), step, subjects))} |")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
