"""The page of `inpaintbench view` in Chromium over many items and 8 methods: what the server and the page compute until the first
rows are seen, and from a filter, an order or another metric to the repaint.

python bench/view.py [--quick]
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import shutil
import statistics
import tempfile
import threading
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from playwright.sync_api import sync_playwright

from inpaintbench import manifest
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.files import file_sha256
from inpaintbench.tables import schema_of
from inpaintbench.types import Dataset, Prediction, Score, Slice
from inpaintbench.workbench.server import Server
from inpaintbench.workspace import Workspace

CORRECTED = PROTOCOLS.get("devil/corrected")
METHODS = [f"method_{place}" for place in range(8)]
QUANTITIES = [("psnr", "hole"), ("ssim", "hole"), ("mse", "hole")]
NUMBERS = 8


def make(folder: Path, items: int) -> None:
    """A dataset without media and a run with every score."""
    drawn = np.random.default_rng(0)
    numbers = drawn.normal(size=(items, NUMBERS)).round(4).tolist()
    rows = [
        {
            "item_id": f"{place:016x}", "clip_id": f"c{place}", "source_id": f"s{place // 10}", "frames": 48, "width": 432,
            "height": 240, "fps": 30.0, "fill": 0, "hole_is_given": True, "generator": "box", "split": "test",
            "source_uri": f"film%20{place // 10}.mp4",
            "attributes": {**{f"fact_{at}": value for at, value in enumerate(numbers[place])}, "kind": "abcd"[place % 4]},
        }
        for place in range(items)
    ]  # fmt: skip
    kinds = {word: tuple(row["item_id"] for row in rows if row["attributes"]["kind"] == word) for word in "abcd"}
    slices = [Slice(f"kind-{word}", f"kind == {word!r}", ids) for word, ids in kinds.items()]
    (folder / "data").mkdir(parents=True)
    made = Dataset("bench", {"recipe": "bench"}, tuple(rows), tuple(slices), {}, {}, {"inpaintbench": "0"})
    (folder / "data" / "dataset.json").write_bytes(manifest.one_file(made))
    run = Workspace(folder / "run")
    (folder / "run" / "dataset.sha256").write_text(file_sha256(folder / "data" / "dataset.json"))
    ids = [row["item_id"] for row in rows]
    hard = drawn.normal(size=items)
    for at, method in enumerate(METHODS):
        tables = []
        for metric, region in QUANTITIES:
            same = {
                "method": method,
                "metric": metric,
                "region": region,
                "protocol": CORRECTED.name,
                "fingerprint": CORRECTED.fingerprint,
            }
            given: dict[str, Any] = {name: [value] * items for name, value in same.items()}
            given |= {
                "item_id": ids,
                "value": (30 + at + 3 * hard + drawn.normal(size=items)).tolist(),
                "details": ["{}"] * items,
            }
            schema = schema_of(Score)
            tables.append(pa.table({name: given.get(name, [None] * items) for name in schema.names}, schema=schema))
        schema = schema_of(Prediction)
        told = {"method": [method] * items, "method_version": ["1"] * items, "item_id": ids, "blob": ["0"] * items}
        told |= {"full_frames": [False] * items, "largest_change_outside": [0] * items}
        run.write_columns(
            "predictions",
            f"predict.{method}",
            pa.table({name: told.get(name, [None] * items) for name in schema.names}, schema=schema),
        )
        run.write_columns("scores", f"score.devil.corrected.{method}", pa.concat_tables(tables))  # after what they are of


REPAINT = """(change) => new Promise((resolve) => {
  const begun = performance.now();
  change();
  requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() - begun)));
})"""
# What is done, TIMES being how often it was before.
SET = """(query, change) => {
  const field = document.querySelector(query);
  change(field);
  field.dispatchEvent(new Event('input', { bubbles: true }));
}"""
FILTERS = {
    "text": "() => set('[name=text]', (field) => { field.value = 'film TIMES'; })",
    "slice": "() => set('[name=slice]', (field) => { field.selectedIndex = 1 + TIMES % 4; })",
    "range": """() => {
        document.querySelector('[name=of]').value = 'a|fact_1';
        document.querySelector('[name=low]').value = '-0.TIMES';
        document.querySelector('[data-action=range]').click();
    }""",
    "sort": "() => document.querySelectorAll('.rows thead button')[1 + TIMES % 4].click()",
    "metric": "() => set('[name=metric]', (field) => { field.selectedIndex = TIMES % 3; })",
}


def chromium() -> str | None:
    return next((found for name in ("chromium-headless-shell", "chromium") if (found := shutil.which(name))), None)


def serve(folder: Path, told: Connection) -> None:
    """Serve a folder; say where, and then, as often as it is asked, how many seconds of CPU that took so far."""
    server = Server([folder])
    threading.Thread(target=server.serve_forever, daemon=True).start()
    told.send(server.address("#r=0%2Frun"))
    while told.recv():
        told.send(time.process_time())


def measure(address: str, asked: Connection) -> dict[str, float]:
    """Milliseconds; medians of five."""

    def server_cpu() -> float:
        asked.send(True)
        return float(asked.recv())

    found: dict[str, float] = {}
    with sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        for name in ("first rows, server just started", "first rows"):
            tab = browser.new_page(viewport={"width": 1440, "height": 900})
            devtools = tab.context.new_cdp_session(tab)
            devtools.send("Performance.enable", {"timeDomain": "threadTicks"})
            begun, before = time.perf_counter(), server_cpu()
            tab.goto(address, timeout=300_000)
            tab.wait_for_selector("tr[data-item]", timeout=300_000)
            found[f"{name}: by the clock"] = 1000 * (time.perf_counter() - begun)
            metrics = {one["name"]: one["value"] for one in devtools.send("Performance.getMetrics")["metrics"]}
            found[f"{name}: CPU of server and page"] = 1000 * (server_cpu() - before + metrics["TaskDuration"])
        tab.wait_for_timeout(1500)
        tab.evaluate(f"() => {{ window.set = {SET}; }}")
        for name, change in FILTERS.items():
            taken = [tab.evaluate(f"({REPAINT})({change.replace('TIMES', str(time_of))})") for time_of in range(1, 6)]
            found[f"{name} to repaint"] = statistics.median(taken)
        browser.close()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="the smaller dataset alone")
    quick = parser.parse_args().quick
    print("## Looking at many items: `inpaintbench view`\n")
    print(
        f"Chromium, 1440x900, {len(METHODS)} methods. From a change to the repaint: the median of five. The server reads the run "
        "ahead of the first page; just started it may still be at that. CPU decides on a machine that does nothing else.\n"
    )
    print(f"The machine had a load of {os.getloadavg()[0]:.0f} on {os.cpu_count()} cores when this began.\n")
    print("| items | what | bar | measured |\n|---|---|---|---|")
    spawned = multiprocessing.get_context("spawn")
    for items in (10_000,) if quick else (10_000, 100_000):
        with tempfile.TemporaryDirectory() as place:
            make(Path(place), items)
            own, other = spawned.Pipe()
            server = spawned.Process(target=serve, args=(Path(place), other), daemon=True)
            server.start()
            for name, value in measure(own.recv(), own).items():
                bar = "reported" if items > 10_000 or "clock" in name else "<= 1,000 ms" if "CPU" in name else "<= 200 ms"
                print(f"| {items:,} | {name} | {bar} | {value:,.0f} ms |", flush=True)
            own.send(False)
            server.join()


if __name__ == "__main__":
    main()
