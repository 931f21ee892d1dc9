"""Does damage to a result ever gain a place? Counted over real films and prints, for every protocol.

python bench/damaged_places.py [--quick]
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from pathlib import Path
from unittest import mock

os.environ["OMP_NUM_THREADS"] = "1"
sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "helpers"))

import cv2
from damaged_places import DAMAGES, METHODS, PLACES, Field, films, prints, ranking_metrics

from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.results.tables import Results

# With four methods eight sources are the fewest that a test tells apart after its correction.
FILMS = 8


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two kinds of damage")
    kinds = tuple(DAMAGES)[:2] if parser.parse_args().quick else tuple(DAMAGES)
    cv2.setNumThreads(1)
    assets = Path(os.environ["INPAINTBENCH_TEST_ASSETS"])
    filmed, pictured = Field(films(assets / "videos", FILMS)), Field(prints(assets / "fingerprints"))
    print("## Damage never gains a place\n")
    print(
        f"{FILMS} films of the test assets, and prints of nine fingers; results of {', '.join(METHODS)} (the first is the\n"
        f"truth as JPEG of quality 90 gives it back), each damaged by {', '.join(kinds)},\n"
        f"in the {' and in the '.join(PLACES)}. A place is gained where the damaged result stands before the one that it was\n"
        "made of, is bold where that is not, or stands better in its stead. What is asked of which is in\n"
        "[damaged_places.py](../tests/helpers/damaged_places.py). Last, what would be gained if diagnostic metrics ranked like\n"
        "others.\n"
    )
    print("| protocol | metrics that rank | comparisons | places gained | without the gate |\n|---|---|---|---|---|")
    total, gained = 0, []
    for protocol in map(PROTOCOLS.get, PROTOCOLS):
        names = ranking_metrics(protocol)
        if not names:
            continue
        field = pictured if protocol.name.startswith("fingerprint/") else filmed
        count, found = field.gains(protocol, kinds=kinds)
        with mock.patch.object(Results, "gated", return_value=False):
            _, ungated = field.gains(protocol, kinds=kinds)
        would = Counter(gain.quantity.metric for gain in ungated)
        words = ", ".join(f"{name} {times}" for name, times in would.items()) or "0"
        total, gained = total + count, gained + found
        print(f"| `{protocol.name}` | {', '.join(names)} | {count:,} | {len(found)} | {words} |", flush=True)
    print(f"\n{total:,} comparisons, {len(gained)} places gained.")
    for gain in gained[:10]:
        print(f"\n* {gain}")
    return bool(gained)


if __name__ == "__main__":
    raise SystemExit(main())
