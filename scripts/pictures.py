"""Draw the pictures of the documentation: HTML pages in docs/build, pictures of them and of the rater's app in docs/pictures.

Made from freely licensed photographs, which come with scikit-image, and from synthetic fingerprints. Needs Chromium.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import asdict
from functools import partial
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from inpaintbench.view import ItemView
from inpaintbench.wings.chalearn.degradations.generator import FingerprintDegradation
from inpaintbench.wings.chalearn.fingerprints.impressions import printed
from inpaintbench.wings.chalearn.fingerprints.master import master
from inpaintbench.wings.chalearn.fingerprints.source import FingerprintSource

DOCS = Path(__file__).parent.parent / "docs"
EXAMPLE = DOCS.parent / "examples" / "missed_rim" / "pages" / "report" / "report.html"
SHEETS = {
    "masks": ["brush_box", "--set", "preset=medium-256", "--vary", "area=[0,0.2];[0.2,0.4];[0.4,0.6]", "--count", "5"],
    "patches": ["patches", "--vary", "ratio=0.2;0.6", "--vary", "size=16;32", "--count", "5"],
    "subtitles": ["subtitles", "--vary", "difficulty=easy;medium;hard", "--count", "4"],
    "joint_blocks": ["joint_blocks", "--count", "10"],
}
"""Name of the picture -> arguments of `masks preview`."""
WIDTH, TALLEST, FIRST_SCREEN, SHOWN_FRAME = 1280, 1400, 860, 16


FINGERPRINTS, COLUMNS, SHRUNK = 36, 12, (138, 200)
"""How many prints a grid shows, in how many columns, and how large."""


def main() -> None:
    """Write every sheet and its picture, and the grids of prints."""
    grids()
    build = DOCS / "build"
    build.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium-headless-shell") or shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": WIDTH, "height": 800})
        for name, arguments in SHEETS.items():
            sheet = build / f"{name}.html"
            command = [sys.executable, "-m", "inpaintbench", "masks", "preview", *arguments, "--out", str(sheet)]
            subprocess.run(command, check=True)
            photograph(page, sheet)
        photograph(page, funnel(build))
        subprocess.run([sys.executable, "-m", "inpaintbench", "demo", "--out", str(build / "demo")], check=True)
        report = build / "demo" / "report" / "report.html"
        photograph(page, report, tallest=FIRST_SCREEN)
        gallery(page, report)
        photograph(page, EXAMPLE, tallest=FIRST_SCREEN, name="worked_example")
        rater_page(browser)
        browser.close()


def photograph(page: Page, sheet: Path, tallest: int = TALLEST, name: str = "") -> None:
    """The top of a page as ``docs/pictures/<its name>.png``, or of another ``name``."""
    page.goto(sheet.absolute().as_uri())
    page.wait_for_load_state("load")
    page.wait_for_timeout(1500)  # clips on top of a report begin to play
    height = min(tallest, page.evaluate("document.documentElement.scrollHeight"))
    clip = {"x": 0, "y": 0, "width": WIDTH, "height": height}
    shot = Image.open(BytesIO(page.screenshot(clip=clip, full_page=True))).convert("RGB")
    shot.save(DOCS / "pictures" / f"{name or sheet.stem}.png", optimize=True)


def gallery(page: Page, report: Path) -> None:
    """Where methods fail, as ``docs/pictures/report_gallery.png``: results at one side of the wipe, the truth at the other."""
    page.emulate_media(reduced_motion="reduce")  # clips wait
    page.goto(report.absolute().as_uri())
    page.wait_for_load_state("load")
    page.locator("#gallery").scroll_into_view_if_needed()
    page.wait_for_timeout(1500)  # keys are for clips that are there
    for key in ("w", *["ArrowRight"] * SHOWN_FRAME):
        page.keyboard.press(key)
    page.wait_for_timeout(1500)
    page.evaluate("scrollTo(0, 0)")
    shot = page.screenshot(clip=page.locator("#gallery").bounding_box(), full_page=True)
    Image.open(BytesIO(shot)).convert("RGB").save(DOCS / "pictures" / "report_gallery.png", optimize=True)


def rater_page(browser: Browser) -> None:
    """The rater's app with a pair of the demo study, at a frame where the two differ."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "inpaintbench", "annotate", "demo", "--out", f"{folder}/study", "--port", "0"]
        environment = {**os.environ, "COLUMNS": "300"}
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as app:
            assert app.stdout is not None
            link = next(found[0] for line in app.stdout if (found := re.findall(r"http://\S+/join/\S+", line)))
            page = browser.new_page(viewport={"width": WIDTH, "height": 720}, color_scheme="light", reduced_motion="reduce")
            page.goto(link)
            page.get_by_text("Begin").click(timeout=60_000)
            _go_to_a_pair(page)
            page.screenshot(path=DOCS / "build" / "annotate.png")
            page.close()
            app.send_signal(signal.SIGINT)
    shot = Image.open(DOCS / "build" / "annotate.png").convert("RGB")
    shot.save(DOCS / "pictures" / "annotate.png", optimize=True)


def _go_to_a_pair(page: Page) -> None:
    """Answer what comes before, then wait until the clip was seen and stop where the hole lies over an edge."""
    at_rest = "window.raterPage.page.card && !window.raterPage.page.stage.form.locked"
    page.wait_for_function(at_rest)
    while page.evaluate("window.raterPage.page.card.question.leaf") != "pairwise":
        lease = page.evaluate("window.raterPage.page.card.lease_id")
        while page.evaluate("window.raterPage.page.card?.lease_id") == lease:
            page.keyboard.press("1")
            page.wait_for_timeout(50)
        page.wait_for_function(at_rest)
    page.evaluate("window.raterPage.page.stage.clock.pause(); window.raterPage.page.stage.clock.seek(12)")
    page.wait_for_function("window.raterPage.page.stage.clock.wanted === null")
    page.wait_for_timeout(300)


def funnel(build: Path) -> Path:
    """The funnel page of a small benchmark from embedded films, with two rules of its own."""
    workspace, rules, page = build / "funnel", build / "rules.toml", build / "funnel.html"
    rules.write_text(
        '[[rule]]\nattribute = "sharpness"\nat_least = 0.655\n[[rule]]\nattribute = "residual_motion"\nat_most = 0.0238\n'
    )
    program = [sys.executable, "-m", "inpaintbench"]
    for command in (
        ["build", "devil", "--demo", "--out", str(workspace)],
        ["curation", "measure", str(workspace)],
        ["curation", "select", str(workspace), "--rules", str(rules)],
        ["masks", "pair", str(workspace)],
        ["curation", "funnel", str(workspace), "--out", str(page)],
    ):
        subprocess.run([*program, *command], check=True)
    return page


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
