"""What a million clips cost the main process, step by step, from made-up tables without pixels.

python bench/million_rows.py [--quick] [--clips N] [--keep FOLDER] [--at ADDRESS]
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import io
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from inpaintbench import frozen, manifest, storage
from inpaintbench.cli.selecting import _stored, print_judged, why
from inpaintbench.curation import judging as what_if
from inpaintbench.curation import measuring
from inpaintbench.curation.attributes import ATTRIBUTES
from inpaintbench.curation.attributes import hashes as copy_hashes
from inpaintbench.curation.rules import parse_rules
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.report import write as records
from inpaintbench.eval.results import tables
from inpaintbench.eval.scoring.run_folder import scores_of
from inpaintbench.executors.base import Outcome, Step, Task, Tasks, task_keys
from inpaintbench.executors.ledgered import LedgeredExecutor, Results, Waiting
from inpaintbench.export import freeze
from inpaintbench.masks import render
from inpaintbench.recipes import devil, look_alikes, sliced
from inpaintbench.steps import MEASURED_MASKS
from inpaintbench.tables import rows_json, schema_of, write_parquet
from inpaintbench.types import Attribute, Clip, Corruption, Dataset, Item, Score, Slice, Source
from inpaintbench.workspace import Workspace

CLIPS, ITEMS_A_CLIP, CLIPS_A_SOURCE = 1_000_000, 3, 4
MEBIBYTES_AT_MOST, MOST_REQUESTS = 2048, 30
RULE = "sharpness>=0.2"
METHODS, METRICS, REGIONS, ITEMS = 10, 8, 3, 1500
FIRST_ITEM = 30_000_000
BLOBS = [f"{place:02x}" * 32 + ".mp4" for place in range(64)]


class Nobody(LedgeredExecutor):
    """Runs steps of which everything is done."""

    def _results(self, waiting: Waiting) -> Results:
        if waiting:
            raise AssertionError(f"{len(waiting)} tasks are not in the ledger, such as {waiting.peek().jobs[0].task}")
        yield from ()

    def _close(self, *, kill: bool) -> None: ...


class Keeps(Nobody):
    """Writes the ledger of every step as if workers had made its rows, and none of its tables."""

    recipe: devil.DevilRecipe

    def run_together(self, work: Sequence[tuple[Step, Sequence[Task]]], **more: Any) -> dict[str, Outcome]:
        ((step, tasks),) = work
        assert isinstance(tasks, Tasks)
        if step.name != "render":
            write_ledger(self.workspace, step, tasks, rows_of=facts_of)
            raise StopIteration
        write_ledger(self.workspace, step, tasks, rows_of=self.holes_of())
        return super().run_together(work, **more)

    def holes_of(self) -> Callable[[str], str]:
        """Return what gives the row of a rendered hole."""
        requests = sliced.Requests(self.recipe, devil._plan(self.recipe, self.workspace).pairs, self.workspace)
        place_of = {name: place for place, name in enumerate(requests.corruption_ids())}

        def row(name: str) -> str:
            pair = requests._pairs[place_of[name]]
            asked = [pair.clip_id, sliced.GENERATOR, requests._parameters(pair), self.recipe.seed]
            return rows_json([Corruption(name, *asked, None, BLOBS[int(name[:4], 16) % len(BLOBS)], name * 4)])

        return row


def hexes(begin: int, count: int, digits: int) -> list[str]:
    """Names like hashes."""
    mixed = np.arange(begin, begin + count, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return [f"{value:016x}" * (digits // 16) for value in mixed.tolist()]


def write_ledger(workspace: Workspace, step: Step, tasks: Tasks, *, rows_of: Callable[[str], str]) -> None:
    """An entry for each task; ``rows_of`` gives the JSON of the rows of a subject."""
    ledger = workspace.ledger(step.name, step.record)
    entry = {"finished_at": 1.7e9, "name": "", "peak_mebibytes": 300.0, "reason": None, "seconds": 0.5, "status": "done"}
    for (subject, _), key in zip(tasks.named(), task_keys(step, tasks), strict=True):
        ledger.append({**entry, "key": key, "subject_id": subject}, rows_of(subject))
    ledger.close()


@cache
def facts_template() -> str:
    """Rows of a measured hole."""
    names = ("hole_fraction", "centroid_speed_pixels_per_frame", "centroid_displacement_pixels", "pose_change", "union_coverage")
    rows = [Attribute("SUBJECT", f"hole.{name}", 0.125, None, "masks.measure", render.VERSION) for name in names]
    levels = (Attribute("SUBJECT", f"{name}_level_measured", "low", None, "masks.measure", render.VERSION)
              for name in ("size", "pose", "displacement"))  # fmt: skip
    return rows_json([*rows, *levels])


def facts_of(subject: str) -> str:
    """The rows of a measured hole."""
    return facts_template().replace("SUBJECT", subject)


def recipe_of(clips: int) -> devil.DevilRecipe:
    return devil.DevilRecipe(level_share=0.45, level_limit=clips, per_slice=ITEMS_A_CLIP * clips // 10, masks_per_preset=100_000)


# Steps of making the world, which are not measured


def make_clips(folder: Path, clips: int, *, ledgers: bool = True) -> None:
    """Sources, clips and all their attributes, with the ledgers of those that `build devil` measures."""
    workspace = Workspace(folder)
    sources = clips // CLIPS_A_SOURCE
    ids, source_ids, hashes = hexes(1, clips, 16), hexes(10_000_000, sources, 16), hexes(20_000_000, clips, 64)
    rng = np.random.default_rng(0)
    for name in BLOBS:
        workspace.blobs.path(name).parent.mkdir(parents=True, exist_ok=True)
        workspace.blobs.path(name).touch()
    empty = pa.nulls(sources, pa.string())
    uris = [f"films/part%20{place // 1000}/film{place}.mp4" for place in range(sources)]
    write(workspace, "sources", "find.folder", Source, source_id=source_ids, uri=uris, sha256=hexes(20_000_000, sources, 64),
          bytes=np.full(sources, 10**7), origin=["folder"] * sources, licence=["CC0-1.0"] * sources, author=["Ana"] * sources,
          page_url=empty, blob=empty, parts=["{}"] * sources)  # fmt: skip
    start = np.arange(clips) % CLIPS_A_SOURCE * 90
    of_source = np.repeat(np.array(source_ids), CLIPS_A_SOURCE)
    write(workspace, "clips", "cut", Clip, clip_id=ids, source_id=of_source, start_frame=start, end_frame=start + 90,
          fps=np.full(clips, 30.0), width=np.full(clips, 832), height=np.full(clips, 480), frames=np.full(clips, 90),
          blob=[BLOBS[place % len(BLOBS)] for place in range(clips)], yuv_sha256=hashes, rgb_sha256=hashes,
          encode_crf=np.full(clips, 18), encode_psnr_db=np.full(clips, 45.5), encoder=pa.nulls(clips, pa.string()))  # fmt: skip
    recipe = recipe_of(clips)
    for name in ATTRIBUTES:
        numbers = rng.random(clips).round(6)
        if name == "cut_score":
            numbers *= 0.25
        value = {"value": numbers, "value_text": pa.nulls(clips, pa.string())}
        if name in look_alikes.LEAVES:
            value = {"value": pa.nulls(clips, pa.float64()), "value_text": hashes_of(name, clips)}
        write(workspace, "attributes", f"measure.{name}", Attribute, subject_id=ids, name=[name] * clips, **value,
              reason=pa.nulls(clips, pa.string()), producer=[name] * clips, producer_version=["1"] * clips,
              blob=pa.nulls(clips, pa.string()))  # fmt: skip
        if ledgers and name in (*devil.measured_by(recipe), "sharpness", *look_alikes.LEAVES):
            step = measuring.measuring_step(name, {})
            tasks = Tasks(pa.array(ids), pa.array(hashes), lambda _: {})
            of_clip = dict(zip(ids, value["value_text"] if name in look_alikes.LEAVES else numbers.tolist(), strict=True))
            write_ledger(workspace, step, tasks, rows_of=lambda clip, name=name, of_clip=of_clip: rows_json([
                Attribute(clip, name, of_clip[clip], None, name, "1")]))  # fmt: skip
    facts = {"probe.frames": 360.0, "probe.width": 832.0, "probe.height": 480.0, "probe.fps": 30.0}
    rows = [np.repeat(np.array(source_ids), len(facts)), list(facts) * sources, np.tile(list(facts.values()), sources)]
    many = len(rows[0])
    write(workspace, "attributes", "probe", Attribute, subject_id=rows[0], name=rows[1], value=rows[2],
          value_text=pa.nulls(many, pa.string()), reason=pa.nulls(many, pa.string()), producer=["probe"] * many,
          producer_version=["1"] * many, blob=pa.nulls(many, pa.string()))  # fmt: skip
    scene = ["low" if place % 2 else "high" for place in range(clips)]
    write(workspace, "attributes", "labels", Attribute, subject_id=ids, name=["bg_scene_motion_level"] * clips,
          value=pa.nulls(clips, pa.float64()), value_text=scene, reason=pa.nulls(clips, pa.string()),
          producer=["file"] * clips, producer_version=["1"] * clips, blob=pa.nulls(clips, pa.string()))  # fmt: skip


def hashes_of(name: str, clips: int) -> list[str]:
    """Values of a leaf of ``look_alikes.LEAVES`` of clips of three seconds, no two of which are alike."""
    leaf = ATTRIBUTES.get(name)
    count = round(3 * leaf().hashes_per_second) * (copy_hashes.VIEWS if name == copy_hashes.CopyHashes.name else 1)
    words = hexes(zlib.crc32(name.encode()), clips * count, 16)
    return [" ".join([f"{leaf().hashes_per_second:g}", *words[at : at + count]]) for at in range(0, len(words), count)]


def write(workspace: Workspace, table: str, step: str, record: type, **columns: Any) -> None:
    schema = schema_of(record)
    arrays = [pa.array(columns[name]) if not isinstance(columns[name], pa.Array) else columns[name] for name in schema.names]
    whole = pa.Table.from_arrays(arrays, names=schema.names).cast(schema)
    path = workspace.path / "tables" / table / f"{step}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_parquet(path, whole)


def make_holes(folder: Path, clips: int) -> None:
    """The ledgers of rendered and measured holes."""
    Keeps.recipe = recipe_of(clips)
    with Keeps(Workspace(folder)) as executor, contextlib.suppress(StopIteration):
        devil.corrupt(recipe_of(clips), executor, executor.workspace)


def make_items(folder: Path, clips: int) -> None:
    """Items of three holes a clip, in ten slices, with what was measured of them: the tables that `export freeze` reads."""
    make_clips(folder, clips, ledgers=False)
    workspace, count, of_clip = Workspace(folder), ITEMS_A_CLIP * clips, hexes(1, clips, 16)
    ids, holes, clip_ids = hexes(FIRST_ITEM, count, 16), hexes(60_000_000, count, 16), np.repeat(of_clip, ITEMS_A_CLIP)
    nothing = pa.nulls(count, pa.string())
    parameters = '{"preset":"small-static-far","index":7,"reverse":false,"canvas":[1920,1080]}'
    optional = dict.fromkeys(schema_of(Corruption).names, nothing)
    write(workspace, "corruptions", "render", Corruption, **{
        **optional, "corruption_id": holes, "clip_id": clip_ids, "generator": ["devil_brush"] * count, "facts": ["{}"] * count,
        "parameters": [parameters] * count, "seed": np.zeros(count, np.int64),
        "hole": [BLOBS[place % len(BLOBS)] for place in range(count)], "hole_sha256": hexes(90_000_000, count, 64),
    })  # fmt: skip
    write(workspace, "items", "pair", Item, item_id=ids, clip_id=clip_ids, corruption_id=holes, split=["test"] * count)
    slices = [Slice(f"slice-{place}", f"x == {place}", tuple(ids[place::10])) for place in range(10)]
    workspace.write_table("slices", "pair", slices, Slice)
    rng = np.random.default_rng(1)
    facts = json.loads(facts_template())
    columns = {name: [fact[name] for fact in facts] * count for name in schema_of(Attribute).names if name != "value"}
    columns |= {"subject_id": np.repeat(holes, len(facts)), "value": rng.random(count * len(facts)).round(6)}
    columns["value"][np.tile([fact["value"] is None for fact in facts], count)] = np.nan
    columns["value"] = pa.array(columns["value"], from_pandas=True)
    write(workspace, "attributes", MEASURED_MASKS, Attribute, **columns)


def make_scores(folder: Path, clips: int) -> None:
    """A run folder with the scores of a leaderboard."""
    del clips
    workspace = Workspace(folder / "run")
    ids = hexes(FIRST_ITEM, ITEMS, 16)
    rng = np.random.default_rng(0)
    protocol = PROTOCOLS.get("devil/corrected")
    metrics = list(protocol.metrics)[:METRICS]
    proofs = [json.dumps({"truth": name * 4, "hole": name * 4, "input": name * 4, "prediction": name * 4}) for name in ids]
    for method in (f"method{place}" for place in range(METHODS)):
        keys = [(name, metric, region) for name in ids for metric in metrics for region in protocol.regions]
        columns = list(zip(*keys, strict=True))
        count = len(keys)
        write(workspace, "scores", f"score.devil.corrected.{method}", Score, method=[method] * count, item_id=columns[0],
              metric=columns[1], region=columns[2], protocol=[protocol.name] * count, fingerprint=[protocol.fingerprint] * count,
              value=rng.random(count), reason=pa.nulls(count, pa.string()), details=['{"frames":90}'] * count,
              features=pa.nulls(count, pa.string()), truth_features=pa.nulls(count, pa.string()),
              measured=np.repeat(proofs, len(metrics) * len(protocol.regions)))  # fmt: skip


# Steps that are measured


def select(folder: Path, clips: int) -> str:
    with Nobody(Workspace(folder)) as executor:
        devil.label(recipe_of(clips), executor, executor.workspace)
    return ""


def changed(folder: Path, clips: int) -> str:
    """`curation select --rules FILE`, with what it prints."""
    rules = tuple(parse_rules(RULE))
    with Nobody(Workspace(folder)) as executor:
        devil.label(recipe_of(clips).model_copy(update={"rules": rules}), executor, executor.workspace)
    opened = Workspace(folder)
    with contextlib.redirect_stdout(io.StringIO()):
        print_judged(_stored(opened))
    return ""


def asked(folder: Path, clips: int) -> str:
    del clips
    change = what_if.what_if(Workspace(folder), parse_rules("sharpness>=0.3"))
    return f"{int(change.lost.sum()):,} lost"


def trail_of_one(folder: Path, clips: int) -> str:
    with contextlib.redirect_stdout(io.StringIO()):
        why(folder, hexes(1 + clips // 2, 1, 16)[0]).tell(as_json=True)
    return ""


def pair(folder: Path, clips: int) -> str:
    with Nobody(Workspace(folder)) as executor:
        devil.corrupt(recipe_of(clips), executor, executor.workspace)
    return f"{Workspace(folder).columns('items', Item, columns=['item_id']).num_rows:,} items"


def frozen_tables(folder: Path, clips: int) -> str:
    """`export freeze` without its media, of which names and made-up hashes stand in the manifest."""
    names = [*(f"truth/{name}.mp4" for name in hexes(1, clips, 16)), *(f"holes/{name[:16]}.mp4" for name in BLOBS)]
    real = freeze._hashed

    def hashed(made: Path) -> tuple[dict[str, str], dict[str, int]]:
        hashes, sizes = real(made)
        return dict(sorted({**hashes, **dict.fromkeys(names, "0" * 64)}.items())), {**sizes, **dict.fromkeys(names, 100_000)}

    freeze.copy_media, freeze._hashed = lambda *_, **__: None, hashed  # type: ignore[assignment]
    # What inputs show of each other is decoded, and nothing here has pixels.
    freeze.shown_by_others = lambda _, rows: {row["item_id"]: None for row in rows}  # type: ignore[assignment]
    made, dataset = devil.export(recipe_of(clips), Workspace(folder))
    held = sum(path.stat().st_size for path in made.rglob("*") if path.is_file())
    return f"{len(dataset.items):,} items, {held / 2**20:,.0f} MiB, root {(made / 'dataset.json').stat().st_size:,} bytes"


def opened_items(folder: Path, clips: int) -> str:
    """What a command reads of such a dataset: its id, the members of a slice, a column of all items, the row of one."""
    del clips
    dataset = frozen.load(folder / "exports" / "devil")
    ids = list(dataset.slices[0].item_ids)
    assert manifest.column(dataset, "frames")[0] == dataset.items.find(ids[-1])["frames"]
    return f"{frozen.dataset_id(dataset).partition('+')[2]}, {len(ids):,} of a slice"


def read_scores(folder: Path, clips: int) -> str:
    del clips
    return f"{len(Workspace(folder / 'run').table('scores', Score)):,} scores"


def report_data(folder: Path, clips: int) -> str:
    """Every mean of a report with its interval and place, from the tables of a run folder."""
    del clips
    ids = hexes(FIRST_ITEM, ITEMS, 16)
    items = [{"item_id": name, "source_id": f"source{place // CLIPS_A_SOURCE}"} for place, name in enumerate(ids)]
    slices = tuple(Slice(f"slice-{place}", "made up", tuple(ids[place::10])) for place in range(10))
    return means_of(Dataset("made up", {}, items, slices, {}, {}, {}), folder)


def report_of_millions(folder: Path, clips: int) -> str:
    """The same in a dataset of millions of items, of which the others have no score."""
    del clips
    return means_of(frozen.load(folder / "frozen" / "exports" / "devil"), folder)


def means_of(dataset: Dataset, folder: Path) -> str:
    protocol = PROTOCOLS.get("devil/corrected")
    scores, _ = scores_of(Workspace(folder / "run"), dataset, folder, protocol.name)
    rows = records.summary_rows(tables.Results(dataset, scores, protocol=protocol))
    return f"{len(rows):,} means"


MAKING = {"clips": make_clips, "items": make_items, "holes": make_holes, "scores": make_scores}
STEPS: dict[str, tuple[str, Any, str]] = {
    "select": ("`curation select`, all measured", select, ""),
    # Before the rules change: holes are those of the clips that are kept without.
    "pair": ("`masks pair`, all rendered and measured", pair, ""),
    "changed": ("a changed threshold: `curation select --rules`", changed, "at most 30 s"),
    "what_if": ("`curation select --what-if`, without its page", asked, "at most 30 s"),
    "why": ("`curation why` of one clip", trail_of_one, "at most 2 s"),
    "freeze": ("`export freeze`, all tables and documents, no media", frozen_tables, "at most 180 s"),
    "open": ("the frozen dataset opened: id, a slice, a column, an item", opened_items, ""),
    "scores": (
        f"scores of {ITEMS:,} items x {METHODS} methods x {METRICS} metrics x {REGIONS} regions read", read_scores, "at most 3 s"
    ),
    "report": ("all means of a report of these scores, in ten slices", report_data, ""),
    "report_of_millions": ("the same in the frozen dataset of all items", report_of_millions, ""),
}  # fmt: skip


def child(name: str, folder: Path, clips: int) -> int:
    """One step in a process of its own: JSON of what it cost."""
    work = MAKING[name.removeprefix("make-")] if name.startswith("make-") else STEPS[name][1]
    gc.freeze()  # as the program has it
    begun, before = time.perf_counter(), cpu_seconds()
    told = work(folder, clips)
    spent = {"seconds": time.perf_counter() - begun, "cpu": cpu_seconds() - before, "told": told or "",
             "requests": storage.traffic()["requests"],
             "mebibytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}  # fmt: skip
    print(json.dumps(spent))
    return 0


def cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def run(name: str, folder: Path, clips: int) -> dict[str, Any]:
    command = [sys.executable, __file__, "--step", name, "--keep", str(folder), "--clips", str(clips)]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # as the program has it
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    print(name, found, file=sys.stderr)
    return found


def in_bucket(at: str, clips: int) -> int:
    """Selecting in a new workspace at an address, and again where it is finished, on the machine that did it and on another."""
    rows, failed = [], False
    with tempfile.TemporaryDirectory() as scratch:
        for machine, steps in (("one", ("make-clips", "select", "select", "what_if")), ("another", ("select", "what_if"))):
            os.environ[storage.CACHE] = str(Path(scratch) / machine)
            folder = Workspace(at).path
            for place, name in enumerate(steps):
                cost = run(name, folder, clips)
                is_finished = name == "select" and (machine, place) != ("one", 1)
                failed |= cost["mebibytes"] > MEBIBYTES_AT_MOST or (is_finished and cost["requests"] > MOST_REQUESTS)
                words = name if name in MAKING or name not in STEPS else STEPS[name][0] + (", finished" if is_finished else "")
                figures = f"{cost['requests']} | {cost['cpu']:.1f} s | {cost['mebibytes']:,.0f} MiB"
                rows.append(f"| {words} | {machine} | {figures} |")
    print(f"Of {clips:,} clips in a workspace at an address; a finished step may ask {MOST_REQUESTS} times:\n")
    print("| step | machine | requests | CPU | memory |\n|---|---|---|---|---|\n" + "\n".join(rows))
    return int(failed)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--clips", type=int, default=CLIPS)
    parser.add_argument("--keep", type=Path, help="folder of the world, which is used again")
    parser.add_argument("--at", help="address of a new workspace, in which clips are selected")
    parser.add_argument("--step", help=argparse.SUPPRESS)
    given = parser.parse_args()
    clips = 2_000 if given.quick else given.clips
    if given.step:
        return child(given.step, given.keep, clips)
    if given.at:
        return in_bucket(given.at, clips)
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.keep or Path(scratch) / "world"
        needed = {"select": "clips", "pair": "holes", "freeze": "items", "scores": "scores", "report": "scores"}
        rows, failed = [], False
        for name, (words, _, bar) in STEPS.items():
            of_step = folder / "frozen" if name in ("freeze", "open") else folder  # a world of tables alone
            made = [needed[name]] if name in needed else []
            for what in made:
                if not (of_step / f".{what}").exists():
                    run(f"make-{what}", of_step, clips)
                    (of_step / f".{what}").touch()
            cost = run(name, of_step, clips)
            most = float(bar.removeprefix("at most ").removesuffix(" s")) if bar else float("inf")
            failed |= cost["cpu"] > most or cost["mebibytes"] > MEBIBYTES_AT_MOST
            told = f" ({cost['told']})" if cost["told"] else ""
            rows.append(f"| {words}{told} | {bar} | {cost['cpu']:.1f} s | {cost['mebibytes']:,.0f} MiB |")
    print("## A million rows\n")
    print(
        f"Made-up tables and ledgers of {clips:,} clips with all {len(list(ATTRIBUTES))} attributes, no pixels; each step in a "
        "process of its own, everything that workers do is done. CPU time and largest resident memory of the main process, of "
        f"which at most {MEBIBYTES_AT_MOST:,} MiB are asked.\n"
    )
    print("| step | asked | CPU | memory |\n|---|---|---|---|\n" + "\n".join(rows))
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main())
