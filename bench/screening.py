"""Simulated studies in which 10 to 40 % of the raters spam in five ways, and others where raters differ and some toss coins.

Told are who is found, who is wronged, and what rankings gain.

python bench/screening.py [--quick]
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "helpers"))

import numpy as np
from planted_studies import OUTCOMES, Planted, drawn, true_strengths
from scipy.stats import kendalltau
from voted_studies import study_of

from inpaintbench.annotate.records import Vote
from inpaintbench.annotate.screening.base import proposals
from inpaintbench.annotate.statistics.davidson import Design, fit
from inpaintbench.annotate.statistics.orders import Choices, Held, as_near, counted, held_in
from inpaintbench.annotate.statistics.ranking import rank
from inpaintbench.annotate.statistics.standings import results_of
from inpaintbench.annotate.study import RULES, RuleSpec, Study

METHODS = ("deep", "flow", "patch", "slow", "vary")
STRENGTHS = dict(zip(METHODS, (0.8, 0.4, 0.0, -0.4, -0.8), strict=True))
RATERS, ITEMS, VOTES, GOLD, REPEATS = 30, 30, 100, 10, 6
SHARES = (0.1, 0.2, 0.3, 0.4)
CLIP_SECONDS = 3.0
# Most honest raters that may be flagged.
MOST_WRONGED = 0.02
Rng = np.random.Generator
# What a spammer presses: (true difference of left and right, turn, draws) -> a place of two, or ``tie``.
Presses = Callable[[float, int, Rng], str]


def _honest(lead: float, rng: Rng, *, tie: float) -> str:
    p, nu = np.exp(lead), np.exp(tie)
    shares = np.array([p, 1.0, nu * np.sqrt(p)]) / (p + 1 + nu * np.sqrt(p))
    return ("place-0", "place-1", "tie")[int(rng.choice(3, p=shares))]


def _by_lot(_lead: float, _turn: int, rng: Rng) -> str:
    return ("place-0", "place-1", "tie")[int(rng.choice(3, p=(0.45, 0.45, 0.1)))]


PAIRS: Mapping[str, Presses] = {
    "one side": lambda _lead, _turn, rng: "place-0" if rng.random() < 0.92 else "place-1",
    "by lot": _by_lot,
    "one button": lambda _lead, _turn, rng: "tie" if rng.random() < 0.97 else "place-1",
    "reversed": lambda lead, _turn, rng: _honest(-2 * lead, rng, tie=-1.5),
    "too quick": _by_lot,
}


def pairs_study() -> Study:
    tasks = [("pairwise", f"item{number:02}", pair) for number in range(ITEMS) for pair in combinations(METHODS, 2)]
    tasks += [("pairwise", f"known{number:02}", ("deep", "vary")) for number in range(GOLD)]
    gold = {("pairwise", f"known{number:02}"): ("deep",) for number in range(GOLD)}
    return study_of([{"leaf": "pairwise"}], tasks, subjects={"dataset": "D", "runs": ["R"]}, gold=gold)


def pair_votes(study: Study, kinds: Mapping[str, str | None], rng: Rng, *, whole: bool = False) -> list[Vote]:
    """Votes of raters, each honest or a spammer of a kind; sides as balanced as the app makes them.

    With ``whole`` a rater compares all pairs of some items, else any pairs of all.
    """
    votes: list[Vote] = []
    tilt = {task.subject_id: {name: rng.normal(0, 0.4) for name in METHODS} for task in study.tasks}
    ordinary, known = ([task for task in study.tasks if bool(task.gold) == gold] for gold in (False, True))
    for rater, kind in kinds.items():
        bias, tie = rng.normal(0.1, 0.3), rng.normal(-0.5, 0.5)
        able = ordinary
        if whole:
            mine = set(rng.permutation(ITEMS)[: VOTES * ITEMS // len(ordinary)].tolist())
            able = [task for task in ordinary if int(task.subject_id.removeprefix("item")) in mine]
        chosen = [able[number] for number in rng.permutation(len(able))[:VOTES]]
        asked = [(task, "vote") for task in chosen] + [(task, "gold") for task in known]
        asked = [asked[number] for number in rng.permutation(len(asked))] + [(task, "repeat") for task in chosen[:REPEATS]]
        for turn, (task, purpose) in enumerate(asked):
            shown = task.candidates if (turn + len(rater)) % 2 else task.candidates[::-1]
            lead = STRENGTHS[shown[0]] - STRENGTHS[shown[1]] + tilt[task.subject_id][shown[0]] - tilt[task.subject_id][shown[1]]
            if purpose == "gold":  # unarguable
                lead = 6.0 if shown[0] == "deep" else -6.0
            given = {"better": PAIRS[kind](lead, turn, rng) if kind else _honest(lead + bias, rng, tie=tie)}
            available = 0.4 if kind == "too quick" else CLIP_SECONDS + rng.exponential(3)
            choice = study.question_of["pairwise"].choice(given, shown=shown)
            votes.append(_vote(task, rater, shown, purpose, given, choice, len(votes), available))
    return votes


GRADES: Mapping[str, Callable[[float, int, Rng], float]] = {
    "one grade": lambda _quality, _turn, rng: 3 if rng.random() < 0.97 else 4,
    "by lot": lambda _quality, _turn, rng: float(rng.integers(1, 6)),
    "ends of the scale": lambda _quality, _turn, rng: float(rng.choice([1, 5])),
    "reversed": lambda quality, _turn, rng: 6 - quality + rng.normal(0, 0.6),
    "too quick": lambda _quality, _turn, rng: float(rng.integers(2, 5)),
}


def grades_study() -> Study:
    tasks = [("mean_opinion", f"item{number:02}", (name,)) for number in range(ITEMS // 3) for name in METHODS]
    return study_of([{"leaf": "mean_opinion"}], tasks, subjects={"dataset": "D", "runs": ["R"]})


def grade_votes(study: Study, kinds: Mapping[str, str | None], rng: Rng) -> list[Vote]:
    """Every rater grades every task; honest ones have a bias and an inconsistency of their own."""
    votes: list[Vote] = []
    quality = {task.task_id: 3 + STRENGTHS[task.candidates[0]] + rng.normal(0, 0.7) for task in study.tasks}
    for rater, kind in kinds.items():
        bias, sigma = rng.normal(0, 0.4), rng.uniform(0.3, 1.0)
        for turn, number in enumerate(rng.permutation(len(study.tasks))):
            task = study.tasks[number]
            seen = quality[task.task_id]
            grade = GRADES[kind](seen, turn, rng) if kind else seen + bias + sigma * rng.normal()
            given = {"grade": str(int(np.clip(np.floor(grade + 0.5), 1, 5)))}
            available = 0.4 if kind == "too quick" else CLIP_SECONDS + rng.exponential(3)
            votes.append(_vote(task, rater, task.candidates, "vote", given, given["grade"], len(votes), available))
    return votes


def _vote(
    task: Any,
    rater: str,
    shown: tuple[str, ...],
    purpose: Any,
    given: Mapping[str, str],
    choice: str,
    number: int,
    available: float,
) -> Vote:
    return Vote(
        submission_id=f"s{number}", rater_id=rater, task_id=task.task_id, question=task.question, subject_id=task.subject_id,
        cluster=task.subject_id, candidates=task.candidates, shown=shown, purpose=purpose, given=given, choice=choice,
        seconds=available, at=float(number), stuttered=False, suggestion_shown="hidden", available_seconds=available,
        too_soon=available < CLIP_SECONDS - 0.5,
    )  # fmt: skip


def distance(study: Study, votes: list[Vote]) -> tuple[float, float]:
    """1 - Kendall's tau to the true order, and the error of what the methods lie apart, relative to the truth."""
    (scores,) = results_of(study, votes).scores().values()
    values = np.array([scores[name].value if name in scores else 0.0 for name in METHODS], float)
    truth = np.array([STRENGTHS[name] for name in METHODS])
    slope = float(np.polyfit(truth, values, 1)[0])
    return 1 - float(kendalltau(truth, values).statistic), slope


# Rules that have nothing to say of a question.
_SILENT: Mapping[str, frozenset[str]] = {
    "pairs": frozenset({"erratic_ratings", "bt500", "circular_triads", "against_others"}),
    "items": frozenset({"erratic_ratings", "bt500", "against_others"}),
    "grades": frozenset({"failed_gold", "unstable_repeats", "side_bias", "circular_triads", "annotator_model"}),
}


def _speaks(rule: str, question: str) -> bool:
    return rule not in _SILENT[question]


def _alone(found: Mapping[str, Counter[bool]], wronged: Mapping[str, Counter[bool]]) -> bool:
    """Print what each rule finds alone; return whether none flags too many of the honest."""
    print("\n| rule | alone it finds | honest flagged | |\n|---|---|---|---|")
    for rule, counts_of_rule in found.items():
        of = wronged[rule]
        only = "only proposes" if RULES.get(rule).only_proposes else ""
        print(
            f"| {rule} | {counts_of_rule[True] / counts_of_rule.total():.0%} of {counts_of_rule.total()} "
            f"| {of[True] / of.total():.1%} of {of.total()} | {only} |"
        )
    return all(of[True] <= MOST_WRONGED * of.total() for of in wronged.values())


@dataclass(frozen=True)
class Panel:
    """Raters who all know the known answers; some prefer another order, and some toss a coin on everything else."""

    votes: int = 40
    methods: int = 5
    raters: int = 30
    minorities: tuple[float, ...] = (0.2,)
    """Shares of the raters."""
    coins: float = 0.1
    lefts: float = 0.0
    """Share of those who choose the left nine times of ten."""
    lazy: float = 0.0
    """Share of the honest whose choices follow half as firmly."""
    strength: float = 1.4
    """Of the best method; the last has its negative, and the others stand between at equal distances."""
    repeats: float = 0.05
    """Of the votes."""
    items: int = 30

    def __str__(self) -> str:
        told = [f"{self.methods} methods, {self.raters} raters, {len(self.minorities)} x {self.minorities[0]:.0%}"]
        told += [f"strength {self.strength:g}"] if self.strength != Panel.strength else []
        told += [f"{self.repeats:.0%} repeats"] if self.repeats != Panel.repeats else []
        told += [f"{self.lazy:.0%} lazy"] if self.lazy else []
        told += [f"{self.lefts:.0%} choose left"] if self.lefts else []
        return ", ".join(told)


def answered(panel: Panel, rng: Rng) -> tuple[Choices, list[str], Any]:
    """Choices of a panel, what each rater is, and the orders (``float64[orders, methods]``), the common one first."""
    common = np.linspace(panel.strength, -panel.strength, panel.methods)
    orders = [common]
    while len(orders) <= len(panel.minorities):  # what another weight of the same qualities prefers
        other = rng.permutation(common)
        if np.corrcoef(other, common)[0, 1] < -0.3 and (panel.methods < 5 or all((other != of).any() for of in orders)):
            orders.append(other)
    kinds = [f"other {number}" for number, share in enumerate(panel.minorities, 1) for _ in range(round(share * panel.raters))]
    kinds += ["coin"] * round(panel.coins * panel.raters) + ["left"] * round(panel.lefts * panel.raters)
    kinds += ["common"] * (panel.raters - len(kinds))
    tilt = rng.normal(0, 0.4, (len(orders), panel.items, panel.methods))
    tasks = np.array([(item, *pair) for item in range(panel.items) for pair in combinations(range(panel.methods), 2)])
    columns: list[Any] = []
    for rater, kind in enumerate(kinds):
        lazy = kind not in ("coin", "left") and rng.random() < panel.lazy
        kinds[rater] = f"lazy {kind}" if lazy else kind
        own = tasks[rng.permutation(len(tasks))[: panel.votes]]
        asked = np.concatenate([own, own[: rng.binomial(len(own), panel.repeats)]])
        swapped = rng.random(len(asked)) < 0.5
        item, left, right = asked[:, 0], *np.where(swapped, asked[:, [2, 1]].T, asked[:, [1, 2]].T)
        order = int(kind.removeprefix("other ")) if kind.startswith("other") else 0
        seen = orders[order] + tilt[order, item]
        lead = np.take_along_axis(seen, left[:, None], 1)[:, 0] - np.take_along_axis(seen, right[:, None], 1)[:, 0]
        lead = {"coin": 0.0, "left": np.log(9.0)}.get(kind, lead * (0.5 if lazy else 1.0) + rng.normal(0.1, 0.3))
        p, tie = np.exp(np.broadcast_to(lead, len(asked)) / 2), np.exp(rng.normal(-0.5, 0.5))
        chance = rng.random(len(asked)) * (p + 1 / p + tie)
        chose_left, decided = (chance < p).astype(int), chance < p + 1 / p
        better = np.where(chose_left == 1, left, right)
        first = np.where(decided, better, -1)[: len(own)]
        before = np.concatenate([np.full(len(own), -1), first[: len(asked) - len(own)]])
        same = np.where(np.arange(len(asked)) < len(own), -1, better == before)
        kept = decided & ((same < 0) | (before >= 0))
        columns.append(np.stack([np.full(len(asked), rater), left, right, chose_left, item, same])[:, kept])
    return Choices(*np.concatenate(columns, axis=1)), kinds, np.array(orders)


def by_lot(held: Held) -> set[int]:
    """Places of the raters whom the rule on choices by lot flags, with its default constants."""
    rule = RULES.get("annotator_model")()
    logs = [held.coin(place) for place in range(len(held.raters))]
    enough = [place for place, log in enumerate(logs) if held.asked(place)[0] >= rule.least and log >= np.log(rule.factor)]
    told = {place: as_near([(held, place)], logs[place], p=rule.p) for place in enough}
    return {place for place, (near, found) in told.items() if near <= rule.p and found >= rule.found}


def who_knows(panel: Panel, choices: Choices, orders: Any, *, draws: int = 64) -> Any:
    """``float64[raters]``: log likelihood ratio of a coin against the panel's orders, for who knows these and their shares.

    No test of these first answers beats it (Neyman and Pearson); what nobody knows, sides and items, is integrated out.
    """
    bias = np.random.default_rng(5).normal(0.1, 0.3, draws)
    shares = np.array([1 - sum(panel.minorities), *panel.minorities])
    first = Choices(*(column[choices.same < 0] for column in choices))
    logs = []
    for own in orders:
        lead = ((own[first.left] - own[first.right])[:, None] + bias) / np.sqrt(1 + 2 * 0.4**2 * np.pi / 8)
        log = np.zeros((panel.raters, draws))
        np.add.at(log, first.rater, -np.logaddexp(0, np.where(first.chose_left[:, None] == 1, -lead, lead)))
        logs.append(np.logaddexp.reduce(log, axis=1) - np.log(draws))
    coin = -np.log(2) * np.bincount(first.rater, minlength=panel.raters)
    return coin - np.logaddexp.reduce(np.stack(logs, axis=1) + np.log(shares), axis=1)


def lead(choices: Choices, methods: int, kept: Any) -> Any:
    """Strengths of the methods by the first answers of raters who are ``kept``."""
    counts = counted(choices, methods=methods, raters=len(kept), only=kept[choices.rater] & (choices.same < 0))
    shown, lefts = counts.shown.sum(axis=0), counts.lefts.sum(axis=0)
    design = Design(methods, *counts.kinds, np.zeros_like(counts.kinds[0]))
    return fit(design, np.stack([lefts, shown - lefts, np.zeros_like(shown)], axis=-1)[None]).core[0, :methods]


PANELS = (
    *(Panel(votes, minorities=(share,)) for votes in (24, 40, 100) for share in (0.1, 0.3)),
    *(Panel(votes, minorities=(0.15, 0.15)) for votes in (40, 100)),
    *(Panel(40, methods=methods) for methods in (4, 10)),
    *(Panel(40, raters=raters, minorities=(0.1,)) for raters in (20, 200)),
    Panel(40, repeats=0.3),
    *(Panel(votes, lazy=0.3, lefts=0.1) for votes in (40, 100)),
    *(Panel(votes, strength=0.8) for votes in (40, 100)),
)


def differing(studies: int) -> None:
    """Print whom the rule on choices by lot finds and wrongs among people who differ, and the lead of the best method."""
    print("\nLeads over the second method are shares of that without coins. Who knows all orders wrongs 2 % of the honest.\n")
    heads = (
        "panel | votes | common flagged | minority flagged | lazy flagged | coins found | left found | who knows all orders finds"
    )
    print(f"| {heads} | lead, all | lead, screened |\n|{'---|' * 10}")
    for panel in PANELS:
        counts: dict[str, Counter[bool]] = defaultdict(Counter)
        known: dict[bool, list[float]] = defaultdict(list)
        leads = []
        for number in range(max(1, studies * 30 // panel.raters)):
            choices, kinds, orders = answered(panel, np.random.default_rng([31, panel.votes, number]))
            flagged = by_lot(held_in(choices, *(list(map(str, range(of))) for of in (panel.methods, panel.raters))))
            for rater, kind in enumerate(kinds):
                counts[kind.split()[0]][rater in flagged] += 1
            for kind, log in zip(kinds, who_knows(panel, choices, orders), strict=True):
                if kind == "coin" or kind.split()[0] in ("common", "other"):
                    known[kind == "coin"].append(float(log))
            honest = np.array([kind not in ("coin", "left") for kind in kinds])
            kept = np.array([rater not in flagged for rater in range(panel.raters)])
            fits = [lead(choices, panel.methods, of) for of in (honest, np.ones_like(kept), kept)]
            best, second = np.argsort(-fits[0])[:2]
            leads.append([own[best] - own[second] for own in fits])
        cells = [
            f"{counts[kind][True] / counts[kind].total():.1%} of {counts[kind].total()}" if kind in counts else "-"
            for kind in ("common", "other", "lazy", "coin", "left")
        ]
        limit = np.quantile(known[False], 1 - MOST_WRONGED)
        truth, everybody, screened = np.mean(leads, axis=0)
        print(f"| {panel} | {panel.votes} | {' | '.join(cells)} | {np.mean(np.array(known[True]) >= limit):.0%} "
              f"| {everybody / truth:.0%} | {screened / truth:.0%} |", flush=True)  # fmt: skip


def held_intervals(studies: int) -> None:
    """Print how often 95 % intervals hold what honest raters would say: of these alone, beside clickers, and after screening."""
    print(
        "\n| votes a rater | intervals, honest alone | with 10 % clickers | after screening | clickers found | honest flagged |"
    )
    print("|---|---|---|---|---|---|")
    for votes in (40, 100):
        planted = Planted((1.4, 0.7, 0.0, -0.7, -1.4), 0.15, RATERS, raters=RATERS, votes=votes * RATERS)
        truth = dict(zip(planted.names, true_strengths(planted), strict=True))
        clickers = {f"r{number}" for number in range(RATERS // 10)}
        held, found = [], Counter[tuple[bool, bool]]()
        for number in range(studies):
            rng = np.random.default_rng([41, votes, number])
            everybody = [
                one._replace(outcome=OUTCOMES[rng.choice(3, p=(0.45, 0.45, 0.1))]) if one.rater in clickers else one
                for one in drawn(planted, number)
            ]
            raters = sorted({one.rater for one in everybody})
            rows = [
                (raters.index(one.rater), *(int(of[1:]) for of in one[:2]), one.outcome == "first", int(one.cluster[1:]), -1)
                for one in everybody if one.outcome != "tie"
            ]  # fmt: skip
            flagged = {raters[place] for place in by_lot(held_in(Choices(*np.array(rows).T), planted.names, raters))}
            found.update((rater in clickers, rater in flagged) for rater in raters)
            inside = []
            for left_out in (clickers, set(), flagged):
                methods = rank([one for one in everybody if one.rater not in left_out], seed=number, replicates=200).methods
                inside.append([one.low <= truth[one.name] <= one.high for one in methods])
            held.append(inside)
        shares = " | ".join(f"{share:.1%}" for share in np.mean(held, axis=(0, 2)))
        told = (f"{found[who, True] / (found[who, True] + found[who, False]):.1%}" for who in (True, False))
        print(f"| {votes} | {shares} | {' | '.join(told)} |", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--differing", action="store_true", help="raters who differ alone")
    told = parser.parse_args()
    studies = 2 if told.quick else 8
    if told.differing:
        differing(2 * studies)
        held_intervals(10 * studies)
        return 0
    good = True
    print("## Screening of raters\n")
    print(
        f"{studies} simulated studies a row, {RATERS} raters each: {VOTES} comparisons (`items`: all pairs of some items), "
        f"{GOLD} known answers and {REPEATS} repeats a rater, or {ITEMS // 3 * len(METHODS)} grades. Spammers of five kinds in "
        "turn; all rules with their default constants, those that only propose apart. Honest raters differ: in bias towards a "
        "side and readiness to call a tie, or in bias and noise of grades (up to 1 step). Asked: at most "
        f"{MOST_WRONGED:.0%} of the honest flagged, over all rows of a question and by each rule alone. Error: 1 - Kendall's "
        "tau to the true order; spread: what the methods lie apart, as a share of what they do without spammers. Circular "
        "triads are told of whole items alone.\n"
    )
    print("| question | spammers | found | honest flagged | error, all | error, screened | spread, all | spread, screened |")
    print("|---|---|---|---|---|---|---|---|")
    wronged_by_rule: dict[str, Counter[bool]] = defaultdict(Counter)
    found_by_rule: dict[str, Counter[bool]] = defaultdict(Counter)
    found_by_kind: dict[str, Counter[tuple[str, bool]]] = defaultdict(Counter)
    whole = partial(pair_votes, whole=True)
    worlds = {
        "pairs": (pairs_study(), pair_votes, PAIRS),
        "items": (pairs_study(), whole, PAIRS),
        "grades": (grades_study(), grade_votes, GRADES),
    }
    for question, (plain_study, draw, spammers) in worlds.items():
        rules = {name: RuleSpec() for name in RULES}
        study = Study(plain_study.study_id, plain_study.file.model_copy(update={"screening": rules}), plain_study.tasks, {})
        clean = np.mean([
            distance(study, draw(study, dict.fromkeys([f"r{n:02}" for n in range(RATERS)]), np.random.default_rng([7, n])))[1]
            for n in range(max(3, studies // 4))
        ])  # fmt: skip
        wronged_in_all: Counter[bool] = Counter()
        for spam in SHARES:
            hits: Counter[bool] = Counter()
            wronged: Counter[bool] = Counter()
            errors: list[tuple[float, float, float, float]] = []
            for number in range(studies):
                rng = np.random.default_rng([23, int(100 * spam), number])
                spoilt = round(spam * RATERS)
                names = list(spammers)
                kinds: dict[str, str | None] = {
                    f"r{n:02}": names[(n + number) % len(names)] if n < spoilt else None for n in range(RATERS)
                }
                votes = draw(study, kinds, rng)
                proposed = proposals(study, votes)
                flagged = {of.rater_id for of in proposed if of.alone}
                for rule in rules:
                    own = {of.rater_id for of in proposed if of.rule == rule}
                    for rater, kind in kinds.items() if _speaks(rule, question) else ():
                        (found_by_rule if kind else wronged_by_rule)[rule][rater in own] += 1
                for rater, kind in kinds.items():
                    if kind:
                        hits[rater in flagged] += 1
                        found_by_kind[question][kind, rater in flagged] += 1
                    else:
                        wronged[rater in flagged] += 1
                before, after = distance(study, votes), distance(study, [vote for vote in votes if vote.rater_id not in flagged])
                errors.append((before[0], after[0], before[1] / clean, after[1] / clean))
            share = wronged[True] / wronged.total()
            wronged_in_all += wronged
            mean = np.mean(errors, axis=0)
            print(
                f"| {question} | {spam:.0%} | {hits[True] / hits.total():.0%} of {hits.total()} "
                f"| {share:.1%} of {wronged.total()} | {mean[0]:.3f} | {mean[1]:.3f} | {mean[2]:.0%} | {mean[3]:.0%} |",
                flush=True,
            )
        good &= wronged_in_all[True] <= MOST_WRONGED * wronged_in_all.total()
    print("\n| question | kind of spam | found |\n|---|---|---|")
    for question, counts in found_by_kind.items():
        for kind in worlds[question][2]:
            all_of = counts[kind, True] + counts[kind, False]
            print(f"| {question} | {kind} | {counts[kind, True] / all_of:.0%} of {all_of} |")
    good &= _alone(found_by_rule, wronged_by_rule)
    differing(2 * studies)
    held_intervals(10 * studies)
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
