"""The rater's page in Chromium before the real server: how long the next task takes, lock-step, stepping, and the demo's start.

python bench/annotate_browser.py [--quick]
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))
sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "helpers"))

import numpy as np
import numpy.typing as npt
from annotate_load import Served, invite_many
from playwright.sync_api import sync_playwright
from ports import free_port
from tests.annotate.app.browser.conftest import Tab
from tests.annotate.app.browser.test_browser_player import READ, bars, busy_cores

from inpaintbench import video
from inpaintbench.annotate import study as studies
from inpaintbench.annotate.study import PROXIES, Proxy, Study, StudyTask, Tile

WIDTH, HEIGHT, FRAMES, FPS = 416, 240, 90, 30.0
BITS = 8
METHODS = ("deep", "flow")
ROLES = (("candidate", "deep"), ("candidate", "flow"), ("original", None), ("input", None))
LINK = re.compile(r"https?://\S+/join/\S+")
DEMO_IMPORTS = "import inpaintbench.recipes.demo_study, inpaintbench.annotate.app.server, inpaintbench.annotate.app.serve"
WAITS = "performance.getEntriesByName('inpaintbench:wait')"
ROOM = "page.card && clock.media && !page.stage.form.locked"
NEXT_IS_LOADED = "page.queue.cards[0] && page.stage.shelf.held.get(page.queue.cards[0].media.url)?.state === 'ready'"


def tile(texture: npt.NDArray[np.uint8], frame: int) -> npt.NDArray[np.uint8]:
    """A drifting texture, with the frame's number as bars over the left half of its upper half."""
    picture = texture[frame : frame + HEIGHT].copy()
    wide = WIDTH // 2 // BITS
    for bit in range(BITS):
        picture[: HEIGHT // 2, bit * wide : (bit + 1) * wide] = 235 * (frame >> bit & 1) + 10
    return picture


def write_proxy(folder: Path, seed: int) -> Proxy:
    rng = np.random.default_rng(seed)
    textures = []
    for _ in ROLES:
        coarse = rng.integers(40, 216, ((HEIGHT + FRAMES) // 10 + 1, WIDTH // 10 + 1, 3), dtype=np.uint8)
        textures.append(np.kron(coarse, np.ones((10, 10, 1), np.uint8))[: HEIGHT + FRAMES, :WIDTH])
    sheets = np.zeros((FRAMES, 2 * HEIGHT, 2 * WIDTH, 3), np.uint8)
    places = [(place % 2 * WIDTH, place // 2 * HEIGHT) for place in range(len(ROLES))]
    for frame in range(FRAMES):
        for (x, y), texture in zip(places, textures, strict=True):
            sheets[frame, y : y + HEIGHT, x : x + WIDTH] = tile(texture, frame)
    made = folder / "made.mp4"
    video.write_browser(made, sheets, fps=FPS)
    name = f"{hashlib.sha256(made.read_bytes()).hexdigest()[:32]}.mp4"
    made.rename(folder / name)
    tiles = tuple(Tile(role, who, x, y, WIDTH, HEIGHT) for (role, who), (x, y) in zip(ROLES, places, strict=True))
    return Proxy(name, FRAMES, FPS, 2 * WIDTH, 2 * HEIGHT, tiles)


def write_study(folder: Path, count: int) -> None:
    """``count`` pairs, each with a film of its own."""
    (folder / PROXIES).mkdir(parents=True)
    question = {"leaf": "pairwise", "name": "quality", "must_watch": False, "raters_per_task": 4}
    told = {"title": "Bench", "subjects": {"dataset": "D", "runs": ["R"]}, "questions": [question]}
    file = studies.parse_study(told, where="the bench", folder=folder)
    proxies = [write_proxy(folder / PROXIES, seed) for seed in range(count)]
    tasks = tuple(
        StudyTask(studies.task_id("quality", f"film{n:03}", METHODS), "quality", f"film{n:03}", f"film{n:03}", METHODS, one.name)
        for n, one in enumerate(proxies)
    )
    studies.save(Study(studies.study_id(file, tasks), file, tasks, {one.name: one for one in proxies}), folder)


@contextmanager
def serving(folder: Path) -> Iterator[Served]:
    server = Served(folder, free_port())
    server.start()
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{server.port}/login", timeout=120).close()
        yield server
    finally:
        server.stop()


def sat_down(browser: Any, address: str, secret: str) -> Tab:
    tab = Tab(browser, address, None, secret, {})
    tab.wait(ROOM, seconds=120)
    return tab


def waits(tab: Tab, answers: int) -> list[float]:
    """Milliseconds from the key to the next task's first picture, the next one loaded before the key is pressed."""
    for number in range(answers):
        tab.wait(f"{ROOM} && {NEXT_IS_LOADED}", seconds=60)
        lease = tab.ask("page.card.lease_id")
        tab.page.wait_for_timeout(300)
        tab.press(str(number % 3 + 1))
        tab.wait(f"page.card && page.card.lease_id !== {lease!r} && {WAITS}.length > {number}", seconds=60)
    return [float(one) for one in tab.page.evaluate(f"{WAITS}.map((one) => one.duration)")]


def mismatches(tab: Tab, seconds: float) -> tuple[int, int, int]:
    """Repaints looked at, those where players differed, and how many frames were seen."""
    tab.page.evaluate(READ)
    with busy_cores():
        seen = bars(tab, seconds=seconds, span=0.5)
    assert all(len(numbers) == len(ROLES) for numbers in seen)
    return len(seen), sum(len(set(numbers)) > 1 for numbers in seen), len({number for numbers in seen for number in numbers})


def wrong_steps(tab: Tab, steps: int) -> int:
    tab.page.evaluate("window.raterPage.page.stage.clock.pause(); window.raterPage.page.stage.clock.seek(20)")
    tab.wait("clock.frame === 20 && clock.wanted === null && !clock.chasing", seconds=30)
    wrong = 0
    for number in range(21, 21 + steps):
        tab.press("ArrowRight")
        tab.wait("clock.wanted === null && !clock.chasing", seconds=30)
        wrong += set(tab.page.evaluate("readBars(0.5)")) != {number}
    return wrong


def import_seconds() -> float:
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-c", DEMO_IMPORTS], check=True)
    return time.perf_counter() - begun


def demo_seconds(browser: Any, folder: Path) -> tuple[float, float]:
    """From starting the process to the links, and to the first task in a browser."""
    command = [sys.executable, "-m", "inpaintbench", "annotate", "demo", "--out", str(folder), "--port", "0"]
    begun = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=wide()) as process:
        assert process.stdout is not None
        links = []
        for line in process.stdout:
            links += LINK.findall(line)
            if len(links) == 3:
                break
        if not links:
            raise AssertionError(f"{' '.join(command)} ended with {process.wait()}")
        ready = time.perf_counter() - begun
        page = browser.new_page()
        page.goto(links[0])
        page.get_by_text("Begin").wait_for(timeout=60_000)
        usable = time.perf_counter() - begun
        page.close()
        process.send_signal(signal.SIGINT)
    return ready, usable


def wide() -> dict[str, str]:
    """The environment, with lines long enough for a link."""
    return {**os.environ, "COLUMNS": "300"}


def rows(browser: Any, scratch: Path, *, quick: bool) -> Iterator[tuple[str, str, str]]:
    count, answers, seconds = (16, 12, 3.0) if quick else (42, 36, 10.0)
    write_study(scratch / "study", count)
    secrets = invite_many(scratch / "study", 2)
    with serving(scratch / "study") as server:
        address = f"http://127.0.0.1:{server.port}"
        found = waits(sat_down(browser, address, secrets[0]), answers)
        median, p95 = np.quantile(found, (0.5, 0.95))
        yield f"key to the next task's first picture, warm, {len(found)} answers", "median < 100 ms", (
            f"median {median:.0f} ms, 95 % {p95:.0f} ms, largest {max(found):.0f} ms"
        )  # fmt: skip
        tab = sat_down(browser, address, secrets[1])
        looked, differing, frames = mismatches(tab, seconds)
        yield (
            f"players that differ, {seconds:.0f} s with every core busy",
            "0",
            f"{differing} of {looked} repaints ({frames} frames)",
        )
        yield "single steps that miss, of 30", "0", str(wrong_steps(tab, 30))
    imports = sorted(import_seconds() for _ in range(3))[1]
    ready, usable = demo_seconds(browser, scratch / "demo")
    again, _ = demo_seconds(browser, scratch / "demo")
    yield "`annotate demo`: imports alone", "reported", f"{imports:.1f} s"
    yield "its links, study made on the way", "within 5 s after imports", f"{ready:.1f} s, {ready - imports:.1f} s after imports"
    yield "its page in a browser", "reported", f"{usable:.1f} s"
    yield "its links, study there already", "within 5 s after imports", f"{again:.1f} s, {again - imports:.1f} s after imports"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="16 films, 12 answers and 3 s instead of 42, 36 and 10 s")
    quick = parser.parse_args().quick
    print("## The rater's page\n")
    print(
        f"Pairs of four players of {WIDTH}x{HEIGHT}, {FRAMES} frames, in headless Chromium before `annotate serve` on the same "
        "machine. A wait counts from the key's own time stamp to the repaint after the one that holds the picture. Frame "
        "numbers are read as bars from the canvases.\n"
    )
    print("| what | asked | measured |\n| --- | --- | --- |")
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as engine:
        browser = engine.chromium.launch(
            executable_path=shutil.which("chromium-headless-shell") or shutil.which("chromium"), args=["--no-sandbox"]
        )
        for row in rows(browser, Path(scratch), quick=quick):
            print(f"| {' | '.join(row)} |", flush=True)
        browser.close()


if __name__ == "__main__":
    main()
