"""Speed of subtitles beside a loop that draws the text of every frame anew and blends in floating point."""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import cv2
import numpy as np

from inpaintbench.masks.generators.subtitles import Subtitles
from inpaintbench.masks.overlays.blend import over
from inpaintbench.masks.overlays.layout import place
from inpaintbench.masks.overlays.raster import draw
from inpaintbench.masks.overlays.styles import draw_style
from inpaintbench.types import Frames, TextEvent, item_rng
from inpaintbench.view import ItemView

FRAMES, SIDE, FPS = 125, 256, 25.0
EVENTS = (
    TextEvent(0.0, 1.7, "alice was beginning to get\nvery tired of sitting"),
    TextEvent(1.9, 3.4, "by her sister on the bank"),
    TextEvent(3.1, 5.0, "and of having nothing to do\nonce or twice"),
)
VIEW = ItemView(item_id="bench", frames=FRAMES, height=SIDE, width=SIDE, fps=FPS, parts={"timed_text": lambda: EVENTS})
FAMILY = "bundled"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="2 styles a difficulty instead of 8")
    styles = 2 if parser.parse_args().quick else 8
    cv2.setNumThreads(1)
    print("## Subtitles\n")
    print(
        f"{FRAMES} frames of {SIDE}x{SIDE} with three events, two of them overlapping; drawing and blending, one thread, "
        f"median over {styles} styles, in brackets the slowest. The loop draws the text of every frame anew and blends in 64-bit "
        "floating point; both draw the same pictures.\n"
    )
    print("| difficulty | asked | frames a CPU second | times the loop | largest difference | hole, mean | hole, peak |")
    print("|---|---|---|---|---|---|---|")
    for difficulty in ("easy", "medium", "hard", "any"):
        print("| " + " | ".join(row(difficulty, styles)) + " |", flush=True)


def row(difficulty: str, styles: int) -> Iterator[str]:
    truth = np.random.default_rng(0).integers(0, 256, (FRAMES, SIDE, SIDE, 3), dtype=np.uint8)
    rates, ratios, differences, means, peaks = [], [], [], [], []
    for number in range(styles):
        ours_seconds, ours = timed(lambda n=number: fast(difficulty, n, truth), repeats=3)
        loop_seconds, theirs = timed(lambda n=number: straightforward(difficulty, n, truth), repeats=1)
        rates.append(FRAMES / ours_seconds)
        ratios.append(loop_seconds / ours_seconds)
        differences.append(int(np.abs(ours.astype(int) - theirs).max()))
        facts = leaf(difficulty).generate(VIEW, rng(number)).facts
        means.append(facts["overlay_fraction"])
        peaks.append(facts["overlay_fraction_peak"])
    yield from (difficulty, "at least 250", f"{np.median(rates):.0f} ({min(rates):.0f})")
    yield from (f"{np.median(ratios):.1f} ({min(ratios):.1f})", f"{max(differences)} of 255")
    yield from (f"{np.mean(means):.1%}", f"{max(peaks):.1%}")


def timed(work: Callable[[], Frames], *, repeats: int) -> tuple[float, Frames]:
    """CPU seconds, the best of ``repeats``, and the result."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        result = work()
        times.append(time.process_time() - start)
    return min(times), result


def leaf(difficulty: str) -> Subtitles:
    # Lines are fixed, so that both sides draw the same text.
    return Subtitles(difficulty=difficulty, families=[FAMILY], style={"lines_most": 2})  # type: ignore[arg-type]


def rng(number: int) -> np.random.Generator:
    return item_rng(0, "bench", str(number))


def fast(difficulty: str, number: int, truth: Frames) -> Frames:
    drawn = leaf(difficulty).generate(VIEW, rng(number))
    assert drawn.alpha is not None
    assert drawn.colour is not None
    return over(truth, drawn.alpha, drawn.colour)


def straightforward(difficulty: str, number: int, truth: Frames) -> Frames:
    style = replace(draw_style(rng(number), difficulty, families=[FAMILY]), lines_most=2)  # type: ignore[arg-type]
    placed = place(EVENTS, style, frames=FRAMES, height=SIDE, width=SIDE, fps=FPS)
    painted = []
    for frame, below in enumerate(truth):
        shown = [one for one in placed if one.block.first_frame <= frame < one.block.end_frame]
        picture = draw(shown, height=SIDE, width=SIDE)
        share = picture.alpha[..., None] / 255
        painted.append(np.rint((1 - share) * below + share * picture.colour).astype(np.uint8))
    return np.stack(painted)


if __name__ == "__main__":
    main()
