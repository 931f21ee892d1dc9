"""What was judged, for admins: an answer beside the players as its rater saw them, and whether it counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import gradio as gr

from inpaintbench.annotate.app import routes, tables
from inpaintbench.annotate.desk.cards import media_of, outline_of, players_of
from inpaintbench.annotate.player import ComparisonPlayer, Shown
from inpaintbench.errors import InputError
from inpaintbench.pages.words import moment

if TYPE_CHECKING:
    from inpaintbench.annotate.app.tables import View
    from inpaintbench.annotate.desk.desk import Desk
    from inpaintbench.annotate.journal.accounts import Rater
    from inpaintbench.annotate.records import Exclusion, Vote
    from inpaintbench.annotate.study import Study

# Answers that the list offers: the newest of those asked for.
MOST = 200
_EVERYBODY = ""
# Asks who calls, and gives the admin's rater id, the raters of the study, and what the admin may see of it.
Checked = Callable[[gr.Request], tuple[str, Sequence["Rater"], "View"]]


def shown_of(study: Study, vote: Vote) -> Shown:
    """The players as the rater saw them, with names that they did not see; what they chose has a tick."""
    task = study.task_of[vote.task_id]
    proxy = study.proxies[task.proxy]
    players = players_of(proxy, vote.sides)
    for player in players:
        if player["place"] is not None and vote.candidates:
            method = vote.sides[player["place"]]
            player["label"] = f"{player['label']}  {method}{'  ✓' if vote.choice == method else ''}"
    return Shown(media=media_of(proxy), players=players, outline=outline_of(proxy))


class Review:
    """Actions of the tab."""

    def __init__(self, study: Study, *, desk: Desk, checked: Checked) -> None:
        self._study = study
        self._desk = desk
        self._checked = checked

    def offer(self, rater_id: str, question: str, request: gr.Request) -> tuple[Any, Any]:
        """The raters to choose from, and the answers of one or all, newest first."""
        _, raters, _ = self._checked(request)
        names = {rater.rater_id: rater.name for rater in raters}
        choices = [(self._line(vote, names), vote.submission_id) for vote in self._votes(rater_id, question)]
        people = [("Everybody", _EVERYBODY), *((rater.name, rater.rater_id) for rater in raters if not rater.is_admin)]
        return gr.update(choices=people), gr.update(choices=choices)

    def look(self, submission_id: str | None, request: gr.Request) -> tuple[Shown | None, str]:
        """Players and facts of an answer."""
        _, raters, view = self._checked(request)
        vote = self._vote(submission_id)
        if vote is None:
            return None, tables.heading("Choose an answer to see what was judged.")
        names = {rater.rater_id: rater.name for rater in raters}
        called, seen = names.get(vote.rater_id, vote.rater_id), view.vote(vote)
        return shown_of(view.study, seen), tables.judged(view.study, seen, called, self._why(vote))

    def step(self, steps: int, submission_id: str | None, rater_id: str, question: str, request: gr.Request) -> Any:
        """The next or the last answer of the list; its first where none is chosen."""
        self._checked(request)
        listed = [vote.submission_id for vote in self._votes(rater_id, question)]
        if not listed:
            return gr.update()
        at = listed.index(submission_id) + steps if submission_id in listed else 0
        return listed[min(max(at, 0), len(listed) - 1)]

    def decide(self, what: str, submission_id: str | None, reason: str, request: gr.Request) -> str:
        """Exclude or include an answer, or all of its rater's; a sentence that says so."""
        admin, _, _ = self._checked(request)
        vote = self._vote(submission_id)
        if vote is None:
            return "Choose an answer first."
        which = None if what.endswith("rater") else vote.submission_id
        act = self._desk.exclude if what.startswith("exclude") else self._desk.include
        try:
            changed = act(vote.rater_id, submission_id=which, reason=str(reason or ""), by=admin)
        except InputError as error:
            return f"{str(error)[:1].upper()}{str(error)[1:]}."
        if not changed:
            return "Nothing changed: it was so already."
        subject = "This answer" if which else "Everything of this rater"
        return f"{subject} {'counts for nothing now' if what.startswith('exclude') else 'counts again'}. It stays in the journal."

    def _votes(self, rater_id: str, question: str) -> list[Vote]:
        sent = self._desk.newest(MOST, rater_id=rater_id or None, question=question or None, kind="answer")
        return [row.vote for row in sent if row.vote is not None]

    def _vote(self, submission_id: str | None) -> Vote | None:
        return None if not submission_id else self._desk.vote(submission_id)

    def _why(self, vote: Vote) -> Exclusion | None:
        about = (None, vote.submission_id)
        decisions = (of for of in self._desk.exclusions() if of.rater_id == vote.rater_id and of.submission in about)
        return next(decisions, None)

    def _line(self, vote: Vote, names: dict[str, str]) -> str:
        task = self._study.task_of[vote.task_id]
        return (
            f"{moment(vote.at)} · {names.get(vote.rater_id, vote.rater_id)} · {vote.question} · {task.caption or task.subject_id}"
        )


_ACTS = {
    "exclude answer": "Exclude this answer",
    "include answer": "Include it again",
    "exclude rater": "Exclude its rater",
    "include rater": "Include the rater again",
}


def review_tab(page: gr.Blocks, study: Study, *, review: Review, quiet: dict[str, Any]) -> None:
    """Draw the tab's components and join them to ``review``."""
    with gr.Column(elem_classes=["deck", "people"]):
        with gr.Row(elem_classes="acts"):
            rater = gr.Dropdown(
                label="Rater", choices=[("Everybody", _EVERYBODY)], value=_EVERYBODY, elem_id="whose", min_width=140
            )
            questions = [("Every question", ""), *((label, label) for label in study.spec_of)]
            question = gr.Dropdown(label="Question", choices=questions, value="", elem_id="which", min_width=140)
        with gr.Row(elem_classes="acts"):
            answer = gr.Dropdown(
                label="Answer", choices=[], value=None, allow_custom_value=True, elem_id="answer", min_width=240, scale=4
            )
            back, on = (gr.Button(text, min_width=90) for text in ("Newer", "Older"))
    player = ComparisonPlayer(modules=routes.PLAYER_MODULES, height=420, elem_id="judged", min_width=0)
    facts = gr.HTML(elem_classes="tables", elem_id="facts", apply_default_css=False)
    with gr.Column(elem_classes=["deck", "people"]):
        reason = gr.Textbox(label="Why (stands in the journal and in the report)", max_lines=1, elem_id="reason")
        with gr.Row(elem_classes="acts"):
            buttons = {what: gr.Button(text, min_width=150, elem_id=what.replace(" ", "-")) for what, text in _ACTS.items()}
        decided = gr.Textbox(interactive=False, elem_id="decided", container=False, show_label=False, lines=1, visible=False)
    listed = [rater, answer]
    for event in (page.load, rater.change, question.change, answer.focus):
        event(review.offer, [rater, question], listed, **quiet)
    answer.change(review.look, answer, [player, facts], **quiet)
    for button, steps in ((back, -1), (on, 1)):
        button.click(_stepping(review, steps), [answer, rater, question], answer, **quiet)
    for what, button in buttons.items():
        done = button.click(_deciding(review, what), [answer, reason], decided, **quiet)
        done.then(review.look, answer, [player, facts], **quiet)


def _stepping(review: Review, steps: int) -> Callable[..., Any]:
    def step(answer: str | None, rater: str, question: str, request: gr.Request) -> Any:
        return review.step(steps, answer, rater, question, request)

    return step


def _deciding(review: Review, what: str) -> Callable[..., Any]:
    def decide(answer: str | None, reason: str, request: gr.Request) -> Any:
        return gr.update(value=review.decide(what, answer, reason, request), visible=True)

    return decide
