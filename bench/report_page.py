"""The page of a report of many methods, and of one of many items: bytes, elements, and seconds until Chromium has it open.

python bench/report_page.py [--quick]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.eval.report.hand_made import FlatMedia, dataset, scores

from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.report import write_report

CORRECTED = PROTOCOLS.get("devil/corrected")
QUANTITIES = [(metric, region) for metric in ("psnr", "ssim", "lpips", "mse") for region in ("hole", "frame")]
ITEMS_A_SOURCE = 4


def make(folder: Path, *, methods: int, items: int) -> Path:
    """A report with every score of ten slices, five attributes low and high; returns its page."""
    drawn = np.random.default_rng(0)
    # The first letter is the source.
    names = [f"{chr(0x4E00 + place // ITEMS_A_SOURCE)}{place % ITEMS_A_SOURCE}" for place in range(items)]
    halves = {level: names[start::2] for start, level in enumerate(("low", "high"))}
    slices = {
        f"{axis}-{level}": some for axis in ("motion", "size", "pose", "camera", "texture") for level, some in halves.items()
    }
    hard = drawn.normal(size=items)
    rows = []
    for metric, region in QUANTITIES:
        values = {
            f"method_{at:02}": dict(zip(names, (30 + at / 5 + 3 * hard + drawn.normal(size=items)).tolist(), strict=True))
            for at in range(methods)
        }
        rows += scores(values, metric=metric, region=region)
    return write_report(
        folder, title="Many", dataset=dataset(slices, frames=12), scores=rows, protocol=CORRECTED, media=FlatMedia(frames=12)
    ).page  # fmt: skip


def measured(page: Path) -> tuple[float, int, float]:
    """Megabytes, elements, and by the clock the seconds until a browser has run all scripts and painted, the least of five."""
    times, elements = [], 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/lib/chromium/chromium-headless-shell", args=["--no-sandbox"])
        for _ in range(5):
            tab = browser.new_page(viewport={"width": 1280, "height": 900})
            tab.goto(page.as_uri(), wait_until="load")
            tab.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
            times.append(tab.evaluate("() => performance.now()") / 1000)
            elements = tab.evaluate("() => document.querySelectorAll('*').length")
            tab.close()
        browser.close()
    return page.stat().st_size / 1e6, elements, min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help="fewer methods and items")
    quick = parser.parse_args().quick
    print("## The page of a report\n")
    print("Bars: 50 methods at most 8 MB and 60,000 elements. Seconds by the clock, the least of five.\n")
    print("| page | megabytes | elements | seconds until open |\n|---|---|---|---|")
    for methods, items in ((20, 40), (5, 200)) if quick else ((50, 40), (10, 2000)):
        with tempfile.TemporaryDirectory() as folder:
            size, elements, least = measured(make(Path(folder) / "report", methods=methods, items=items))
        print(f"| {methods} methods, {items:,} items | {size:.1f} | {elements:,} | {least:.2f} |", flush=True)


if __name__ == "__main__":
    main()
