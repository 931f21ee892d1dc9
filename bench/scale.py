"""Two workers against one, Ray against the local pool, and what many nodes would give for a million sources.

python bench/scale.py [--quick] [--driver]

``--driver`` measures what one driver does for a clip, and simulates many nodes, and leaves out what wall times compare.
"""

from __future__ import annotations

import argparse
import heapq
import os
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
if assets := os.environ.get("INPAINTBENCH_TEST_ASSETS"):
    os.environ.setdefault("INPAINTBENCH_WEIGHTS", f"{assets}/weights")
sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "helpers"))

import numpy as np
from footage import write_sources

from inpaintbench import video
from inpaintbench.curation import measuring
from inpaintbench.curation.attributes import ATTRIBUTES
from inpaintbench.executors.ledgered import LedgeredExecutor
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.executors.ray import RayExecutor
from inpaintbench.recipes.stages import Cutting, SourceSpec, curate
from inpaintbench.tables import rows_json
from inpaintbench.types import Attribute, Clip
from inpaintbench.workspace import Workspace

SOURCES, CORES = 1_000_000, 16
NODE_BYTES_A_SECOND, STORAGE_BYTES_A_SECOND = 1.25e9, 12.5e9
STEPS = ("find", "probe", "cut", "measure")


def copies(workspace: Workspace, count: int) -> list[Clip]:
    """``count`` clips with ids of their own over the clips of a workspace, so that each is measured."""
    real = workspace.table("clips", Clip)
    return [replace(real[place % len(real)], clip_id=f"{place:016x}") for place in range(count)]


def small_clip(workspace: Workspace) -> Clip:
    """A clip that is measured in no time, so that many show what the driver does for each."""
    frames = np.random.default_rng(0).integers(0, 255, (8, 48, 64, 3), dtype=np.uint8)
    blob, _ = workspace.blobs.put(".mp4", lambda path: video.write_lossless(path, frames, fps=25.0))
    yuv, rgb = video.decoded_hashes(workspace.blobs.path(blob))
    return Clip("0" * 16, "0" * 16, 0, 8, 25.0, 64, 48, 8, blob, yuv, rgb, 0, 99.0)


def driver_seconds_a_clip(workspace: Workspace, few: int, many: int) -> float:
    """CPU seconds that Ray's driver takes for a further clip with all its attributes."""
    clip, spent = small_clip(workspace), []
    with RayExecutor(workspace, workers=2) as executor:
        for count, name in ((8, "warm"), (few, "few"), (many, "many")):
            clips = [replace(clip, clip_id=f"{name}{place:012x}") for place in range(count)]
            begun = time.process_time()
            measuring.measure_together(executor, clips, leaves={name: {} for name in ATTRIBUTES})
            spent.append(time.process_time() - begun)
    return (spent[2] - spent[1]) / (many - few)


def timed(executor: LedgeredExecutor, clips: list[Clip]) -> float:
    """Seconds of measuring all attributes of clips, the start of the workers excluded."""
    with executor:
        measuring.measure_together(executor, [replace(clip, clip_id=f"warm{place}") for place, clip in enumerate(clips[:8])],
                                   leaves={name: {} for name in ATTRIBUTES})  # fmt: skip
        begun = time.perf_counter()
        measuring.measure_together(executor, clips, leaves={name: {} for name in ATTRIBUTES})
        return time.perf_counter() - begun


def with_blobs_of(path: Path, other: Workspace) -> Workspace:
    workspace = Workspace(path)
    (path / "blobs").symlink_to((other.path / "blobs").resolve())
    return workspace


@dataclass
class Stage:
    """What one step costs, source by source."""

    seconds: np.ndarray
    bytes: np.ndarray
    entries: float
    """Ledger lines a source."""


def measured_stages(folder: Path, sources: Path) -> dict[str, Stage]:
    """Run the real files of the test assets, or small films without them, and read the ledgers."""
    workspace = Workspace(folder)
    cutting = Cutting(splitter={"name": "windows"}, normalizer={"name": "cover"}, cut_bars=True)
    with LocalExecutor(workspace, workers=2) as executor:
        made = curate(cutting, [SourceSpec("folder", {"folder": str(sources)})], executor, workspace)
        measuring.measure_together(executor, made.clips, leaves={name: {} for name in ATTRIBUTES})
    sizes = {row.source_id: row.bytes for row in made.sources}
    uris = {row.uri: row.source_id for row in made.sources}
    of_clip = {clip.clip_id: clip.source_id for clip in made.clips}
    spent: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    lines: dict[str, int] = defaultdict(int)
    for path in sorted((folder / "ledger").glob("*.jsonl")):
        step = path.stem.partition(".")[0].replace("bars", "probe")
        for entry in workspace.ledger(path.stem).read().values():
            subject = entry["subject_id"]
            spent[step][of_clip.get(subject) or uris.get(subject) or subject] += entry["seconds"]
            lines[step] += 1
    order = sorted(sizes)
    read = np.array([sizes[source] for source in order], float)
    return {
        step: Stage(np.array([spent[step][source] for source in order]), read * (step != "measure"), lines[step] / len(order))
        for step in STEPS
    }


def tasks_a_second(folder: Path, executor_type: type[LedgeredExecutor] = LocalExecutor) -> tuple[float, float]:
    """Tasks a second that do nothing, which one driver hands out and whose rows it writes into ledgers; its CPU seconds each."""
    from chores_of_bench import STEP, tasks

    workspace = Workspace(folder)
    with executor_type(workspace, workers=2) as executor:
        executor.run(replace(STEP, name="warm"), tasks(50))
        begun, own = time.perf_counter(), time.process_time()
        executor.run(STEP, tasks(4000))
        return 4000 / (time.perf_counter() - begun), (time.process_time() - own) / 4000


def entries_a_second(folder: Path) -> tuple[float, float]:
    """Ledger lines appended and read a second."""
    ledger = Workspace(folder).ledger("lines")
    rows = rows_json([Attribute("0" * 16, "cut_score", 0.123456789, None, "cut_score", "1")])
    begun = time.perf_counter()
    for place in range(20_000):
        ledger.append({"key": f"{place:016x}", "status": "done", "seconds": 0.1, "peak_mebibytes": 300}, rows)
    ledger.close()
    appended = time.perf_counter() - begun
    begun = time.perf_counter()
    ledger.columns(Attribute)
    return 20_000 / appended, 20_000 / (time.perf_counter() - begun)


def makespan(stage: Stage, *, nodes: int, dispatch_seconds: float, rng: np.random.Generator) -> tuple[float, str]:
    """Seconds until all sources have been through a step, in order, one task a free core; and what held it up."""
    picks = rng.integers(0, len(stage.seconds), SOURCES)
    seconds = stage.seconds[picks] + stage.bytes[picks] / (NODE_BYTES_A_SECOND / CORES)
    free = [0.0] * (nodes * CORES)
    for place, spent in enumerate(seconds.tolist()):
        begun = max(heapq.heappop(free), place * dispatch_seconds)
        heapq.heappush(free, begun + spent)
    cores, driver = seconds.sum() / len(free), SOURCES * dispatch_seconds
    storage = stage.bytes[picks].sum() / STORAGE_BYTES_A_SECOND
    whole = max(max(free), storage)
    held = max((cores, "cores"), (driver, "driver"), (storage, "storage"))
    return whole, held[1]


def simulate(stages: dict[str, Stage], *, task_seconds: float, clip_seconds: float, read_a_second: float) -> None:
    rng = np.random.default_rng(0)
    entries = sum(stage.entries for stage in stages.values()) * SOURCES
    print(f"\nOne run over {SOURCES:,} sources like these, simulated task by task: {CORES} cores and 10 Gbit/s a node, "
          "100 Gbit/s of shared storage, barriers between the steps. With `--ray` one driver hands out every task and writes "
          f"every ledger line ({1e6 * task_seconds:.0f} µs of its own CPU time a task, {1e6 * clip_seconds:.0f} µs a measured "
          "clip); with `--shard` each node is its own driver, "
          f"and one last run reads {entries / 1e6:.0f} million lines ({read_a_second:,.0f} a second, measured) and writes "
          "the tables.\n")  # fmt: skip
    print("| nodes | `--ray`, hours | held up by | `--shard`, hours | held up by |\n|---|---|---|---|---|")
    for nodes in (10, 100, 1000):
        columns = []
        for by_node in (False, True):
            clips = stages["measure"].entries / len(list(ATTRIBUTES))
            dispatch = {step: clips * clip_seconds if step == "measure" else task_seconds for step in stages}
            each = [
                makespan(stage, nodes=nodes, dispatch_seconds=dispatch[step] / (nodes if by_node else 1), rng=rng)
                for step, stage in stages.items()
            ]
            merge = entries / read_a_second if by_node else 0.0
            total = sum(spent for spent, _ in each) + merge
            held: dict[str, float] = defaultdict(float)
            for (spent, what), step in zip(each, stages, strict=True):
                held[f"{what} ({step})"] += spent
            if by_node:
                held["the last run"] = merge
            worst = max(held, key=lambda what: held[what])
            columns.append(f"{total / 3600:.1f} | {worst}, {held[worst] / total:.0%}")
        print(f"| {nodes:,} | {' | '.join(columns)} |")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--driver", action="store_true", help="the driver's share of a clip, and the simulation alone")
    given = parser.parse_args()
    quick = given.quick
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        assets = os.environ.get("INPAINTBENCH_TEST_ASSETS")
        sources = Path(assets, "videos/scenery/scenery-panda70m") if assets and not quick else write_sources(folder / "sources")
        stages = measured_stages(folder / "real", sources)
        real = Workspace(folder / "real")
        few, many = (8, 8) if quick else (120, 170)
        one = two = pool = on_ray = 0.0
        if not given.driver:
            one, two = (
                timed(LocalExecutor(with_blobs_of(folder / f"w{workers}", real), workers=workers), copies(real, few))
                for workers in (1, 2)
            )
            pool = timed(LocalExecutor(with_blobs_of(folder / "pool", real), workers=2), copies(real, many))
            on_ray = timed(RayExecutor(with_blobs_of(folder / "ray", real), workers=2), copies(real, many))
        clip_seconds = driver_seconds_a_clip(Workspace(folder / "clips_of_ray"), *((4, 12) if quick else (20, 120)))
        rate, _ = tasks_a_second(folder / "driver")
        _, task_seconds = tasks_a_second(folder / "driver_of_ray", RayExecutor)
        appended, read = entries_a_second(folder / "lines")
    print("## Scale\n")
    print(f"All {len(list(ATTRIBUTES))} attributes of real clips of 832x480, the start of workers and of Ray excluded.\n")
    print("| what | asked | measured |\n|---|---|---|")
    if not given.driver:
        print(f"| one worker over two, {few} clips | at least 1.8 | {one / two:.2f} ({one:.0f} s, {two:.0f} s) |")
        print(f"| Ray over the local pool, {many} clips | at most 1.15 | {on_ray / pool:.2f} ({on_ray:.0f} s, {pool:.0f} s) |")
        print(f"| tasks of one driver a second, local pool | | {rate:,.0f} |")
    measured = stages["measure"].seconds.mean() / (stages["measure"].entries / len(list(ATTRIBUTES)))
    print(f"| CPU time of Ray's driver a further clip with all attributes | | {1e3 * clip_seconds:.1f} ms, "
          f"{clip_seconds / measured:.2%} of what the worker does for it |")  # fmt: skip
    print(f"| CPU time of Ray's driver a task that does nothing, 4,000 tasks | | {1e6 * task_seconds:.0f} µs |")
    print(f"| ledger lines appended and read a second | | {appended:,.0f} and {read:,.0f} |")
    print(f"\nSeconds of one core a source, mean over {len(stages['probe'].seconds)} sources of "
          f"{stages['find'].bytes.mean() / 1e6:.1f} MB: "
          + ", ".join(f"{step} {stage.seconds.mean():.2f}" for step, stage in stages.items()) + ".")  # fmt: skip
    simulate(stages, task_seconds=task_seconds, clip_seconds=clip_seconds, read_a_second=read)
    return 0 if given.driver or (one >= 1.8 * two and on_ray <= 1.15 * pool) else 1


if __name__ == "__main__":
    raise SystemExit(main())
