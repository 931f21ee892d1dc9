"""Whether intervals of rankings, the planner and the stop rule keep their promises in simulated studies.

python bench/annotate_statistics.py [--quick]
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np

from inpaintbench.annotate.desk.pairs import expected_information, is_stable
from inpaintbench.annotate.statistics.planning import plan
from inpaintbench.annotate.statistics.ranking import Comparison, Ranking, rank

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "helpers"))
from planted_studies import OUTCOMES, Planted, drawn, outcome_shares, true_strengths

FIVE = (0.9, 0.4, 0.1, -0.4, -1.0)
SPACED = (1.4, 0.7, 0.0, -0.7, -1.4)
CHECK_EVERY, FEWEST = 25, 50
LONGEST = 2500
LOG_NU = -1.0


def ranked(planted: Planted, seed: int) -> Ranking:
    return rank(drawn(planted, seed), seed=seed, replicates=200)


def coverage_rows(studies: int) -> Iterator[tuple[str, ...]]:
    """Coverage of the intervals of five strengths, planted order recovered, coverage of rank intervals."""
    for ties in (0.03, 0.1, 0.2, 0.4):
        for sources, votes in ((10, 900), (20, 600), (50, 1000)):
            planted = Planted(FIVE, ties, sources, votes=votes)
            truth = dict(zip(planted.names, true_strengths(planted), strict=True))
            held, ranks, right = [], [], 0
            for seed in range(studies):
                found = ranked(planted, seed)
                held += [one.low <= truth[one.name] <= one.high for one in found.methods]
                ranks += [one.rank_low <= planted.names.index(one.name) + 1 <= one.rank_high for one in found.methods]
                right += [one.name for one in found.methods] == planted.names
            share = np.mean(held)
            asked = "93-97 %" if sources >= 20 else "reported"
            yield (
                f"{ties:.0%}",
                str(sources),
                str(votes),
                asked,
                f"{share:.1%}",
                f"{np.mean(ranks):.1%}",
                f"{right} of {studies}",
            )


def planner_rows(studies: int) -> Iterator[tuple[str, ...]]:
    for methods, ties, sources, smallest in ((3, 0.2, 10, 0.8), (3, 0.03, 20, 0.6), (5, 0.1, 20, 0.7), (5, 0.4, 50, 0.6)):
        started = time.process_time()
        planned = plan(methods=methods, ties=ties, raters=30, sources=sources, smallest_difference=smallest, seed=1)
        seconds = time.process_time() - started
        if planned.votes is None:
            continue
        strengths = tuple(float(-smallest * number) for number in range(methods))
        planted = Planted(strengths, ties, sources, votes=planned.votes, bias=0.0)
        enough = sum(settled(ranked(planted, seed), planted) for seed in range(studies))
        yield (
            f"{methods} methods {smallest} apart, {ties:.0%} ties, {sources} sources",
            str(planned.votes),
            f"{planned.power:.0%}",
            f"{enough} of {studies} ({enough / studies:.0%})",
            f"{seconds:.1f}",
        )


def settled(found: Ranking, planted: Planted) -> bool:
    return found.stable and [one.name for one in found.methods] == planted.names


def stop_rows(studies: int) -> Iterator[tuple[str, ...]]:
    for what, strengths in (("5 clearly different", SPACED), ("3, two of them equal", (0.6, 0.6, -0.6)), ("2 equal", (0.0, 0.0))):
        for sources in (10, 30):
            planted = Planted(strengths, 0.2, sources, votes=LONGEST, source_spread=0.2)
            ends = [end for seed in range(studies) if (end := stopped(planted, seed)) is not None]
            right = sum(is_right for _, is_right in ends)
            median = f"{np.median([votes for votes, _ in ends]):.0f}" if ends else "-"
            differ = len(set(strengths)) == len(strengths)
            verdict = f"{right} of {len(ends)}" if differ else "none can be"
            yield (f"{what}, {sources} sources", f"{len(ends)} of {studies}", verdict, median)


def stopped(planted: Planted, seed: int) -> tuple[int, bool] | None:
    """Votes at which the rule ends the study, and whether the order is right then; None when it never does."""
    votes = drawn(planted, seed)
    plain = [(one.first, one.second, one.outcome, one.cluster) for one in votes]
    for count in range(FEWEST, len(votes) + 1, CHECK_EVERY):
        if is_stable(plain[:count], level=0.95, fewest_votes=FEWEST):
            order = [one.name for one in rank(votes[:count], seed=0, replicates=100, rater_effects=False).methods]
            return count, order == planted.names and len(set(planted.strengths)) == len(order)
    return None


def information_rows(studies: int) -> Iterator[tuple[str, ...]]:
    for strengths in ((2.0, 1.6, 0.2, -1.8, -2.0), (0.8, 0.4, 0.0, -0.4, -0.8)):
        for votes in (100, 200, 400):
            shares = [
                np.mean([chosen_right(strengths, seed, votes, informed) for seed in range(studies)]) for informed in (True, False)
            ]
            yield (", ".join(f"{one:g}" for one in strengths), str(votes), f"{shares[0]:.0%}", f"{shares[1]:.0%}")


def chosen_right(strengths: tuple[float, ...], seed: int, votes: int, informed: bool) -> bool:
    """Whether the order is right when every next pair is the most informative one, or the pairs take turns."""
    planted = Planted(strengths, 0.2, 20)
    rng = np.random.default_rng(seed)
    keys = [(planted.names[a], planted.names[b]) for a, b in planted.pairs]
    counts = {key: {"a": 0, "b": 0, "tie": 0} for key in keys}
    found: list[Comparison] = []
    turns = rng.permutation(len(keys))
    for number in range(votes):
        if informed:
            gains = expected_information(counts, planted.names)
            one, other = max(keys, key=gains.__getitem__)
        else:
            one, other = keys[turns[number % len(keys)]]
        swapped = bool(rng.integers(2))
        lead = strengths[planted.names.index(one)] - strengths[planted.names.index(other)]
        fate = int(np.searchsorted(np.cumsum(outcome_shares(lead, LOG_NU))[:2], rng.random()))
        counts[one, other][("a", "b", "tie")[fate]] += 1
        outcome = OUTCOMES[(1, 0, 2)[fate] if swapped else fate]
        shown = (other, one) if swapped else (one, other)
        found.append(Comparison(*shown, outcome, "r", f"s{number % 20}"))
    ranking = rank(found, seed=0, replicates=10, rater_effects=False)
    return [one.name for one in ranking.methods] == planted.names


def table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> None:
    print(f"| {' | '.join(heads)} |\n|{' --- |' * len(heads)}")
    for row in rows:
        print(f"| {' | '.join(row)} |", flush=True)
    print(flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="20 studies a row instead of 300, 150, 60 and 60")
    quick = parser.parse_args().quick
    coverage, planner, stop, pairs = (20, 20, 10, 10) if quick else (300, 150, 60, 60)
    print("## Rankings: intervals, planner, stop rule\n")
    print(
        "Simulated studies with 30 raters, each with a bias to one side (0.1 +- 0.3) and a readiness to call ties of their own "
        "(log nu +- 0.5), on sources that shift each method's strength (+- 0.3).\n"
    )
    print(f"Intervals of 5 strengths at 95 %, {coverage} studies a row (asked: 93-97 %):\n")
    heads = (
        "ties",
        "sources",
        "votes",
        "asked",
        "intervals that hold the truth",
        "rank intervals that do",
        "planted order found",
    )
    table(heads, coverage_rows(coverage))
    asked = "votes for 90 % of studies in which every method gets a rank of its own"
    print(f"Planner: {asked}, {planner} other studies each (asked: 90 %):\n")
    table(("plan", "votes", "power it expects", "enough in", "CPU seconds"), planner_rows(planner))
    print(f"Stop rule at 95 %, looked at every {CHECK_EVERY} votes up to {LONGEST}, {stop} studies each (asked: 95 % right):\n")
    table(("methods", "stopped", "order right", "median votes"), stop_rows(stop))
    print(f"Next pair by expected information against pairs in turn, {pairs} studies each, share with the right order:\n")
    table(("strengths", "votes", "by information", "in turn"), information_rows(pairs))


if __name__ == "__main__":
    main()
