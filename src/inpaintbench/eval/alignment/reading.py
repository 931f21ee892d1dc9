"""What people answered: which of two results is better, or which of several is the best.

Read from a table of single answers, or from the scores ``human_preference`` of a run, which hold counts without raters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from inpaintbench.errors import InputError
from inpaintbench.eval.alignment.tables import Row, read_table
from inpaintbench.types import Score

TIE = "tie"
# The metric under which resolved answers stand among the scores of a run.
PREFERENCE = "human_preference"
_TIES = ("tie", "hard to distinguish", "hard_to_distinguish")
_BOTH_BAD = ("both_bad", "both bad")
_SIDES = (("left", "a"), ("right", "b"))
_PURPOSES = {"gold": "answers to tasks whose answer was known", "repeat": "answers to tasks that were asked again"}


@dataclass(frozen=True)
class Ballot:
    """One answer, or several equal ones of raters that nobody tells apart."""

    dimension: str
    """What was asked: the name of the question."""
    item: str
    source: str
    """What the item comes from; answers about one source resemble each other."""
    candidates: tuple[str, ...]
    """The methods that were shown, from left to right."""
    choice: str
    """One of them, or ``tie`` where two were compared."""
    rater: str | None
    """None where raters are unknown."""
    count: int = 1


@dataclass(frozen=True)
class Answers:
    """All answers that count, and what was left out."""

    ballots: tuple[Ballot, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Why -> answers."""

    @property
    def pairs(self) -> tuple[Ballot, ...]:
        """Those that compare two methods."""
        return tuple(one for one in self.ballots if len(one.candidates) == 2)

    @property
    def rows(self) -> tuple[Ballot, ...]:
        """Those that choose one of three methods or more."""
        return tuple(one for one in self.ballots if len(one.candidates) > 2)


def without(answers: Answers, methods: Collection[str]) -> Answers:
    """The answers that show none of ``methods``; the others are left out and counted."""
    kept = tuple(one for one in answers.ballots if not set(methods).intersection(one.candidates))
    lost = sum(one.count for one in answers.ballots) - sum(one.count for one in kept)
    why = {"answers about a reference method, which does not compete": lost} if lost else {}
    return Answers(kept, {**answers.left_out, **why})


def read_answers(path: Path, *, sources: Mapping[str, str] | None = None) -> Answers:
    """Answers from a ``.csv``, ``.jsonl`` or ``.parquet`` file, one a line.

    Columns: ``annotator`` (or ``rater_id``, ``rater``); ``group`` (or ``item``, ``subject_id``); ``dimension`` (or ``question``);
    ``left`` and ``right``, or a list of methods as ``shown`` or ``candidates``; ``choice``: a method, ``left`` or ``A``,
    ``right`` or ``B``, ``tie`` or ``hard to distinguish``, ``both_bad``; and, where there is one, ``source`` (or ``cluster``).
    That takes tables of EditBoard's kind and those of ``inpaintbench annotate export``. Answers to gold tasks, repeats, a
    rater's second answer to the same task and "both bad" are left out and counted.

    Args:
        path: of the file.
        sources: item -> its source; wins over the file's column. Without either each item is its own source.

    Raises:
        InputError: not readable, a line without what is needed or with another choice, or no answer at all.
    """
    found: list[Ballot] = []
    seen: set[tuple[object, ...]] = set()
    left_out = Counter[str]()
    for row in read_table(path):
        purpose = row.first("purpose") or "vote"
        if "left" not in row.cells and "candidates" in row.cells and len(row.names("candidates")) < 2:
            left_out["answers about one result alone"] += 1
            continue
        one = _ballot(row, sources or {})
        task = (one.rater, one.dimension, one.item, tuple(sorted(one.candidates)))
        if purpose in _PURPOSES:
            left_out[_PURPOSES[purpose]] += 1
        elif task in seen:
            left_out["second answers of a rater to the same task"] += 1
        elif one.choice in _BOTH_BAD:
            seen.add(task)
            left_out["answers that both are bad"] += 1
        else:
            seen.add(task)
            found.append(one)
    if not found:
        raise InputError(f"{str(path)!r} holds no answers about two or more methods")
    return Answers(tuple(found), dict(left_out))


def _ballot(row: Row, sources: Mapping[str, str]) -> Ballot:
    left, right = row.first("left"), row.first("right")
    shown = (left, right) if left and right else row.names("shown") or row.names("candidates")
    if len(shown) < 2 or len(set(shown)) < len(shown):
        raise InputError(
            f"{row.where} shows the methods {', '.join(shown) or 'none'}; it takes two different ones or more, as left and right "
            "or as shown"
        )
    item = row.needed("item", "subject_id", "group")
    return Ballot(
        dimension=row.needed("dimension", "question"),
        item=item,
        source=sources.get(item) or row.first("source", "cluster") or item,
        candidates=shown,
        choice=_choice(row, shown),
        rater=row.needed("rater_id", "annotator", "rater"),
    )


def _choice(row: Row, shown: Sequence[str]) -> str:
    told = row.needed("choice")
    if told in shown:
        return told
    plain = told.lower()
    if len(shown) == 2:
        for name, words in zip(shown, _SIDES, strict=True):
            if plain in words:
                return name
        if plain in _TIES:
            return TIE
        if plain in _BOTH_BAD:
            return plain
    choices = [*shown, "left", "right", TIE, "both_bad"] if len(shown) == 2 else shown
    raise InputError(f"{row.where}: choice is {told!r}, choose from {', '.join(choices)}")


def answers_of_scores(scores: Iterable[Score], *, sources: Mapping[str, str]) -> Answers:
    """Answers as they stand among the scores of a run, after ``inpaintbench annotate resolve``: counts, without raters.

    Args:
        scores: of a run; those of other metrics are passed over.
        sources: item -> its source.

    Raises:
        InputError: no score of ``human_preference`` holds votes on two or more methods.
    """
    rows = [row for row in scores if row.metric == PREFERENCE]
    ballots: list[Ballot] = []
    left_out = Counter[str]()
    for row in rows:
        source, dimension = sources.get(row.item_id, row.item_id), row.protocol.rpartition("/")[2]
        for other, of in row.details.get("against", {}).items():
            if row.method < other:  # both methods of a pair tell of the same votes
                shown = (row.method, other)
                told = {row.method: of["wins"], other: of["losses"], TIE: of["ties"]}
                ballots += [
                    Ballot(dimension, row.item_id, source, shown, choice, None, count) for choice, count in told.items() if count
                ]
                left_out["answers that both are bad"] += of["both_bad"]
    ballots += _best_of(rows, sources)
    if not ballots:
        raise InputError(
            f"no score of {PREFERENCE!r} holds votes on two or more methods; run `inpaintbench annotate resolve`, or give a "
            "table of answers"
        )
    return Answers(tuple(ballots), {why: count for why, count in left_out.items() if count})


def _best_of(rows: Sequence[Score], sources: Mapping[str, str]) -> list[Ballot]:
    """Answers to which of several is best; every method of a row of results tells how often it was chosen."""
    chosen: dict[tuple[str, str], dict[str, int]] = {}
    for row in rows:
        if row.details.get("of"):
            chosen.setdefault((row.protocol.rpartition("/")[2], row.item_id), {})[row.method] = row.details["chosen"]
    return [
        Ballot(dimension, item, sources.get(item, item), tuple(sorted(of)), method, None, count)
        for (dimension, item), of in chosen.items()
        for method, count in of.items()
        if count
    ]
