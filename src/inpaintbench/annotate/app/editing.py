"""The page on which an admin changes a study while it runs: plain forms, one for each thing, without a script."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from fastapi import APIRouter, Request
from markupsafe import Markup
from starlette.responses import HTMLResponse, Response

from inpaintbench.annotate.app.tables import View, Views
from inpaintbench.annotate.desk import edits
from inpaintbench.errors import InputError
from inpaintbench.pages import render
from inpaintbench.pages.page import TOKENS, asset
from inpaintbench.pages.words import count, moment

if TYPE_CHECKING:
    from inpaintbench.annotate.desk.desk import Desk, Editable
    from inpaintbench.annotate.journal.accounts import People
    from inpaintbench.annotate.records import What

# Items without a known answer that are offered at once.
_FOUND = 20
# Fields of a form; a question has less than 20 answers.
_MOST_FIELDS = 64
_SAVED: dict[str, str] = {
    "welcome": "Saved. Who comes from now on reads the new text.",
    "places": "Saved. Tell the platform too, if it is to send more people or fewer.",
    "gold": "Saved. Answers are held against it from now on; those given before stay as they were graded.",
    "paused yes": "The study is paused. People finish what they have in hand, and nobody gets anything new.",
    "paused no": "The study goes on. Pages that wait ask again by themselves.",
}
_SAVED_TEXT = "Saved. It is read from the next task on; answers keep the text under which they were given."


@dataclass(frozen=True)
class Field:
    """A form that changes one thing."""

    what: What
    of: str
    label: str
    value: str
    """In the box, which need not be what is stored."""
    stored: str
    note: str = ""
    options: dict[str, str] = field(default_factory=dict)
    """Of a known answer: what may be right -> how it is called."""
    least: int = 1
    """Of places."""
    picture: str = ""
    """Address of what the item looks like."""


def editing_routes(*, desk: Desk, people: People) -> APIRouter:
    """``GET /admin/edit``, with ``?find=`` for items without a known answer, and ``POST``, which changes one thing."""
    router, views = APIRouter(prefix="/admin"), Views(desk)

    def page(
        request: Request, *, find: str = "", said: str = "", typed: tuple[str, str, str] | None = None, status: int = 200
    ) -> Response:
        view, known = views.of(request.state.person), desk.editable()
        names = people.names(known.study.study_id)
        html = render(
            "annotate/app/edit.html", tokens=Markup(asset(TOKENS)), title=known.study.file.title, said=said, bad=status != 200,
            languages=", ".join(known.study.file.languages), paused=known.paused, seen=len(known.edits), find=find,
            longest=edits.LONGEST,
            texts=_texts(known, typed), places=_places(known, typed), gold=list(_gold(known, view, typed, find=None)),
            found=list(_gold(known, view, typed, find=find)), history=_history(known, view, names),
        )  # fmt: skip
        return HTMLResponse(html, status_code=status)

    @router.get("/edit")
    def form(request: Request) -> Response:
        return page(request, find=request.query_params.get("find", "").strip()[:200])

    @router.post("/edit")
    def save(request: Request) -> Response:
        try:
            sent = parse_qs(request.state.body.decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict")
            what: Any = sent["what"][0]
            of, seen, given = sent.get("of", [""])[0], int(sent["seen"][0]), sent.get("value", [""] * (what == "gold"))
        except (ValueError, KeyError):
            return page(request, said="Something is missing in this form; open the page again.", status=400)
        view, admin = views.of(request.state.person), request.state.person.rater_id
        value = "|".join(filter(None, map(view.meant, given))) if what == "gold" else "".join(given[:1])
        find = sent.get("find", [""])[0]
        try:
            changed = desk.edit(what, of, value, by=admin, seen=seen)
        except InputError as error:
            sentence, late = str(error), isinstance(error, edits.ChangedMeanwhile)
            if late:
                last = next(one for one in reversed(desk.editable().edits) if (one.what, one.of) == (what, of))
                who = people.names(desk.study.study_id).get(last.by, last.by)
                sentence = f"{who} changed this meanwhile; what you wrote stands below, and saving it again takes its place"
            return page(
                request, find=find, said=f"{sentence[:1].upper()}{sentence[1:]}.", typed=(what, of, value),
                status=409 if late else 400,
            )  # fmt: skip
        which = f"{what} {value}" if what == "paused" else what
        return page(request, find=find, said=_SAVED.get(which, _SAVED_TEXT) if changed else "Nothing changed: it was so already.")

    return router


def _field(
    known: Editable, what: What, of: str, label: str, typed: tuple[str, str, str] | None, **more: Any
) -> Field:  # fmt: skip
    stored = edits.current(known.study, what, of)
    return Field(what, of, label, typed[2] if typed is not None and typed[:2] == (what, of) else stored, stored, **more)


def _texts(known: Editable, typed: tuple[str, str, str] | None) -> list[Field]:
    texts = [_field(known, "welcome", "", "Welcome, read once before the first task", typed)]
    for label in known.study.spec_of:
        texts.append(_field(known, "title", label, f"Title of {label}", typed))
        texts.append(_field(known, "instruction", label, f"Instruction of {label}", typed))
    return texts


def _places(known: Editable, typed: tuple[str, str, str] | None) -> Field | None:
    if known.study.file.crowd is None:
        return None
    note = f"{count(known.taken, 'place')} taken: there cannot be fewer."
    return _field(known, "places", "", "People who may take part until the end", typed, note=note, least=max(1, known.taken))


def _gold(known: Editable, view: View, typed: tuple[str, str, str] | None, *, find: str | None) -> Iterator[Field]:
    """Items with a known answer; or, where some are looked for, the first ones without, that nobody has been asked about."""
    found = 0
    for task in known.study.tasks:
        if task.use or bool(task.gold) != (find is None) or found == _FOUND:
            continue
        named = f"{task.caption} {task.subject_id}".casefold()
        if find is not None and (not find or find.casefold() not in named or task.task_id in known.asked):
            continue
        found += find is not None
        graded = known.graded.get(task.task_id)
        note = f"{graded.part} of {count(graded.whole, 'answer')} right so far." if graded else ""
        if task.tolerance:
            note += f" As a check, {count(task.tolerance, 'step')} off is near enough."
        options = {
            view.told(option): view.told(option) if option == called else called
            for option, called in edits.options_of(known.study, task).items()
        }
        one = _field(
            known, "gold", task.task_id, edits.named(view.study.task_of[task.task_id]), typed, note=note.strip(), options=options,
            picture=f"/admin/pictures/{Path(task.proxy).stem}.jpg",
        )  # fmt: skip
        yield Field(**{**vars(one), "value": view.told(one.value), "stored": view.told(one.stored)})


def _history(known: Editable, view: View, names: Mapping[str, str]) -> list[tuple[str, ...]]:
    """When, who, what, from and to; the newest first."""
    told = reversed(view.edits(known.edits))
    return [(f"{moment(one.at)} UTC", names.get(one.by, one.by), *edits.in_words(view.study, one)) for one in told]
