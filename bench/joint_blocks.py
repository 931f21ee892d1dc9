"""Speed and truth of the joint blocks: images a second beside a straightforward loop, and every rule checked."""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"

import argparse
import time
from collections.abc import Callable, Iterator

import cv2
import numpy as np

from inpaintbench.types import Joint
from inpaintbench.view import ItemView
from inpaintbench.wings.chalearn.joint_blocks import JointBlocks

HEIGHT, WIDTH, MARGIN = 700, 500, 100
JOINTS = 16
REPEATS = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="500 images instead of 5000")
    images = 500 if parser.parse_args().quick else 5000
    cv2.setNumThreads(1)
    views = [_view(seed) for seed in range(50)]
    rate, facts = _rate(_leaf(views), images)
    naive_rate, _ = _rate(_loop(views), images)
    print("## Joint blocks\n")
    print(
        f"{images} images of {WIDTH}x{HEIGHT} with {JOINTS} joints, CPU time of one thread, best of {REPEATS}. The "
        "straightforward loop draws size, joint and offset with one numpy call each, tries again until a block fits, and looks "
        "for overlaps in the mask.\n"
    )
    print("| what | asked | measured |\n|---|---|---|")
    for row in (("images a second", "at least 5,000", f"{rate:,.0f}"), *_ratio(rate, naive_rate), *_rules(facts)):
        print("| " + " | ".join(row) + " |", flush=True)


def _view(seed: int) -> ItemView:
    """One person, more or less upright in the middle of the image."""
    rng = np.random.default_rng(seed)
    points = rng.normal([WIDTH / 2, HEIGHT / 2], [WIDTH / 9, HEIGHT / 5], (JOINTS, 2))
    joints = tuple(Joint(0, "wrist", None, float(x), float(y)) for x, y in np.clip(points, 1, [WIDTH - 2, HEIGHT - 2]))
    return ItemView(item_id=f"{seed}", frames=1, height=HEIGHT, width=WIDTH, fps=1.0, parts={"joints": lambda: joints})


def _leaf(views: list[ItemView]) -> Callable[[int, np.random.Generator], dict[str, object]]:
    leaf = JointBlocks(margin=MARGIN)
    return lambda index, rng: dict(leaf.generate(views[index % len(views)], rng).facts)


def _loop(views: list[ItemView]) -> Callable[[int, np.random.Generator], dict[str, object]]:
    return lambda index, rng: _straightforward(views[index % len(views)], rng)


def _straightforward(view: ItemView, rng: np.random.Generator, *, tries: int = 48) -> dict[str, object]:
    """The same rules as one would write them down."""
    mask = np.zeros((HEIGHT, WIDTH), np.bool_)
    side, wanted, blocks = min(HEIGHT, WIDTH), rng.integers(1, 11), []
    joints = np.array([(joint.y, joint.x) for joint in view.joints])
    for _ in range(wanted):
        for _ in range(tries):
            size = rng.integers(side // 20 + 1, -(-side // 3))
            row, column = np.rint(joints[rng.integers(len(joints))] + rng.uniform(-size, size, 2) - (size - 1) / 2).astype(int)
            inside = MARGIN <= row <= HEIGHT - MARGIN - size and MARGIN <= column <= WIDTH - MARGIN - size
            if inside and not mask[row : row + size, column : column + size].any() and mask.sum() + size**2 <= 0.7 * mask.size:
                mask[row : row + size, column : column + size] = True
                blocks.append([int(row), int(column), int(size)])
                break
    return {"blocks": len(blocks), "blocks_wanted": int(wanted), "block_triples": blocks, "area_fraction": float(mask.mean())}


def _rate(draw: Callable[[int, np.random.Generator], dict[str, object]], images: int) -> tuple[float, list[dict[str, object]]]:
    """Images a second, and the facts of the last round."""
    best, facts = float("inf"), []
    for _ in range(REPEATS):
        rng = np.random.default_rng(0)
        start = time.process_time()
        facts = [draw(index, rng) for index in range(images)]
        best = min(best, time.process_time() - start)
    return images / best, facts


def _ratio(rate: float, naive_rate: float) -> Iterator[tuple[str, str, str]]:
    yield "times as fast as the straightforward loop", "-", f"{rate / naive_rate:.1f}x (the loop: {naive_rate:,.0f} a second)"


def _rules(facts: list[dict[str, object]]) -> Iterator[tuple[str, str, str]]:
    triples = [one["block_triples"] for one in facts]
    broken = sum(_broken(blocks) for blocks in triples)  # type: ignore[arg-type]
    yield "images that break a rule (size, margin, overlap, number, area)", "0", f"{broken} of {len(facts)}"
    blocks, wanted = (np.mean([one[name] for one in facts]) for name in ("blocks", "blocks_wanted"))  # type: ignore[misc]
    yield "blocks drawn, of those wanted", "-", f"{blocks:.2f} of {wanted:.2f}"
    yield "mean area", "at most 70 %", f"{np.mean([one['area_fraction'] for one in facts]):.1%}"  # type: ignore[misc]


def _broken(blocks: list[list[int]]) -> bool:
    pile, side = np.zeros((HEIGHT, WIDTH), np.uint8), min(HEIGHT, WIDTH)
    for row, column, size in blocks:
        pile[row : row + size, column : column + size] += 1
        if not (3 * size < side < 20 * size):
            return True
    border = pile.copy()
    border[MARGIN:-MARGIN, MARGIN:-MARGIN] = 0
    return not 1 <= len(blocks) <= 10 or bool(border.any()) or pile.max() > 1 or pile.mean() > 0.7


if __name__ == "__main__":
    main()
