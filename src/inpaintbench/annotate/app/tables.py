"""Tables and bars of the admin's page, drawn by the templates of all pages, and the letters that hide methods in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from inpaintbench.annotate.desk.cards import letter
from inpaintbench.annotate.records import Standing, Vote, is_right
from inpaintbench.annotate.study import Study
from inpaintbench.pages import Cell, Column, Row, Table, render
from inpaintbench.pages.page import STYLESHEETS, TOKENS, asset
from inpaintbench.pages.panels import Bar, Bars, Card, Fact, Facts
from inpaintbench.pages.words import DASH, count, duration, moment, percent
from inpaintbench.types import content_id

if TYPE_CHECKING:
    from inpaintbench.annotate.desk.desk import Desk
    from inpaintbench.annotate.journal.accounts import Person, Rater
    from inpaintbench.annotate.records import Edit, Exclusion, Submission


# Methods under letters: how admins see a study before it ends, unless they may see the names.
#
# Everything an admin is shown is worked out from answers and tasks in which the names are letters already, so no page can tell
# one. The letters are the same on all pages and for all admins, and their order follows from a hash: the alphabet tells
# nothing.


class Views:
    """Which view of a study an admin has.

    Args:
        desk: knows the study as it is now, and whether it has ended.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._both: tuple[View, View] | None = None

    def of(self, person: Person) -> View:
        """The names for those who may see them, and for everybody once the study has its answers; letters for others."""
        named = person.sees_methods or self._desk.done()
        study, both = self._desk.study, self._both
        if both is None or both[0].study is not study:
            both = self._both = View(study, letters=False), View(study, letters=True)
        return both[0] if named else both[1]


class View:
    """A study as it is, or with methods that are called ``method A``, ``method B`` ...

    Args:
        study: prepared.
        letters: in the place of names.
    """

    def __init__(self, study: Study, *, letters: bool) -> None:
        self.study = study
        names = {name for task in study.tasks for name in task.candidates} if letters else ()
        mixed = sorted(names, key=lambda name: content_id(study.study_id, "letters", name))
        self._called = {name: f"method {letter(place)}" for place, name in enumerate(mixed)}
        self.letters = bool(self._called)
        """Whether there are names that are not told."""
        if not self._called:
            return
        tasks, proxies = [], {}
        for task in study.tasks:
            gold = tuple(self._called.get(choice, choice) for choice in task.gold) if task.candidates else task.gold
            tasks.append(replace(task, candidates=tuple(sorted(self._names(task.candidates))), gold=gold))
        for name, proxy in study.proxies.items():
            tiles = (replace(tile, candidate=tile.candidate and self._called[tile.candidate]) for tile in proxy.tiles)
            proxies[name] = replace(proxy, tiles=tuple(tiles))
        self.study = replace(study, tasks=tuple(tasks), proxies=proxies)

    def told(self, answers: str) -> str:
        """Right answers, divided by ``|``, with letters for names."""
        return "|".join(self._called.get(name, name) for name in answers.split("|"))

    def meant(self, answer: str) -> str:
        """An answer with the name for its letters."""
        return next((name for name, called in self._called.items() if called == answer), answer)

    def vote(self, vote: Vote) -> Vote:
        """An answer with letters for names."""
        if not self._called or not vote.candidates:
            return vote
        shown, candidates = self._names(vote.shown), tuple(sorted(self._names(vote.candidates)))
        choice = self._called.get(vote.choice, vote.choice) if vote.choice in vote.candidates else vote.choice
        return replace(vote, candidates=candidates, shown=shown, choice=choice)

    def standing(self, of: Standing) -> Standing:
        """Answers with letters for names."""
        if not self._called:
            return of
        votes, everything, excluded = ([self.vote(vote) for vote in some] for some in (of.votes, of.everything, of.excluded))
        return replace(of, votes=votes, everything=everything, excluded=excluded, edits=self.edits(of.edits))

    def edits(self, edits: Sequence[Edit]) -> list[Edit]:
        """Changes of the study with letters for names."""
        gold = {
            one: replace(one, before=self.told(one.before), after=self.told(one.after)) for one in edits if one.what == "gold"
        }
        return [gold.get(one, one) for one in edits]

    def overview(self, overview: Mapping[str, Any]) -> dict[str, Any]:
        """The overview of the desk with letters for names."""
        raters = [
            {**row, "first_places": {self._called.get(name, name): n for name, n in row["first_places"].items()}}
            for row in overview["raters"]
        ]
        return {**overview, "raters": raters}

    def _names(self, names: Sequence[str]) -> tuple[str, ...]:
        return tuple(self._called[name] for name in names)


RATER_COLUMNS = (
    "Rater", "State", "Answers", "Skips", "Median time", "Last hour", "Right on checks", "Same on repeats", "Stutter",
    "Last seen",
)  # fmt: skip
NEWEST_COLUMNS = ("When", "Rater", "Question", "Item", "Answer", "Words", "Time")
# Of Gradio's page: the stylesheet of all pages applies to what is drawn here and to nothing of Gradio's.
HEAD = render(
    "annotate/app/admin_head.html",
    tokens=Markup(asset(TOKENS)),
    style=Markup("\n".join(asset(path) for path in STYLESHEETS if path != TOKENS)),
    own=Markup(asset("annotate/app/admin.css")),
)


def summary(overview: Mapping[str, Any], *, letters: bool = False) -> str:
    """Title, whether the study is done and why, and the numbers that matter, as HTML; ``letters``: methods have no names yet."""
    questions, raters = overview["questions"], overview["raters"]
    needed = sum(0 if question["done"] else max(0, question["needed"] - question["votes"]) for question in questions)
    pace, at_work = overview["votes_last_hour"], sum(rater["at_work"] for rater in raters)
    alarming = {
        "paused by checks": sum(rater["paused"] for rater in raters),
        "items that do not play": len(overview["taken_out"]) + len(overview["reported_broken"]),
    }
    cards = [
        Card("answers given", f"{sum(rater['answered'] for rater in raters):,}"),
        Card("votes still needed", f"{needed:,}"),
        Card("votes in the last hour", f"{pace:,}"),
        Card("left at this pace", duration(max(60.0, 3600 * needed / pace) if needed and pace else None)),
        Card(
            "rater at work" if at_work == 1 else "raters at work", f"{at_work:,}", note=f"of {count(len(raters), 'rater')} so far"
        ),
        *(Card(term, f"{n:,}", state="open" if n else "") for term, n in alarming.items()),
    ]
    why = f"{overview['why']} Until then methods are called by letters." if letters else overview["why"]
    return drawn(study=overview["study"]["title"], done=overview["done"], paused=overview.get("paused"), why=why, cards=cards)


def coverage(overview: Mapping[str, Any]) -> str:
    """One bar a question: votes of those that it needs, as HTML."""
    bars = []
    for question in overview["questions"]:
        tasks, done = max(question["tasks"] - question["taken_out"], 0), question["done"]
        # Votes beyond those that a task needs must not make up for another task's.
        share = 1.0 if done or not question["needed"] else min(0.99, question["votes"] / question["needed"])
        each = "one" if question["raters_per_task"] == 1 else question["raters_per_task"]
        note = f"{count(question['votes'], 'vote')}; {question['covered']:,} of {count(tasks, 'task')} have their {each}"
        note += ", order settled" if question["settled"] else ""
        bars.append(Bar(question["name"], share, percent(share, 0), note, "var(--good)" if done else ""))
    return drawn("Coverage", Bars("Coverage", tuple(bars)))


def raters(people: Sequence[Rater], overview: Mapping[str, Any]) -> str:
    """A row a rater, whoever was added or answered, as HTML."""
    added = {person.rater_id: person for person in people}
    at_work = {rater["rater_id"]: rater for rater in overview["raters"]}
    rows = []
    for rater_id in dict.fromkeys((*added, *at_work)):
        person, work = added.get(rater_id), at_work.get(rater_id)
        name = at_work[rater_id]["name"] if person is None else person.name
        if person is None:
            state = "imported"
        elif person.revoked:
            state = "shut out"
        elif work is None:
            state = "admin" if person.is_admin else "not begun"
        elif work["excluded"] or work["outcome"]:
            state = "excluded" if work["excluded"] else str(work["outcome"]).replace("_", " ")
        else:
            state = "paused" if work["paused"] else "admin" if person.is_admin else "active"
        if work is None:
            cells = [Cell("0"), Cell("0"), *[Cell(DASH)] * (len(RATER_COLUMNS) - 4)]
        else:
            cells = [
                Cell(f"{work['answered']:,}"), Cell(f"{work['skipped']:,}"), Cell(duration(work["median_seconds"])),
                Cell(f"{work['answered_last_hour']:,}"), _share(work["gold"]), _share(work["consistency"]),
                Cell(percent(work["stuttered_fraction"])), Cell(_when(work["last_seen"])),
            ]  # fmt: skip
        rows.append(Row((Cell(name), Cell(state), *cells)))
    return _table("Raters", RATER_COLUMNS, rows, numeric=range(2, 9))


def newest(view: View, sent: Sequence[Submission], people: Sequence[Rater]) -> str:
    """A row an answer or skip, as HTML."""
    names = {person.rater_id: person.name for person in people}
    rows = []
    for row in sent:
        task, vote = view.study.task_of[row.task_id], row.vote and view.vote(row.vote)
        words = [text for part, text in vote.given.items() if part.endswith("_text")] if vote else []
        texts = (
            _when(row.at), names.get(row.rater_id, row.rater_id), task.question, task.caption or task.subject_id,
            vote.choice if vote else f"skipped: {row.reason}", " ".join(words) or row.text,
            duration(vote.seconds if vote else None),
        )  # fmt: skip
        rows.append(Row(tuple(map(Cell, texts))))
    return _table("Newest answers", NEWEST_COLUMNS, rows, numeric=(6,))


def judged(study: Study, vote: Vote, name: str, excluded: Exclusion | None) -> str:
    """The facts of one answer, as HTML."""
    task = study.task_of[vote.task_id]
    options = {option.value: option.label for part in study.form(task).parts for option in part.options}
    given = [(part, options.get(value, value)) for part, value in vote.given.items()]
    rows = [
        Fact("Rater", name, f"{moment(vote.at)} UTC"),
        Fact("Question", study.form(task).title, vote.question),
        Fact("Item", task.caption or task.subject_id, task.subject_id if task.caption not in ("", task.subject_id) else ""),
        *(Fact(part.replace("_", " ").capitalize(), words) for part, words in given),
        Fact("Counted as", vote.choice, _PURPOSES.get(vote.purpose, vote.purpose)),
        Fact("Time", duration(vote.seconds), "playing stuttered" if vote.stuttered else ""),
    ]
    if task.gold:
        near = "near enough as a check" if is_right(study, vote) else "not given"
        rows.append(Fact("Known answer", " or ".join(sorted(task.gold)), "right" if vote.choice in task.gold else near))
    if excluded is not None:
        rows.append(Fact("Excluded", excluded.reason, excluded.rule.replace("_", " ") if excluded.rule else "by hand"))
    return drawn("What was judged", Facts(tuple(rows)))


_PURPOSES = {
    "vote": "a vote", "gold": "a check with a known answer", "repeat": "asked a second time", "training": "practice",
    "test": "a test beforehand", "warmup": "a first task, to settle in", "honey": "pictures say what to choose",
}  # fmt: skip


def notes(study: Study, overview: Mapping[str, Any]) -> str:
    """The last words of raters, newest first, as HTML."""
    names = {rater["rater_id"]: rater["name"] for rater in overview["raters"]}
    rows = []
    for said in reversed(overview["remarks"]):
        task, name = study.task_of[said["task_id"]], names.get(said["rater_id"], said["rater_id"])
        rows.append(Row((Cell(said["text"], below=f"{name}, {task.question}, {task.caption or task.subject_id}"),)))
    return _table("What raters wrote", ("Words",), rows, numeric=())


def _table(heading: str, columns: Sequence[str], rows: Sequence[Row], *, numeric: Sequence[int]) -> str:
    heads = tuple(Column(column, numeric=place in numeric) for place, column in enumerate(columns))
    return drawn(heading, Table(heads, tuple(rows), label=heading) if rows else "None yet.")


def drawn(heading: str = "", *content: object, **parts: Any) -> str:
    """A part of the page as HTML: its title, and what stands below."""
    return str(render("annotate/app/part.html", heading=heading, content=content, styles={}, **parts))


def _share(share: Mapping[str, Any]) -> Cell:
    return Cell(percent(share["share"]), note=f"{share['right']} of {share['asked']}") if share["asked"] else Cell(DASH)


def _when(at: float | None) -> str:
    return DASH if at is None else f"{moment(at)} UTC"
