"""Choice of a rater's next task, for what, and in which order its candidates are shown; and leases on what they have in hand."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from inpaintbench.annotate.crowd import HONEY_EVERY
from inpaintbench.annotate.desk.coverage import Coverage, Group
from inpaintbench.annotate.desk.current_state import Append, Live
from inpaintbench.annotate.desk.state import State
from inpaintbench.annotate.records import Lease, Purpose, RaterRecord
from inpaintbench.annotate.study import StudyTask
from inpaintbench.lazily import lazily
from inpaintbench.types import content_id, item_rng

optimize = lazily("scipy.optimize")

# Tasks in a rater's hands: the one on screen and the one that is loaded meanwhile.
QUEUE = 2
# Tasks of one question in a row, so that raters need not read another instruction at every task.
BLOCK = 10
# Votes that every pair of candidates gets before information decides.
PAIR_FLOOR = 3
# Question -> pair -> what one more vote on it would tell.
Information = Callable[[str], Mapping[tuple[str, str], float]]


@dataclass(frozen=True)
class Assignment:
    """Task for a rater, before it is leased."""

    task_id: str
    purpose: Purpose
    shown: tuple[str, ...]
    """Candidates, from the first place to the last."""


def next_task(
    state: State, coverage: Coverage, rater_id: str, *, settled: frozenset[str], information: Information
) -> Assignment | None:
    """Next task of ``rater_id``; None when no ordinary task is left for them, even if gold or repeats are.

    Depends on the state, the study's seed and the rater alone.

    Args:
        state: folded up to now.
        coverage: of the same state.
        rater_id: who asks.
        settled: questions that need no more votes.
        information: asked for questions about pairs, once every pair has its floor.
    """
    record, seed = state.rater(rater_id), state.study.file.seed
    rng = item_rng(seed, "next task", f"{rater_id}/{record.handed}")
    task_id = _ordinary(state, coverage, rater_id, settled=settled, information=information, rng=rng)
    if task_id is None:
        return None
    purpose: Purpose = "vote"
    question = state.study.task_of[task_id].question
    if warmups_left(state, record) and (first := coverage.most(rater_id, question, without=record.warmed)) is not None:
        return Assignment(first, "warmup", seats(record, question, state.study.task_of[first].candidates, rng=rng))
    check = _check(state, rater_id, settled=settled, question=question, rng=rng)
    if check is not None:
        task_id, purpose = check
    task = state.study.task_of[task_id]
    return Assignment(task_id, purpose, seats(record, task.question, task.candidates, rng=rng))


def warmups_left(state: State, record: RaterRecord) -> int:
    """Tasks that a rater still gets to settle in; none after their first vote."""
    return 0 if record.voted else max(0, state.study.file.checks.warmup - len(record.warmed))


def still_to_come(state: State, coverage: Coverage, rater_id: str, *, settled: frozenset[str], most: int | None = None) -> int:
    """Tasks that a rater would be given if nobody else worked: ordinary ones, and the gold and repeats between them.

    The draws for checks are counted in beforehand, so the number does not move when a check is handed out. ``most``: ordinary
    tasks that they may still be given.
    """
    left = coverage.left(rater_id, settled=settled)
    left = left if most is None else min(left, most)
    if not left:
        return 0
    golds = len(_golds(state, rater_id, settled=settled))
    record = state.rater(rater_id)
    warmups = min(warmups_left(state, record), left)
    begin, length = _ordinal(record), 2 * left + golds + 64
    while True:
        kinds = _kinds(state, rater_id, begin + length)[begin : begin + length]
        checks = np.minimum(np.cumsum(kinds == _GOLD), golds) + np.cumsum(kinds == _REPEAT)
        handed = np.arange(1, length + 1)
        enough = np.flatnonzero(handed - checks >= left)
        if len(enough):
            return warmups + int(handed[enough[0]])
        length *= 2


def seats(record: RaterRecord, question: str, candidates: Sequence[str], *, rng: np.random.Generator) -> tuple[str, ...]:
    """Candidates in the order to be shown: each goes where this rater saw it least often, equals by ``rng``.

    The places of this question decide, then those of all questions. For pairs of n candidates the times left and right of a
    candidate differ by n // 2 at most within a question, whatever the pairs are, as long as nothing is skipped (exhaustive
    search up to n = 7); which side comes first is a fair coin.
    """
    count = len(candidates)
    if count < 2:
        return tuple(candidates)
    places, everywhere = record.places, record.everywhere
    seen = np.array([
        [(places.get((question, candidate, place), 0), everywhere.get((candidate, place), 0)) for place in range(count)]
        for candidate in candidates
    ])  # fmt: skip
    cost = seen[..., 0] * 2.0**24 + seen[..., 1] + rng.random((count, count)) / (2 * count)
    _, assigned = optimize.linear_sum_assignment(cost)
    return tuple(candidates[number] for number in np.argsort(assigned))


def _ordinary(
    state: State, coverage: Coverage, rater_id: str, *, settled: frozenset[str], information: Information,
    rng: np.random.Generator,
) -> str | None:  # fmt: skip
    # What somebody has just settled in with comes when there is nothing else.
    fresh, again = state.rater(rater_id).warmed, None
    for question in _questions(state, coverage, rater_id, settled=settled):
        for group in _groups(state, coverage, question, information=information, rng=rng):
            task_id = coverage.least(rater_id, group)
            if task_id is not None and task_id not in fresh:
                return task_id
            again = again or task_id
    return again


def _questions(state: State, coverage: Coverage, rater_id: str, *, settled: frozenset[str]) -> Iterable[str]:
    """The question the rater is at, until the block is full, then the least covered first."""
    record = state.rater(rater_id)
    open_questions = [label for label in coverage.groups if label not in settled]
    if record.question in open_questions and record.in_a_row % BLOCK:
        yield record.question
    mixed = item_rng(state.study.file.seed, "question order", rater_id).permutation(len(open_questions))
    yield from sorted(
        (open_questions[number] for number in mixed), key=lambda label: coverage.filled[label] / max(1, coverage.needed[label])
    )


def _groups(
    state: State, coverage: Coverage, question: str, *, information: Information, rng: np.random.Generator
) -> Iterable[Group]:
    """Pairs by need: first those that connect candidates, then those below the floor, then by what they would tell."""
    groups, load = coverage.groups[question], coverage.group_load
    if len(groups) < 2:
        return groups
    mixed = [groups[number] for number in rng.permutation(len(groups))]
    poor = [group for group in mixed if load[group] < PAIR_FLOOR]
    rich = [group for group in mixed if load[group] >= PAIR_FLOOR]
    if poor:
        component = _components(group[1] for group in groups if load[group])
        # A pair of one component connects nothing new, so it comes later.
        poor.sort(key=lambda group: (len({component.get(name, name) for name in group[1]}) == 1, load[group]))
    if rich:
        gains, counts = information(question), state.pairs.get(question, {})

        def worth(group: Group) -> float:
            # What others are answering right now tells less when it arrives: variance falls with the number of votes.
            pair = (group[1][0], group[1][1])
            votes = sum(counts.get(pair, {}).values())
            return gains.get(pair, 0.0) * (votes + 1) / (max(votes, load[group]) + 1)

        rich.sort(key=worth, reverse=True)
    return [*poor, *rich]


def _components(pairs: Iterable[tuple[str, ...]]) -> dict[str, str]:
    component: dict[str, str] = {}
    for first, second in pairs:
        old, new = component.setdefault(second, second), component.setdefault(first, first)
        component.update({name: new for name, root in component.items() if root == old})
    return component


def _check(
    state: State, rater_id: str, *, settled: frozenset[str], question: str, rng: np.random.Generator
) -> tuple[str, Purpose] | None:
    # Of the same question only: another instruction in the middle of a block would give the check away.
    record = state.rater(rater_id)
    kind = _kinds(state, rater_id, _ordinal(record) + 1)[_ordinal(record)]
    known: list[StudyTask] = []
    if kind == _GOLD:
        golds = [task for task in _golds(state, rater_id, settled=settled) if task.question == question]
        known = [task for task in golds if (task.use == "honey") == (record.golds % HONEY_EVERY == 1)] or golds
    elif kind == _REPEAT:
        tasks = [state.study.task_of[task_id] for task_id in state.repeatable(record) if not state.taken_out(task_id)]
        known = _telling(state, [task for task in tasks if task.question == question and not task.gold])
    if not known:
        return None
    task = known[rng.integers(len(known))]
    return task.task_id, "repeat" if kind == _REPEAT else "honey" if task.use == "honey" else "gold"


def _telling(state: State, tasks: list[StudyTask]) -> list[StudyTask]:
    """Tasks whose repeat tells most of whether a rater chooses by lot: the half on pairs of which one wins most clearly so far.

    Who holds an order answers these alike again; of methods that are equally good honest people repeat few answers either.
    """

    def lead(task: StudyTask) -> float:
        votes = state.pairs.get(task.question, {}).get(task.candidates, {})  # type: ignore[arg-type]
        return abs(votes.get("a", 0) - votes.get("b", 0)) / (sum(votes.values()) + 1)

    leads = [lead(task) for task in tasks]
    middle = sorted(leads)[len(leads) // 2] if leads else 0.0
    return [task for task, own in zip(tasks, leads, strict=True) if own >= middle]


def _golds(state: State, rater_id: str, *, settled: frozenset[str]) -> list[StudyTask]:
    had = state.rater(rater_id).had
    return [
        task
        for task in state.gold_tasks
        if task.task_id not in had and task.question not in settled and not state.taken_out(task.task_id)
    ]


_VOTE, _GOLD, _REPEAT = range(3)


def _ordinal(record: RaterRecord) -> int:
    return len(record.had) + len(record.repeated)


def _kinds(state: State, rater_id: str, length: int) -> npt.NDArray[np.int8]:
    """For each task of a rater, whether it is to be a check; at least ``length`` of them."""
    checks, rounded = state.study.file.checks, 1 << max(6, (length - 1).bit_length())
    shares = (checks.gold_share, checks.repeat_share)
    return _drawn_kinds(state.study.file.seed, rater_id, rounded, *shares, checks.repeat_gap + QUEUE)


@lru_cache(maxsize=1024)
def _drawn_kinds(
    seed: int, rater_id: str, length: int, gold_share: float, repeat_share: float, first_repeat: int
) -> npt.NDArray[np.int8]:
    # Repeats by lot; of gold one in each stretch of so many tasks as hold one, so that nobody gets many or none. What is drawn
    # for more tasks begins like what is drawn for fewer.
    repeats = item_rng(seed, "checks", rater_id).random(length) < repeat_share / (1 - gold_share)
    kinds = np.where(repeats, _REPEAT, _VOTE).astype(np.int8)
    if gold_share:
        begins = np.ceil(np.arange(2 + math.ceil(length * gold_share)) / gold_share - 1e-9).astype(int)
        places = begins[:-1] + (item_rng(seed, "gold", rater_id).random(len(begins) - 1) * np.diff(begins)).astype(int)
        kinds[places[places < length]] = _GOLD
    kinds[:first_repeat][kinds[:first_repeat] == _REPEAT] = _VOTE
    kinds.setflags(write=False)
    return kinds


class Leases:
    """Gives leases. A live one is renewed once half of its time is over.

    A rater has ``ahead`` live leases at most, and those of the tasks that they took back.
    """

    def __init__(self, live: Live) -> None:
        self._live = live
        self._seconds = live.study.file.lease_minutes * 60

    def next_task(self, rater_id: str) -> Assignment | None:
        """The task that a rater would be given now."""
        live = self._live
        return next_task(live.state, live.coverage, rater_id, settled=live.settled, information=live.worth.of)

    def queue(
        self, append: Append, rater_id: str, *, choose: Callable[[], Assignment | None] | None = None, ahead: int = QUEUE
    ) -> list[Lease]:
        """The live leases of a rater: reopened tasks, what they had, then new ones.

        Args:
            append: adds events.
            rater_id: whose.
            choose: gives the next task; what is best for the study by default.
            ahead: leases that they have at once; with 0 they get no new ones, and go on with what they have.
        """
        live = self._live

        def hand_out(task_id: str, purpose: Purpose, shown: Sequence[str]) -> None:
            lease_id = self._name(rater_id, live.state.rater(rater_id).handed)
            about = {"lease_id": lease_id, "task_id": task_id, "shown": list(shown), "purpose": purpose}
            append("lease", rater_id, {**about, "expires_at": live.now + self._seconds})

        def renew(lease: Lease) -> None:
            append("renew", lease.rater_id, {"lease_id": lease.lease_id, "expires_at": live.now + self._seconds})

        for task in list(live.state.rater(rater_id).reopened):
            hand_out(task.task_id, task.purpose, task.shown)
        missing = max(QUEUE, ahead) - len(self._offered(rater_id))
        # Expired leases come back first, where their tasks still have room for this rater.
        lapsed = [
            lease
            for lease in self._wanted(rater_id)
            if not live.coverage.live(lease.lease_id) and (lease.purpose != "vote" or live.coverage.room(lease.task_id))
        ]
        for lease in lapsed[: max(0, missing)]:
            renew(lease)
        for lease in self._offered(rater_id):
            if lease.expires_at - live.now < self._seconds / 2:
                renew(lease)
        for _ in range(ahead - len(self._offered(rater_id))):
            assignment = choose() if choose is not None else self.next_task(rater_id)
            if assignment is None:
                break
            hand_out(assignment.task_id, assignment.purpose, assignment.shown)
        return self._offered(rater_id)

    def _offered(self, rater_id: str) -> list[Lease]:
        return [lease for lease in self._wanted(rater_id) if self._live.coverage.live(lease.lease_id)]

    def _wanted(self, rater_id: str) -> list[Lease]:
        record = self._live.state.rater(rater_id)
        leases = [self._live.state.leases[lease_id] for lease_id in record.queue]
        return [
            lease
            for lease in leases
            if not self._live.state.taken_out(lease.task_id)
            and (lease.purpose == "repeat" or lease.task_id not in record.first)  # an import may have answered it
            and (self._live.study.task_of[lease.task_id].question not in self._live.settled or lease.previous is not None)
        ]

    def given(self, rater_id: str) -> Iterator[str]:
        """Ids of all leases that a rater ever had, those of imported answers apart."""
        return (self._name(rater_id, number) for number in range(self._live.state.rater(rater_id).handed))

    def _name(self, rater_id: str, number: int) -> str:
        return content_id("lease", self._live.study.study_id, rater_id, number)
