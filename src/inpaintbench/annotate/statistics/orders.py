"""Orders of methods that raters hold: evidence in choices for a coin, for an order of one's own, and for that of a group.

Whoever holds an order has log strengths ``s`` of the methods and a bias, and chooses the left of i and j with probability
``1 / (1 + exp(-(s_i - s_j + bias)))`` (Bradley and Terry 1952; ties say nothing of it under Davidson's model and are left out).
What a rater may be differs in the prior of ``s``:

* a coin looks at nothing: half of the coins are nearly fair, half have any leaning to a side;
* a group's order: ``s = a s_g + e`` with ``e`` and ``log a`` normal, so that half-hearted raters belong to it;
* an order of one's own: any direction with equal probability, as long as the groups' longest, ``a`` as above.

Evidence is the likelihood with all of that integrated out, over fixed random draws of the prior. Whoever holds an order sees the
same again when asked again: they repeat the answer with probability ``rho`` and else choose anew; a coin always chooses anew.
Groups are fitted by expectation-maximisation with coins and orders of one's own beside them, and cross-validation over sources
says how many there are. Of the spreads of ``a`` and ``e`` those are taken under which the panel's answers are most probable.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from inpaintbench.annotate.records import Vote
from inpaintbench.annotate.statistics.davidson import Design, Ints, Reals, fit
from inpaintbench.annotate.statistics.ranking import numbered
from inpaintbench.lazily import lazily

special = lazily("scipy.special")

# Standard deviations of the prior of the bias towards the left, log units.
SIDE = 0.5
# Parameters of the beta priors of a coin's share of the left, of equal weight.
FAIR, ANY = 30.0, 1.0
# Precision of the prior of a group's strengths: one log unit apart, as in ``desk.pairs``.
RIDGE = 1.0
# Least length of an order, log units: below it nobody could be told from a coin.
SHORTEST = 0.5
MOST_GROUPS = 3
# Raters that a panel needs for each group: a smaller one is nobody's but its members' own.
FEWEST_OF_GROUP = 3
# Parts of the sources for cross-validation, rounds of a fit at most, and gain of the objective at which it ends.
FOLDS, ROUNDS, TOLERANCE = 4, 12, 0.2
# Draws of the priors of a group and of an order of one's own, which has many more directions.
DRAWS, OWN_DRAWS = 256, 1024
# Raters that each share, and answers that the repetition, of the panel is taken to have been seen in beforehand.
PSEUDO_RATERS, PSEUDO_REPEATS = 1.0, 4.0
# Share of people with an order of their own among those who are simulated to see how near honest people come to a coin.
OF_THEIR_OWN = 0.25
COIN, OWN = range(2)


class Within(NamedTuple):
    """How far members differ from their group: standard deviations, log units."""

    sensitivity: float
    """Of ``log a``: how firmly they hold its order; 0.4 is half to double, mostly."""
    strengths: float
    """Of ``e``."""


# While groups are fitted; and those that a panel may have.
WIDE = Within(0.4, 0.3)
WITHINS = tuple(Within(sensitivity, strengths) for sensitivity in (0.1, 0.25, 0.5) for strengths in (0.05, 0.15, 0.3))


class Choices(NamedTuple):
    """Answers to comparisons without ties, ``int64[answers]`` each."""

    rater: Ints
    left: Ints
    """Method."""
    right: Ints
    chose_left: Ints
    cluster: Ints
    same: Ints
    """-1 for a first answer; of a repeat 1 where it is as the first, 0 where not."""


@dataclass(frozen=True, eq=False)
class Orders:
    """Orders of a panel."""

    strengths: Reals
    """``float64[groups, methods]``, logarithms around 0; the largest group first."""
    shares: Reals
    """``float64[2 + groups]`` of the raters: coins, orders of their own, groups."""
    evidence: Reals
    """``float64[raters, 2 + groups]``, logarithms."""
    repetition: float
    """``rho`` of the panel."""
    objective: float
    within: Within = WIDE

    @property
    def members(self) -> Reals:
        """``float64[raters, groups]``: probability that each rater belongs to each group."""
        joint = self.evidence + np.log(self.shares)
        return np.asarray(np.exp(joint - special.logsumexp(joint, axis=1, keepdims=True))[:, 2:])

    def coin_against_order(self, evidence: Reals | None = None) -> Reals:
        """``float64[raters]``: log Bayes factor of a coin against whoever holds an order, in the shares of the panel.

        ``evidence`` is that of others, the panel's own by default.
        """
        of = self.evidence if evidence is None else evidence
        held = np.log(self.shares[OWN:] / self.shares[OWN:].sum())
        return np.asarray(of[:, COIN] - special.logsumexp(of[:, OWN:] + held, axis=1))


@dataclass(frozen=True, eq=False)
class Counts:
    """Choices counted by rater and kind: which method stood left, and which right."""

    methods: int
    shown: Reals
    """``float64[raters, kinds]``."""
    lefts: Reals
    again: tuple[Ints, Ints, Ints, Ints]
    """Of repeats: rater, kind, whether left was chosen, and whether it is the same."""

    @cached_property
    def kinds(self) -> tuple[Ints, Ints]:
        """Methods on the left and on the right."""
        left, right = np.nonzero(~np.eye(self.methods, dtype=bool))
        return left, right

    @cached_property
    def coin(self) -> Reals:
        """``float64[raters]``, log evidence."""
        rater, _, left, _ = self.again
        n = self.shown.sum(axis=1) + np.bincount(rater, minlength=len(self.shown))
        lefts = self.lefts.sum(axis=1) + np.bincount(rater, left, len(self.shown))
        each = [special.betaln(prior + lefts, prior + n - lefts) - special.betaln(prior, prior) for prior in (FAIR, ANY)]
        return np.asarray(special.logsumexp(each, axis=0) - np.log(2))

    def evidence(self, strengths: Reals, bias: Reals, repetition: float) -> Reals:
        """``float64[raters]``: log of the mean likelihood over draws, ``strengths`` of ``[draws, methods]``."""
        left, right = self.kinds
        lead = strengths[:, left] - strengths[:, right] + bias[:, None]
        # That the left is chosen, and that the right is.
        chosen = np.concatenate([special.log_expit(lead), special.log_expit(-lead)], axis=1)
        log = np.concatenate([self.lefts, self.shown - self.lefts], axis=1) @ chosen.T
        asked, (differ, agree) = self.repeated
        if len(asked):
            log[asked] += _summed(np.stack([
                agree @ np.log(rho + (1 - rho) * np.exp(chosen)).T + differ @ (np.log(1 - rho) + chosen).T + np.log(weight)
                for rho, weight in _constancy(repetition)
            ]), axis=0)  # fmt: skip
        return np.asarray(_summed(log, axis=1) - np.log(log.shape[1]))

    @cached_property
    def repeated(self) -> tuple[Ints, Reals]:
        """Raters who were asked again, and ``float64[2, raters, 2 kinds]``: repeats that differ, and those that are the same.

        Kinds are those of ``kinds`` in which the left was chosen, then those in which the right was.
        """
        rater, kind, left, same = self.again
        asked, row = np.unique(rater, return_inverse=True)
        many = np.zeros((2, len(asked), 2 * len(self.kinds[0])))
        np.add.at(many, (same, row, kind + (1 - left) * len(self.kinds[0])), 1.0)
        return asked, many


def _summed(log: Reals, *, axis: int) -> Reals:
    """Logarithm of the sum of ``exp(log)``, which is overwritten; in a third of the time of SciPy's."""
    most = log.max(axis=axis, keepdims=True)
    log -= most
    return np.asarray(np.squeeze(most, axis) + np.log(np.exp(log, out=log).sum(axis=axis)))


def _constancy(repetition: float) -> tuple[tuple[float, float], ...]:
    """``rho`` of raters and their shares: people differ in how constant they are, and three nodes stand for it."""
    return (repetition / 2, 0.25), (repetition, 0.5), ((1 + repetition) / 2, 0.25)


def counted(choices: Choices, *, methods: int, raters: int, only: npt.NDArray[np.bool_] | None = None) -> Counts:
    """Count ``choices``, those of ``only`` where it is given."""
    kept = Choices(*(column if only is None else column[only] for column in choices))
    kind = kept.left * (methods - 1) + kept.right - (kept.right > kept.left)
    first = kept.same < 0
    shown, lefts = (np.zeros((raters, methods * (methods - 1))) for _ in range(2))
    np.add.at(shown, (kept.rater[first], kind[first]), 1.0)
    np.add.at(lefts, (kept.rater[first], kind[first]), kept.chose_left[first].astype(float))
    again = (kept.rater[~first], kind[~first], kept.chose_left[~first], kept.same[~first])
    return Counts(methods, shown, lefts, again)


def _priors(methods: int, strengths: Reals, within: Within, own_draws: int) -> list[tuple[Reals, Reals]]:
    """Draws of what people with an order may hold: one of their own, then each group's."""
    length = max(SHORTEST, float(np.linalg.norm(strengths, axis=1).max()))
    # Draws of the prior of an order of one's own of about `length`.
    drawn = np.random.default_rng(1).standard_normal((own_draws, methods + 2))
    direction = drawn[:, 2:] - drawn[:, 2:].mean(axis=1, keepdims=True)
    direction *= length / np.linalg.norm(direction, axis=1, keepdims=True)
    anywhere = np.exp(within.sensitivity * drawn[:, :1]) * direction, SIDE * drawn[:, 1]
    drawn = np.random.default_rng(0).standard_normal((DRAWS, methods + 2))
    firmly, off, sides = np.exp(within.sensitivity * drawn[:, :1]), within.strengths * drawn[:, 2:], SIDE * drawn[:, 1]
    return [anywhere, *((firmly * own + off, sides) for own in strengths)]


def evidences(counts: Counts, strengths: Reals, repetition: float, *, own_draws: int = DRAWS, within: Within = WIDE) -> Reals:
    """``float64[raters, 2 + groups]`` as in ``Orders``."""
    priors = _priors(counts.methods, strengths, within, own_draws)
    return np.stack([counts.coin, *(counts.evidence(*prior, repetition) for prior in priors)], axis=1)


def fitted(counts: Counts, members: Reals) -> Orders:
    """Fit groups, from ``members``, ``float64[raters, groups]``: how far each rater belongs to each at first."""
    left, right = counts.kinds
    design = Design(counts.methods, left, right, np.zeros_like(left))
    repetition, best = 0.5, None
    seen = members.sum(axis=0) + PSEUDO_RATERS  # a group may begin empty where raters are alike
    shares = np.array([0.1, 0.1, *(0.8 * seen / seen.sum())])
    for _ in range(ROUNDS):
        outcomes = np.stack([counts.lefts, counts.shown - counts.lefts, np.zeros_like(counts.shown)], axis=-1)
        core = fit(design, np.einsum("rg,rko->gko", members, outcomes), prior=RIDGE).core
        strengths = core[:, : counts.methods]
        repetition = _repetition(counts, strengths, members)
        evidence = evidences(counts, strengths, repetition)
        joint = evidence + np.log(shares)
        whole = special.logsumexp(joint, axis=1)
        objective = float(whole.sum() + PSEUDO_RATERS * np.log(shares).sum() - RIDGE / 2 * (strengths**2).sum())
        if best is not None and objective < best.objective + TOLERANCE:
            break
        best = Orders(strengths, shares, evidence, repetition, objective)
        belongs = np.exp(joint - whole[:, None])
        members = belongs[:, 2:]
        shares = (belongs.sum(axis=0) + PSEUDO_RATERS) / (len(belongs) + PSEUDO_RATERS * len(shares))
    assert best is not None
    return best


def _repetition(counts: Counts, strengths: Reals, members: Reals) -> float:
    """``rho``: how far repeats are more alike than new choices of members would be, 0..1."""
    rater, kind, _, same = counts.again
    left, right = counts.kinds
    p = 1 / (1 + np.exp(strengths[:, right] - strengths[:, left]))
    alike = (p**2 + (1 - p) ** 2).T[kind]
    weights = members[rater]
    more, room = (weights * (same[:, None] - alike)).sum(), (weights * (1 - alike)).sum()
    return float(np.clip((more + PSEUDO_REPEATS / 2) / (room + PSEUDO_REPEATS), 0.02, 0.98))


def _starts(counts: Counts, groups: int) -> Iterator[Reals]:
    """First members: everybody, or by the two directions in which raters' wins differ most."""
    if groups == 1:
        yield np.ones((len(counts.shown), 1))
        return
    left, right = counts.kinds
    lead = 2 * counts.lefts - counts.shown
    wins = lead @ (np.eye(counts.methods)[left] - np.eye(counts.methods)[right])
    wins = wins / np.maximum(np.linalg.norm(wins, axis=1, keepdims=True), 1e-9)
    apart = wins - wins.mean(axis=0)
    one, other = (apart @ np.linalg.svd(apart, full_matrices=False)[2][:2].T).T
    few = 0.8  # a smaller group is grown from its most different fifth
    for along, across in ((one, other), (-one, other)):
        label = (along > np.quantile(along, few)).astype(int)
        if groups == 3:
            label = np.where((label == 0) & (np.abs(across) > np.quantile(np.abs(across), few)), 2, label)
        yield np.eye(groups)[label]


def best_of(counts: Counts, groups: int) -> Orders:
    """Fit so many groups, from several starts."""
    return max((fitted(counts, start) for start in _starts(counts, groups)), key=lambda found: found.objective)


def orders_of(choices: Choices, *, methods: int, raters: int) -> Orders:
    """Fit the orders of a panel.

    A further group has to foretell answers on sources left out better.
    """
    whole = counted(choices, methods=methods, raters=raters)
    fold = np.unique(choices.cluster, return_inverse=True)[1] % FOLDS
    parts = [counted(choices, methods=methods, raters=raters, only=fold != number) for number in range(FOLDS)]

    def foretold(found: Orders) -> float:
        score = 0.0
        for part in parts:
            own = fitted(part, found.members)
            after = evidences(whole, own.strengths, own.repetition)
            score += float(
                sum(
                    sign * special.logsumexp(of + np.log(own.shares), axis=1).sum()
                    for sign, of in ((1, after), (-1, own.evidence))
                )
            )
        return score

    found = best_of(whole, 1)
    score = foretold(found)
    for groups in range(2, min(MOST_GROUPS, raters // FEWEST_OF_GROUP) + 1):
        more = best_of(whole, groups)
        if (other := foretold(more)) <= score:
            break
        found, score = more, other
    largest = np.argsort(-found.shares[2:], kind="stable")
    found = replace(found, strengths=found.strengths[largest], shares=found.shares[[COIN, OWN, *(2 + largest)]])
    finer = [evidences(whole, found.strengths, found.repetition, own_draws=OWN_DRAWS, within=within) for within in WITHINS]
    best = int(np.argmax([special.logsumexp(one + np.log(found.shares), axis=1).sum() for one in finer]))
    return replace(found, evidence=finer[best], within=WITHINS[best])


def made_up(counts: Counts, orders: Orders, rater: int, *, coins: bool, answers: int, seed: int) -> Reals:
    """``float64[answers]``: log Bayes factors of simulated people who were asked what ``rater`` was.

    They toss ``coins``; else ``OF_THEIR_OWN`` of them hold an order of their own, the others are in the groups by their shares.

    Args:
        counts: of the panel.
        orders: found in it.
        rater: row of ``counts``.
        answers: how many people.
        seed: of their answers.
    """
    rng = np.random.default_rng(seed)
    left, right = counts.kinds
    own, *groups = _priors(counts.methods, orders.strengths, orders.within, DRAWS)
    shares = np.array([OF_THEIR_OWN, *((1 - OF_THEIR_OWN) * orders.shares[2:] / orders.shares[2:].sum())])
    member = rng.choice(len(shares), size=answers, p=shares)
    draw = rng.integers(DRAWS, size=answers)
    strengths, bias = (np.stack([of[side] for of in (own, *groups)])[member, draw] for side in (0, 1))
    p = 1 / (1 + np.exp(strengths[:, right] - strengths[:, left] - bias[:, None]))
    if coins:
        p = np.repeat(rng.beta(FAIR, FAIR, size=(answers, 1)), p.shape[1], axis=1)
    shown = np.repeat(counts.shown[rater][None], answers, axis=0)
    asked = counts.again[1][counts.again[0] == rater]
    of = p[:, asked]
    first, anew = rng.random(of.shape) < of, rng.random(of.shape) < of
    nodes, weights = zip(*_constancy(orders.repetition), strict=True)
    rho = np.zeros((answers, 1)) if coins else rng.choice(nodes, p=weights, size=(answers, 1))
    again = np.where(rng.random(of.shape) < rho, first, anew)
    who = np.repeat(np.arange(answers), len(asked))
    repeats = (who, np.tile(asked, answers), again.ravel().astype(np.int64), (again == first).ravel().astype(np.int64))
    others = Counts(counts.methods, shown, rng.binomial(shown.astype(np.int64), p).astype(float), repeats)
    found = evidences(others, orders.strengths, orders.repetition, own_draws=OWN_DRAWS, within=orders.within)
    return orders.coin_against_order(found)


class Held(NamedTuple):
    """Orders that the raters of one question hold."""

    methods: Sequence[str]
    raters: Sequence[str]
    orders: Orders
    counts: Counts

    def asked(self, place: int) -> tuple[int, int]:
        """First answers of the rater at ``place``, ties apart, and repeats of them."""
        return int(self.counts.shown[place].sum()), int((self.counts.again[0] == place).sum())

    def coin(self, place: int) -> float:
        """Log Bayes factor of a coin against somebody with an order."""
        return float(self.orders.coin_against_order()[place])


def held_in(choices: Choices, methods: Sequence[str], raters: Sequence[str]) -> Held:
    """Fit the orders of a panel; names are of the numbers in ``choices``."""
    orders = orders_of(choices, methods=len(methods), raters=len(raters))
    return Held(methods, raters, orders, counted(choices, methods=len(methods), raters=len(raters)))


def as_near(parts: Sequence[tuple[Held, int]], log: float, *, p: float, people: int = 400) -> tuple[float, float]:
    """Share of simulated people with an order who are as near to a coin as ``log``, and of coins nearer than all but ``p`` are.

    Args:
        parts: questions, and the place of a rater in each; the people are asked the same.
        log: sum of the rater's ``Held.coin``.
        p: share of people with an order.
        people: how many of each kind are simulated, as by ``made_up``.
    """
    honest, coins = (
        np.sum(
            [
                made_up(held.counts, held.orders, place, coins=coins, answers=people, seed=at)
                for at, (held, place) in enumerate(parts)
            ],
            axis=0,
        )
        for coins in (False, True)
    )
    return float(np.mean(honest >= log)), float(np.mean(coins > np.quantile(honest, 1 - p)))


def held_by(votes: Sequence[Vote], question: str) -> Held | None:
    """Orders of the raters of a question about pairs; None where nobody prefers anything.

    Args:
        votes: answers that stand, in order; gold ones say nothing of preferences and are left out.
        question: its label.
    """
    first: dict[tuple[str, str], str] = {}
    rows: list[tuple[str, str, str, int, str, int]] = []
    for vote in votes:
        if vote.question != question or vote.purpose not in ("vote", "repeat") or vote.choice not in vote.candidates:
            continue
        before = first.get((vote.rater_id, vote.task_id))
        if (vote.purpose == "repeat") != (before is not None):
            continue  # the first answer does not stand, or was a tie
        first.setdefault((vote.rater_id, vote.task_id), vote.choice)
        left, right = vote.sides
        same = -1 if before is None else int(vote.choice == before)
        rows.append((vote.rater_id, left, right, int(vote.choice == left), vote.cluster, same))
    if not rows:
        return None
    rater, left_of, right_of, chose_left, cluster, same_of = zip(*rows, strict=True)
    raters, methods = tuple(dict.fromkeys(rater)), tuple(sorted({*left_of, *right_of}))
    choices = Choices(
        numbered(rater, raters), numbered(left_of, methods), numbered(right_of, methods), np.array(chose_left, np.int64),
        numbered(cluster, sorted(set(cluster))), np.array(same_of, np.int64),
    )  # fmt: skip
    return held_in(choices, methods, raters)
