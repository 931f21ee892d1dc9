"""Whether intervals of matching rates hold the planted truth, in simulated studies of EditBoard's size.

python bench/alignment.py [--quick]
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np

from inpaintbench.wings.align.bootstrap import Bootstrap, draws
from inpaintbench.wings.align.win_ratios import differences, matched, matches, pair_shares

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.wings.align.planted_answers import GROUPS, PAIRS, RATERS, planted_scores, planted_votes, shares

KINDS = ("the same everywhere", "differs by group", "differs much by group", "differs by rater")


def rows(studies: int, replicates: int) -> Iterator[tuple[str, ...]]:
    """Coverage and width of our intervals, and of plain percentiles over groups and over answers."""
    bootstrap = Bootstrap(replicates=replicates)
    for kind in KINDS:
        rng = np.random.default_rng(0)
        held: dict[str, list[bool]] = {"ours": [], "groups": [], "answers": []}
        widths = []
        for _ in range(studies):
            scored, prefers = planted_scores(rng)
            chance, truth = shares(rng, kind)
            votes = planted_votes(rng, chance, metric_prefers=prefers)
            found = matched(votes, scored, "m", tie_eps=0.0, bootstrap=bootstrap).rate
            assert found.value is not None
            assert found.low is not None
            assert found.high is not None
            held["ours"].append(found.low <= truth <= found.high)
            widths.append(found.high - found.low)
            hits = matches(votes, differences(votes, scored.values["m"], higher_is_better=True), tie_eps=0.0)
            of_pair, _ = pair_shares(votes, hits)
            of_group = np.array(list(of_pair.values())).reshape(GROUPS, PAIRS).mean(axis=1)
            low, high = np.quantile(draws(GROUPS, replicates, 0) @ of_group / GROUPS, [0.025, 0.975])
            held["groups"].append(bool(low <= truth <= high))
            n = len(votes.pair)
            low, high = np.quantile(rng.binomial(n, found.value, replicates) / n, [0.025, 0.975])
            held["answers"].append(bool(low <= truth <= high))
        yield (
            kind, f"{truth:.0%}", "95 %", f"{np.mean(held['ours']):.1%}", f"{np.mean(widths) * 100:.1f} points",
            f"{np.mean(held['groups']):.1%}", f"{np.mean(held['answers']):.1%}",
        )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer studies")
    quick = parser.parse_args().quick
    studies, replicates = (40, 400) if quick else (1000, 1000)
    print("## Metrics and people: intervals of matching rates\n")
    print(
        f"{studies} simulated studies a row, each with {GROUPS} groups of {PAIRS} pairs and {RATERS} raters, "
        f"{GROUPS * PAIRS * RATERS} answers. Raters choose what the metric prefers with a known chance, which is the same "
        "everywhere, or differs by group (standard deviation 0.14 around 0.75, or 0.09 around 0.9) or by rater "
        "(0.12 around 0.8). The last two columns are what plain bootstrap percentiles would give.\n"
    )
    heads = (
        "the chance",
        "true rate",
        "asked",
        "intervals that hold it",
        "mean width",
        "groups resampled",
        "answers resampled",
    )
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for row in rows(studies, replicates):
        print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
