"""The page of a study: what its template is filled with, its section on excluded answers, and the file that it becomes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from inpaintbench.annotate.questions.base import Form
from inpaintbench.annotate.report.facts import coverage, median_seconds
from inpaintbench.annotate.report.material import Material
from inpaintbench.annotate.report.people import pace_panels, raters_parts, viewing_parts
from inpaintbench.annotate.report.questions import comparison_panels, dimensions_parts, labelling_panels
from inpaintbench.annotate.statistics.standings import Change, Score
from inpaintbench.errors import WorkspaceError
from inpaintbench.files import write_atomically
from inpaintbench.pages import Cell, Column, Link, Row, Table, page
from inpaintbench.pages.panels import Card, Panel, Statement
from inpaintbench.pages.words import count, duration, moment, number, percent, span

# The section on answers that are excluded: whose and why, and how results move.

_BY_HAND = "by hand"
_NOTE_LEFT_OUT = (
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
    return (*parts, _NOTE_LEFT_OUT)


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


_COMPARED = ("pair", "set")
_NOTE = (
    "Numbers are of answers that stand: what was undone is left out, and gold tasks and silent repeats count for nothing but the "
    "checks of raters. Intervals are 95 % and resample the sources of clips unless it is said otherwise."
)


class Section(NamedTuple):
    """A part of the page that its bar leads to."""

    anchor: str
    link: str
    """Short title, in the bar."""
    title: str
    lead: str = ""
    parts: Sequence[object] = ()
    panels: Sequence[Panel] = ()
    form: Form | None = None
    """Form of a question, as raters saw it."""


def render(material: Material, *, downloads: Sequence[str]) -> str:
    """The whole page as HTML text; ``downloads`` are names of files beside it."""
    sections = _sections(material)
    return page(
        "annotate/report/page.html",
        title=material.study.file.title,
        links=[Link(f"#{section.anchor}", section.link) for section in sections],
        styles=material.styles,
        subtitle=_subtitle(material),
        cards=_cards(material),
        downloads=downloads,
        sections=sections,
        note=f"{_NOTE} Study `{material.study.study_id}`.",
    )


def _sections(material: Material) -> list[Section]:
    labels = [spec.label for spec in material.study.file.questions]
    titles = material.titles
    sections = [_question(material, label, titles[label], number) for number, label in enumerate(labels, 1)]
    if len(material.dimensions.get("questions", ())) > 1:
        parts = dimensions_parts(material.dimensions, titles=titles)
        sections.append(Section("dimensions", "Dimensions", "How the dimensions go together", parts=parts))
    if material.exclusions or material.proposed or material.study.file.screening or material.warmups:
        sections.append(Section("excluded", "Excluded", "Excluded answers", parts=left_out_parts(material)))
    if material.votes:
        sections.append(Section("raters", "Raters", "Raters", parts=raters_parts(material)))
        sections.append(Section("pace", "Pace", "Pace and playback", panels=pace_panels(material)))
        sections.append(Section("seen", "Seen", "What was seen", parts=viewing_parts(material)))
    return sections


def _question(material: Material, label: str, title: str, place: int) -> Section:
    spec, own = material.study.spec_of[label], coverage(material, label)
    question = material.study.question_of[label]
    facts = [
        f"`{label}`" + (f" ({spec.leaf})" if spec.leaf != label else ""),
        count(own.votes, "vote"),
        f"{own.tasks_done:,} of {count(own.tasks, 'task')} with {count(spec.raters_per_task, 'rater')}",
    ]
    seconds = median_seconds(material.by_question[label])
    if seconds is not None:
        facts.append(f"median {seconds:.1f} s")
    draw = comparison_panels if question.subject in _COMPARED else labelling_panels
    task = next((task for task in material.study.tasks if task.question == label), None)
    return Section(
        f"question-{place}",
        title,
        title,
        lead=" · ".join(facts),
        panels=draw(material, label) if own.votes else (),
        form=None if task is None else material.study.form(task),
    )


def _subtitle(material: Material) -> str:
    if not material.votes:
        return f"{count(len(material.study.tasks), 'task')} · no answers yet"
    times = [vote.at for vote in material.votes]
    subjects = {task.subject_id for tasks in material.tasks.values() for task in tasks}
    about = [count(len(subjects), "item" if material.methods else "clip")]
    judged = [name for name in material.methods if name not in material.study.file.subjects.decoys]
    about += [count(len(judged), "method")] if judged else []
    about += [count(len(material.study.file.questions), "question"), f"{span(moment(min(times)), moment(max(times)))} UTC"]
    return " · ".join(about)


def _cards(material: Material) -> list[Card]:
    tally = [coverage(material, spec.label) for spec in material.study.file.questions]
    votes, wanted = sum(own.votes for own in tally), sum(own.wanted for own in tally)
    done, tasks = sum(own.tasks_done for own in tally), sum(own.tasks for own in tally)
    checks = len(material.votes) - votes
    seconds = median_seconds(material.votes)
    filled = min(1.0, votes / wanted) if wanted else 0.0
    finished, stop = bool(material.overview.get("done", tasks and done == tasks)), material.study.file.stop
    state, rule = "good" if finished else "open", "ends when every task has its raters"
    if stop.kind == "stable_ranking":
        rule = f"ends when the order is stable at {percent(stop.level)}"
    return [
        Card("Votes", f"{votes:,}", f"and {count(checks, 'check')} (gold, repeats)" if checks else "no gold tasks or repeats"),
        Card("Raters", f"{len(material.called):,}", "" if seconds is None else f"{duration(seconds)} an answer, median"),
        Card("Coverage", percent(filled), f"{done:,} of {count(tasks, 'task')} done", share=filled),
        # What the study itself says of its stop rule, else whether every task has its raters.
        Card("State", "Done" if finished else "Under way", str(material.overview.get("why") or rule), state=state),
        *([left_out_card(material)] if material.exclusions or material.proposed else []),
    ]


PAGE = "study.html"
_DOWNLOADS = ("*.csv", "*.json", "*.jsonl", "*.parquet")


def write_report(folder: Path, material: Material) -> Path:
    """Write ``study.html``, one page that needs nothing beside it and no network, and give its path.

    Equal material gives equal bytes. Tables that lie in ``folder`` already are linked as downloads. ``folder`` is made when it is
    not there.

    Raises:
        WorkspaceError: the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        beside = sorted(path.name for pattern in _DOWNLOADS for path in folder.glob(pattern) if path.is_file())
        write_atomically(folder / PAGE, render(material, downloads=beside).encode("utf-8", "replace"))
    except OSError as error:
        raise WorkspaceError(f"report {str(folder)!r} cannot be written: {error.strerror}") from error
    return folder / PAGE
