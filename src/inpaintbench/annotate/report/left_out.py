"""The section on answers that are excluded: whose and why, and how results move."""

from __future__ import annotations

from collections import Counter

from inpaintbench.annotate.report.records import Material
from inpaintbench.annotate.statistics.exclusions import Change, Score
from inpaintbench.pages import Cell, Column, Row, Table
from inpaintbench.pages.panels import Card, Statement
from inpaintbench.pages.words import count, number

_BY_HAND = "by hand"
_NOTE = (
    "Excluded answers stay in the journal and can be included again; nothing else on this page counts them. Rules are those that "
    "the study file states before the first answer. A verdict is that one method is better, where the intervals of their ranks "
    "(or of their numbers, where a question gives no ranks) are apart."
)


def left_out_card(material: Material) -> Card:
    """How many answers do not count, and whether a verdict hangs on them."""
    raters = {vote.rater_id for vote in material.excluded}
    note = f"of {count(len(raters), 'rater')}; {_verdicts(len(material.changes))}" if raters else ""
    if waiting := {of.rater_id for of in material.waiting}:
        note += f"{'; ' if note else ''}{count(len(waiting), 'more rater' if raters else 'rater')} flagged by rules"
    return Card("Excluded", count(len(material.excluded), "answer"), note, state="open" if material.changes else "")


def _verdicts(changed: int) -> str:
    return f"{count(changed, 'verdict')} on methods would be another one with them" if changed else "no verdict hangs on them"


def left_out_parts(material: Material) -> tuple[object, ...]:
    """Who is excluded and why, results with and without, and the verdicts that change."""
    parts: list[object] = [*_settling(material), *_stated(material)]
    if material.exclusions or material.proposed:
        parts.append(_who(material))
    if material.without_proposed is not None:
        moved = len(material.proposed_changes)
        verdicts = f"{count(moved, 'verdict')} on methods would be another one" if moved else "every verdict on methods stays"
        flagged = len({of.rater_id for of in material.waiting if of.alone})
        words = f"Without {'the rater' if flagged == 1 else f'the {flagged} raters'} whom rules propose {verdicts}."
        parts.append(Statement(words, state="open" if moved else "same", good=not moved))
    if material.everything is not None and material.counted is not None:
        statement = f"{_verdicts(len(material.changes))[:1].upper()}{_verdicts(len(material.changes))[1:]}."
        state = "moved" if material.changes else "same"
        parts.append(Statement(statement, state=state, good=not material.changes))
        if material.changes:
            parts.append(_changes(material))
        parts.append(_results(material))
    return (*parts, _NOTE)


def _settling(material: Material) -> list[Statement]:
    if not material.warmups:
        return []
    first = count(material.study.file.checks.warmup, "task")
    words = f"The first {first} of each rater, to settle in, are not counted: {count(material.warmups, 'answer')}."
    return [Statement(words, state="stated")]


def _stated(material: Material) -> list[Statement]:
    """When the rules were stated: chosen after a look at results, they would void every interval."""
    rules = ", ".join(name.replace("_", " ") for name in material.study.file.screening)
    if not rules:
        return []
    late = [stated for stated in material.stated if stated.answers]
    if not material.stated:
        return [Statement(f"Rules of the study file: {rules}. The journal does not say since when.", state="open", good=False)]
    if not late:
        return [Statement(f"Rules, stated before the first answer: {rules}.", state="stated")]
    return [
        Statement(f"Rules: {rules}. They were changed after {count(late[-1].answers, 'answer')}.", state="changed", good=False)
    ]


def _who(material: Material) -> Table:
    of_rater = Counter(vote.rater_id for vote in material.excluded)
    rows = []
    for exclusion in material.exclusions:
        whole = exclusion.submission is None
        what = count(of_rater[exclusion.rater_id], "answer") if whole else "1 answer"
        rows.append(Row((
            Cell(material.called.get(exclusion.rater_id, exclusion.rater_id)),
            Cell("all" if whole else "one", note=what),
            Cell(exclusion.rule.replace("_", " ") if exclusion.rule else _BY_HAND),
            Cell(exclusion.reason),
        )))  # fmt: skip
    for of in material.waiting:
        called = material.called.get(of.rater_id, of.rater_id)
        rows.append(Row((Cell(called), Cell("counted"), Cell(of.rule.replace("_", " "), tags=("proposed",)), Cell(of.reason))))
    columns = (Column("Rater"), Column("Answers"), Column("By"), Column("Why", wide=True))
    return Table(columns, tuple(rows), label="Excluded answers")


def _changes(material: Material) -> Table:
    rows = [
        Row((Cell(material.titles.get(of.question, of.question)), Cell(_said(of, of.counted)), Cell(_said(of, of.everything))))
        for of in material.changes
    ]
    return Table((Column("Question"), Column("As it counts"), Column("With all answers")), tuple(rows), label="Changed verdicts")


def _said(change: Change, verdict: str) -> str:
    if verdict == "open":
        return f"{change.first} and {change.second}: open"
    better, worse = (change.first, change.second) if verdict == "first" else (change.second, change.first)
    return f"{better} before {worse}"


def _results(material: Material) -> Table:
    assert material.everything is not None
    assert material.counted is not None
    before, after = material.everything.scores(), material.counted.scores()
    rows = []
    for label, methods in before.items():
        for name, score in sorted(methods.items(), key=lambda row: (-(row[1].value or 0), row[0])):
            now = after.get(label, {}).get(name)
            title = material.titles.get(label, label)
            rows.append(Row((Cell(title), Cell(name, method=name), _number(now), _number(score))))
    columns = (
        Column("Question"), Column("Method"), Column("As it counts", numeric=True), Column("With all answers", numeric=True)
    )  # fmt: skip
    return Table(columns, tuple(rows), label="Results with and without excluded answers")


def _number(score: Score | None) -> Cell:
    if score is None:
        return Cell(number(None, 2))
    interval = "" if score.low is None else f"{number(score.low, 2)} to {number(score.high, 2)}, "
    return Cell(number(score.value, 2), score.value, note=f"{interval}n {score.votes:,}")
