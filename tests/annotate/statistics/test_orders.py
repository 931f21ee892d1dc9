"""Orders of raters: evidence against integrals worked out otherwise, and panels with planted orders and coins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations, permutations

import numpy as np
import pytest
from scipy.integrate import quad
from voted_studies import OF_PREDICTIONS, Ballot, study_of

from inpaintbench.annotate.records import Standing, Vote
from inpaintbench.annotate.report.groups import groups_panel
from inpaintbench.annotate.report.material import material_of
from inpaintbench.annotate.statistics import orders
from inpaintbench.annotate.statistics.orders import COIN, OWN, Choices, counted, held_by

METHODS = ("deep", "flow", "patch", "vary")
TASKS = [("pairwise", f"item{number:02}", pair) for number in range(30) for pair in combinations(METHODS, 2)]
STEADY, SHARP = np.array([1.5, 0.5, -0.5, -1.5]), np.array([-1.5, 0.5, 1.5, -0.5])


def panel(kinds: Mapping[str, object], *, votes: int = 40, repeats: int = 4, seed: int = 0) -> list[Vote]:
    """Rater -> strengths of the methods, ``coin`` or ``left``; each compares some pairs of thirty items."""
    rng = np.random.default_rng(seed)
    ballot = Ballot(study_of([{"leaf": "pairwise"}], TASKS, subjects=OF_PREDICTIONS))
    for rater, kind in kinds.items():
        chosen = rng.permutation(len(TASKS))[:votes].tolist()
        for turn, number in enumerate(chosen + chosen[:repeats]):
            _, item, pair = TASKS[number]
            shown = pair if rng.random() < 0.5 else pair[::-1]
            left, right = (METHODS.index(name) for name in shown)
            share = {"coin": 0.5, "left": 0.95}.get(str(kind)) if isinstance(kind, str) else None
            if share is None:
                share = 1 / (1 + np.exp(kind[right] - kind[left]))  # type: ignore[index]
            given = {"better": "tie" if rng.random() < 0.1 else f"place-{int(rng.random() >= share)}"}
            ballot.cast(rater, "pairwise", item, given, shown=shown, purpose="vote" if turn < votes else "repeat")
    return ballot.votes


def test_kinds_of_comparison_are_numbered_by_who_stands_left() -> None:
    pairs = list(permutations(range(3), 2))
    columns = (np.array(column, np.int64) for column in ([0] * 6, *zip(*pairs, strict=True), [1] * 6, range(6), [-1] * 6))
    counts = counted(Choices(*columns), methods=3, raters=1)
    assert [tuple(kind) for kind in np.stack(counts.kinds, axis=1).tolist()] == pairs
    assert counts.shown.tolist() == counts.lefts.tolist() == [[1.0] * 6]


def test_evidence_is_the_likelihood_without_what_nobody_knows() -> None:
    """One rater, two methods: seven of nine for the first, of which it stood left in all; and one repeat that is the same."""
    left = np.array([1] * 7 + [0] * 2 + [1], np.int64)
    zeros, same = np.zeros(10, np.int64), np.array([-1] * 9 + [1], np.int64)
    counts = counted(Choices(zeros, zeros, zeros + 1, left, zeros, same), methods=2, raters=1)

    def density(share: float, prior: float) -> float:
        return float(share**7 * (1 - share) ** 2 * share * (share * (1 - share)) ** (prior - 1))

    def coin(prior: float) -> float:
        return quad(density, 0, 1, args=(prior,))[0] / quad(lambda share: (share * (1 - share)) ** (prior - 1), 0, 1)[0]

    assert float(counts.coin[0]) == pytest.approx(np.log((coin(orders.FAIR) + coin(orders.ANY)) / 2))
    strengths, bias = np.array([[1.0, 0.0], [-0.5, 0.5]]), np.array([0.2, 0.0])
    p = 1 / (1 + np.exp(-(strengths[:, 0] - strengths[:, 1] + bias)))
    rhos, weights = (0.3, 0.6, 0.8), (0.25, 0.5, 0.25)
    each = [w * np.mean(p**7 * (1 - p) ** 2 * (rho + (1 - rho) * p)) for rho, w in zip(rhos, weights, strict=True)]
    assert float(counts.evidence(strengths, bias, 0.6)[0]) == pytest.approx(np.log(sum(each)))


def test_one_order_is_one_group_and_coins_are_told_from_it() -> None:
    kinds = {**{f"h{number:02}": STEADY for number in range(16)}, "coin": "coin", "left": "left"}
    held = held_by(panel(kinds, votes=80), "pairwise")
    assert held is not None
    assert tuple(held.methods) == METHODS
    assert len(held.orders.strengths) == 1
    assert held.orders.strengths[0].argsort().tolist() == STEADY.argsort().tolist()
    coins = dict(zip(held.raters, np.exp(np.minimum(held.orders.coin_against_order(), 20)), strict=True))
    assert min(coins["coin"], coins["left"]) > 5
    assert max(coins[f"h{number:02}"] for number in range(16)) < 1


def test_a_minority_is_a_group_of_its_own_and_a_single_one_holds_an_order() -> None:
    kinds: dict[str, object] = {f"h{number:02}": STEADY for number in range(14)}
    kinds |= {f"s{number}": SHARP for number in range(6)}
    kinds |= {"alone": np.array([-0.5, -1.5, 0.5, 1.5])}
    held = held_by(panel(kinds, votes=60), "pairwise")
    assert held is not None
    assert len(held.orders.strengths) == 2
    found = {tuple(of.argsort().tolist()) for of in held.orders.strengths}
    assert found == {tuple(STEADY.argsort().tolist()), tuple(SHARP.argsort().tolist())}
    evidence = dict(zip(held.raters, held.orders.evidence, strict=True))
    assert evidence["alone"].argmax() == OWN
    assert all(evidence[rater][COIN] < evidence[rater].max() - 2 for rater in held.raters)


def test_repeats_tell_a_coin_from_an_order() -> None:
    """The same first answers: who repeats them all is believed, who does not is a coin."""
    base = panel({f"h{number:02}": STEADY for number in range(8)} | {"who": "coin"}, votes=40, repeats=20)
    before = {vote.task_id: vote.choice for vote in base if vote.rater_id == "who" and vote.purpose == "vote"}

    def evidence(*, alike: bool) -> float:
        votes = []
        for vote in base:
            if vote.rater_id == "who" and vote.purpose == "repeat" and before[vote.task_id] in vote.candidates:
                (other,) = (name for name in vote.candidates if name != before[vote.task_id])
                vote = replace(vote, choice=before[vote.task_id] if alike else other)
            votes.append(vote)
        held = held_by(votes, "pairwise")
        assert held is not None
        return float(held.orders.coin_against_order()[held.raters.index("who")])

    assert evidence(alike=False) > evidence(alike=True) + 3


def test_a_repeat_counts_where_its_first_answer_stands_and_was_no_tie() -> None:
    votes = panel({"one": STEADY, "two": STEADY}, votes=20, repeats=20)
    held = held_by(votes, "pairwise")
    assert held is not None
    first = {(vote.rater_id, vote.task_id) for vote in votes if vote.purpose == "vote" and vote.choice in METHODS}
    again = [vote for vote in votes if vote.purpose == "repeat" and vote.choice in METHODS]
    assert held.counts.shown.sum() == len(first)
    assert len(held.counts.again[0]) == sum((vote.rater_id, vote.task_id) in first for vote in again)
    assert held_by([vote for vote in votes if vote.choice not in METHODS], "pairwise") is None


@pytest.mark.parametrize("raters", [1, 2, 3])
@pytest.mark.parametrize("methods", [2, 3])
def test_few_raters_methods_and_sources_have_orders_too(raters: int, methods: int) -> None:
    votes = panel({f"r{number}": STEADY for number in range(raters)}, votes=60, repeats=0)
    for subject in ("item00", None):
        few = [
            vote for vote in votes if set(vote.candidates) <= set(METHODS[:methods]) and vote.subject_id >= (subject or "item29")
        ]
        held = held_by(few, "pairwise")
        assert held is None or np.isfinite(held.orders.evidence).all()


def test_the_report_tells_what_groups_prefer_and_that_the_ranking_hangs_on_them() -> None:
    kinds: dict[str, object] = {
        **{f"h{number:02}": STEADY for number in range(9)},
        **{f"s{number}": SHARP for number in range(5)},
    }
    votes = panel(kinds, votes=70)
    study = study_of([{"leaf": "pairwise"}], TASKS, subjects=OF_PREDICTIONS)
    sharp = {(name, f"item{number:02}"): float(of) for name, of in zip(METHODS, SHARP, strict=True) for number in range(30)}
    material = material_of(study, Standing(votes, votes, [], [], []), [], overview={}, measured={"sharpness (hole)": sharp})
    shown = groups_panel(material, "pairwise")
    assert shown is not None
    said, pairs, strengths, metrics, note = shown.parts
    assert "The ranking depends on whom one asks" in str(said)
    assert ("deep", "patch") in {(str(row.cells[0].text), str(row.cells[1].text)) for row in pairs.rows}  # type: ignore[attr-defined]
    places = [tuple(cell.note for cell in row.cells[1:]) for row in strengths.rows]  # type: ignore[attr-defined]
    assert (places[0], [row.cells[0].text for row in strengths.rows]) == (("place 1", "place 4"), list(METHODS))  # type: ignore[attr-defined]
    of_first, of_second = (cell.value for cell in metrics.rows[0].cells[1:])  # type: ignore[attr-defined]
    assert of_first < 0.5 < 0.7 < of_second
    assert "9 raters are in Group 1, 5 raters are in Group 2" in str(note)
    assert groups_panel(replace(material, votes=votes[:5]), "pairwise") is None
