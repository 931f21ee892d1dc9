"""Draw the contact sheets of the documentation: HTML pages in docs/build, pictures of them in docs/pictures.

Made from freely licensed photographs alone, which come with scikit-image. Needs Chromium.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

DOCS = Path(__file__).parent.parent / "docs"
SHEETS = {
    "masks": ["brush_box", "--set", "preset=medium-256", "--vary", "area=[0,0.2];[0.2,0.4];[0.4,0.6]", "--count", "5"],
    "patches": ["patches", "--vary", "ratio=0.2;0.6", "--vary", "size=16;32", "--count", "5"],
    "subtitles": ["subtitles", "--vary", "difficulty=easy;medium;hard", "--count", "4"],
    "joint_blocks": ["joint_blocks", "--count", "10"],
}
"""Name of the picture -> arguments of `masks preview`."""
WIDTH, TALLEST = 1280, 1400


def main() -> None:
    """Write every sheet and its picture."""
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


if __name__ == "__main__":
    main()
