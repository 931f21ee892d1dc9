"""The page: sections filled into one template, with its style inside."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib import resources
from string import Template
from urllib.parse import quote

from inpaintbench.annotate.questions.base import SHOWN
from inpaintbench.annotate.report.comparisons import comparison_panels, dimensions_panel
from inpaintbench.annotate.report.facts import coverage, median_seconds
from inpaintbench.annotate.report.labelling import labelling_panels, read_by_raters
from inpaintbench.annotate.report.markup import breakable, count, duration, moment, percent
from inpaintbench.annotate.report.people import pace_panels, raters_table
from inpaintbench.annotate.report.records import Material

_COMPARED = ("pair", "set")
_NOTE = (
    "Numbers are of answers that stand: what was undone is left out, and gold tasks and silent repeats count for nothing but the "
    "checks of raters. Intervals are 95 % and resample the sources of clips unless it is said otherwise."
)


def render(material: Material, *, downloads: Sequence[str]) -> str:
    """The whole page as HTML text; ``downloads`` are names of files beside it."""
    sections = _sections(material)
    body = "\n".join(f'<section id="{anchor}" class="part">{inside}</section>' for anchor, _, inside in sections)
    title = material.study.file.title
    parts = {
        "title": escape(title),
        "heading": breakable(title),
        "subtitle": " · ".join(_subtitle(material)),
        "cards": _cards(material),
        "links": "".join(f'<a href="#{anchor}">{escape(words)}</a>' for anchor, words, _ in sections),
        "downloads": _downloads(downloads),
        "body": body,
        "note": f"{_NOTE} Study <code>{escape(material.study.study_id)}</code>.",
        "style": _asset("style.css"),
    }
    return Template(_asset("page.html")).substitute(parts)


def _sections(material: Material) -> list[tuple[str, str, str]]:
    """Anchor, short title and HTML of each."""
    found = []
    for number, spec in enumerate(material.study.file.questions, 1):
        found.append((f"question-{number}", title_of(material, spec.label), _question(material, spec.label)))
    if len(material.dimensions.get("questions", ())) > 1:
        titles = {spec.label: title_of(material, spec.label) for spec in material.study.file.questions}
        inside = dimensions_panel(material.dimensions, titles=titles)
        found.append(("dimensions", "Dimensions", f"<h2>How the dimensions go together</h2>{inside}"))
    if material.votes:
        found.append(("raters", "Raters", f"<h2>Raters</h2>{raters_table(material)}"))
        found.append(("pace", "Pace", f'<h2>Pace and playback</h2><div class="panels">{pace_panels(material)}</div>'))
    return found


def title_of(material: Material, label: str) -> str:
    """What the question is called: by the study file, else by the leaf."""
    spec, question = material.study.spec_of[label], material.study.question_of[label]
    if spec.title or spec.name:
        return spec.title or label.replace("_", " ").capitalize()
    return question.form(candidates=SHOWN[question.subject]).title


def _question(material: Material, label: str) -> str:
    spec, own = material.study.spec_of[label], coverage(material, label)
    question = material.study.question_of[label]
    facts = [
        f"<code>{breakable(label)}</code>" + (f" <small>({escape(spec.leaf)})</small>" if spec.leaf != label else ""),
        count(own.votes, "vote"),
        f"{own.tasks_done:,} of {count(own.tasks, 'task')} with {count(spec.raters_per_task, 'rater')}",
    ]
    seconds = median_seconds(material.by_question[label])
    if seconds is not None:
        facts.append(f"median {seconds:.1f} s")
    head = f'<h2>{breakable(title_of(material, label))}</h2><p class="facts">{" · ".join(facts)}</p>'
    head += read_by_raters(material, label)
    if not own.votes:
        return head + '<p class="empty">Nobody has answered this question yet.</p>'
    panels = comparison_panels(material, label) if question.subject in _COMPARED else labelling_panels(material, label)
    return f'{head}<div class="panels">{panels}</div>'


def _subtitle(material: Material) -> list[str]:
    if not material.votes:
        return [count(len(material.study.tasks), "task"), "no answers yet"]
    times = [vote.at for vote in material.votes]
    first, last = moment(min(times)), moment(max(times))
    subjects = {task.subject_id for tasks in material.tasks.values() for task in tasks}
    about = [count(len(subjects), "clip" if not material.methods else "item")]
    about += [count(len(material.methods), "method")] if material.methods else []
    return [
        *about,
        count(len(material.study.file.questions), "question"),
        f'<span class="once">{first}</span> to <span class="once">{last} UTC</span>',
    ]


def _cards(material: Material) -> str:
    tally = [coverage(material, spec.label) for spec in material.study.file.questions]
    votes, wanted = sum(one.votes for one in tally), sum(one.wanted for one in tally)
    done, tasks = sum(one.tasks_done for one in tally), sum(one.tasks for one in tally)
    checks = len(material.votes) - votes
    seconds = median_seconds(material.votes)
    filled = min(1.0, votes / wanted) if wanted else 0.0
    cards = [
        ("Votes", f"{votes:,}", f"and {count(checks, 'check')} (gold, repeats)" if checks else "no gold tasks or repeats"),
        ("Raters", f"{len(material.called):,}", f"{duration(seconds)} an answer, median" if seconds is not None else ""),
        (
            "Coverage",
            percent(filled),
            f'<i class="level"><b style="width:{100 * filled:.1f}%"></b></i>{done:,} of {count(tasks, "task")} done',
        ),
        ("State", *_state(material, done=done, tasks=tasks)),
    ]
    return "".join(f'<div class="card"><dt>{name}</dt><dd>{value}</dd><p>{words}</p></div>' for name, value, words in cards)


def _state(material: Material, *, done: int, tasks: int) -> tuple[str, str]:
    """The stop rule: what the study itself says of it, else whether every task has its raters."""
    stop = material.study.file.stop
    rule = (
        f"ends when the order is stable at {percent(stop.level)}"
        if stop.kind == "stable_ranking"
        else "ends when every task has its raters"
    )
    finished = bool(material.overview.get("done", tasks and done == tasks))
    why = str(material.overview.get("why") or rule)
    return f'<span class="state {"good" if finished else "open"}">{"Done" if finished else "Under way"}</span>', escape(why)


def _downloads(names: Sequence[str]) -> str:
    if not names:
        return ""
    links = " ".join(f'<a class="download" href="{escape(quote(name))}" download>{escape(name)}</a>' for name in names)
    return f'<p class="downloads">Download {links}</p>'


def _asset(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
