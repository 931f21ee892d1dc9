"""Draw the contact sheets of the documentation: HTML pages in docs/build, pictures of them in docs/pictures.

Made from freely licensed photographs, which come with scikit-image, and from synthetic fingerprints. Needs Chromium.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import asdict
from functools import partial
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright

from inpaintbench.curation.sources.fingerprints import FingerprintSource
from inpaintbench.fingerprints.impressions import printed
from inpaintbench.fingerprints.master import master
from inpaintbench.masks.generators.fingerprint_degradation import FingerprintDegradation
from inpaintbench.view import ItemView

DOCS = Path(__file__).parent.parent / "docs"
SHEETS = {
    "masks": ["brush_box", "--set", "preset=medium-256", "--vary", "area=[0,0.2];[0.2,0.4];[0.4,0.6]", "--count", "5"],
    "patches": ["patches", "--vary", "ratio=0.2;0.6", "--vary", "size=16;32", "--count", "5"],
    "subtitles": ["subtitles", "--vary", "difficulty=easy;medium;hard", "--count", "4"],
    "joint_blocks": ["joint_blocks", "--count", "10"],
}
"""Name of the picture -> arguments of `masks preview`."""
WIDTH, TALLEST = 1280, 1400


FINGERPRINTS, COLUMNS, SHRUNK = 36, 12, (138, 200)
"""How many prints a grid shows, in how many columns, and how large."""


def main() -> None:
    """Write every sheet and its picture, and the grids of prints."""
    grids()
    build = DOCS / "build"
    build.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": 800})
        for name, arguments in SHEETS.items():
            sheet = build / f"{name}.html"
            command = [sys.executable, "-m", "inpaintbench", "masks", "preview", *arguments, "--out", str(sheet)]
            subprocess.run(command, check=True)
            page.goto(sheet.absolute().as_uri())
            page.wait_for_load_state("networkidle")
            height = min(TALLEST, page.evaluate("document.documentElement.scrollHeight"))
            clip = {"x": 0, "y": 0, "width": WIDTH, "height": height}
            shot = Image.open(BytesIO(page.screenshot(clip=clip, full_page=True))).convert("RGB")
            shot.quantize(256, dither=Image.Dither.NONE).save(DOCS / "pictures" / f"{name}.png", optimize=True)
        browser.close()


def grids() -> None:
    """36 prints as a builder gets them, 36 like the challenge's, and both degraded, each grid a picture of its own."""
    for suffix, style, recipe in (("", "natural", "corrected"), ("_as_published", "challenge", "as-published")):
        source = FingerprintSource(fingers=FINGERPRINTS, law="uniform", style=style)
        leaf = FingerprintDegradation(recipe=recipe)
        truths, inputs = [], []
        for number in range(FINGERPRINTS):
            fields = source.print_of(number, 0)
            undistorted, truth = (np.repeat(one[None, ..., None], 3, axis=3) for one in printed(master(fields.finger), fields))
            parts = {"undistorted": undistorted, "print": asdict(fields)}
            size = {"frames": 1, "height": truth.shape[1], "width": truth.shape[2], "fps": 1.0}
            view = ItemView(item_id="", **size, parts={name: partial(parts.get, name) for name in parts})
            truths.append(truth[0])
            inputs.append(leaf.generate(view, np.random.default_rng(number)).input[0])
        _grid(f"fingerprints{suffix}", truths)
        _grid(f"degradations{suffix}", inputs)


def _grid(name: str, pictures: list[np.ndarray]) -> None:
    shown = [np.asarray(Image.fromarray(one).resize(SHRUNK, Image.Resampling.LANCZOS)) for one in pictures]
    rows = [np.hstack(shown[start : start + COLUMNS]) for start in range(0, FINGERPRINTS, COLUMNS)]
    grid = Image.fromarray(np.vstack(rows))
    grid.quantize(256, dither=Image.Dither.NONE).save(DOCS / "pictures" / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main()
