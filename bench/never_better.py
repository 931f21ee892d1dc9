"""Does making pixels worse ever make a score better? Counted over many random cases of every ranked metric with a truth.

python bench/never_better.py [--quick]
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"
sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "helpers"))

import cv2
import every_metric
import numpy as np
import pytest
from never_better import EXEMPT, KINDS, Case, check, claims, pair_of
from tiny_networks import add_tiny_clip, shorten_dino

ITEMS, FRAMES, HEIGHT, WIDTH = 6, 3, 30, 36
OF_NETWORKS = {"items": 2, "frames": 11, "height": 40, "width": 48}
"""Windows of I3D take ten frames."""
ROUNDS, ROUNDS_OF_NETWORKS = 300, 8


def drawn(rng: np.random.Generator, frames: int) -> Case:
    first = tuple(bool(one) for one in rng.random(frames) < rng.random())
    return Case(int(rng.integers(1 << 30)), str(rng.choice(KINDS)), int(rng.integers(1, 61)), first, bool(rng.integers(2)))


def violations(name: str, claim: str, *, quick: bool) -> tuple[int, int, list[str]]:
    """Rounds, comparisons that held, and what was said of each round in which one did not."""
    networks = every_metric.runs_network(name)
    size = OF_NETWORKS if networks else {"items": ITEMS, "frames": FRAMES, "height": HEIGHT, "width": WIDTH}
    rounds = (2 if networks else 20) if quick else (ROUNDS_OF_NETWORKS if networks else ROUNDS)
    rng = np.random.default_rng([ord(letter) for letter in name + claim])
    held, said = 0, []
    for _ in range(rounds):
        cases = [drawn(rng, size["frames"]) for _ in range(size["items"])]
        try:
            held += check(name, claim, [pair_of(claim, case, height=size["height"], width=size["width"]) for case in cases])
        except AssertionError as error:
            said.append(str(error).splitlines()[0])
    return rounds, held, said


def main() -> int:
    with pytest.MonkeyPatch.context() as patch:  # the networks of the tests, which take no seconds
        add_tiny_clip(patch)
        shorten_dino(patch)
        return _report()


def _report() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few of the cases")
    quick = parser.parse_args().quick
    cv2.setNumThreads(1)
    print("## Worse pixels, better score?\n")
    print(
        f"Rounds of {ITEMS} items with a prediction and a worse one each ({OF_NETWORKS['items']} items for networks, with\n"
        "made-up parameters): noise, blur, shift, another level or a block, on all frames or some. Every item is compared in\n"
        "every region, and all together by the mean, the rank and the paired test. What the claims mean is in\n"
        "[never_better.py](../tests/helpers/never_better.py).\n"
    )
    print("| metric | claim | rounds | comparisons that held | rounds in which the worse was better |\n|---|---|---|---|---|")
    total, failed = 0, []
    for name, stated in claims().items():
        for claim in stated:
            rounds, held, said = violations(name, claim, quick=quick)
            total += held
            failed += said
            print(f"| `{name}` | {claim} | {rounds} | {held:,} | {len(said)} |", flush=True)
    print(f"\n{total:,} comparisons held, {len(failed)} rounds did not.")
    for words in failed[:10]:
        print(f"\n* {words}")
    print("\nNot tried, and why:\n")
    for name, reason in EXEMPT.items():
        print(f"* `{name}`: {reason}")
    return bool(failed)


if __name__ == "__main__":
    raise SystemExit(main())
