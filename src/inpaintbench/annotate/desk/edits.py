"""What can be changed of a study while it runs, and the study after it; how answers are given and counted never changes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

from inpaintbench.annotate.journal import is_storable
from inpaintbench.annotate.questions.base import PLACE
from inpaintbench.annotate.records import Edit, What
from inpaintbench.annotate.study import Spoken, Study, StudyTask
from inpaintbench.errors import InputError

# Characters of a text. In the longest form of all, percent signs and all, they fit into one request.
LONGEST: dict[str, int] = {"title": 200, "instruction": 5000, "welcome": 5000}
PAUSED = ("no", "yes")
_MOST_PLACES = 10**6


class ChangedMeanwhile(InputError):
    """Somebody else changed the same since whoever decides looked."""


def options_of(study: Study, task: StudyTask) -> dict[str, str]:
    """What may be right of a task, in the names that votes are counted over -> how it is called."""
    options = study.form(task).parts[0].options
    placed = dict.fromkeys(task.candidates, "") if any(option.value.startswith(PLACE) for option in options) else {}
    words = {option.value: option.label for option in options if not option.value.startswith(PLACE)}
    return {name: name for name in placed} | words


def current(study: Study, what: What, of: str = "", *, paused: bool = False) -> str:
    """What stands now.

    Raises:
        InputError: there is no such question or task, or it cannot be changed.
    """
    if what == "paused":
        return PAUSED[paused]
    if what == "welcome":
        return study.file.welcome
    if what == "places" and study.file.crowd is not None:
        return str(study.file.crowd.places)
    if what in ("title", "instruction") and of in study.spec_of:
        task = next((task for task in study.tasks if task.question == of), None)
        return "" if task is None else str(getattr(study.form(task), what))
    if what == "gold" and of in study.task_of and not study.task_of[of].use:
        return "|".join(study.task_of[of].gold)
    if what not in get_args(What):
        raise InputError(
            f"{what} cannot be changed while a study runs: answers given before would mean something else; prepare another study"
        )
    raise InputError(f"the study has no {what} of {of!r} that can be changed")


def named(task: StudyTask) -> str:
    """An item in words for admins: its name, what is compared, and the question."""
    between = f" ({', '.join(task.candidates)})" if task.candidates else ""
    return f"{task.caption or task.subject_id}{between}: {task.question}"


def in_words(study: Study, edit: Edit) -> tuple[str, str, str]:
    """What was changed, from what, and to what."""
    if edit.what == "gold":
        before, after = (side.replace("|", " or ") or "none" for side in (edit.before, edit.after))
        return f"Known answer of {named(study.task_of[edit.of])}", before, after
    if edit.what == "paused":
        return ("Paused" if edit.after == "yes" else "Went on"), "", ""
    return f"{edit.what.capitalize()}{f' of {edit.of}' if edit.of else ''}", edit.before, edit.after


def plain(study: Study, what: What, of: str, value: str) -> str:
    """``value`` as it is stored: texts without blanks around them, right answers in the order of the question."""
    value = value.replace("\r\n", "\n").strip()
    if what != "gold":
        return value
    said, options = set(filter(None, value.split("|"))), list(options_of(study, study.task_of[of]))
    return "|".join([*(option for option in options if option in said), *sorted(said - set(options))])


def checked(study: Study, what: What, of: str, value: str) -> str:
    """``value`` as it is stored.

    Raises:
        InputError: it cannot be shown or asked.
    """
    value = plain(study, what, of, value)
    if not is_storable(value):
        raise InputError("the text holds characters that cannot be stored")
    if len(value) > LONGEST.get(what, len(value)):
        raise InputError(f"the {what} has {len(value):,} characters, at most {LONGEST[what]:,} are kept")
    if what in ("title", "instruction") and not value:
        raise InputError(f"raters read the {what}: it cannot be empty")
    if what == "paused" and value not in PAUSED:
        raise InputError("a study is paused or it is not")
    if what == "places":
        if not (value.isascii() and value.isdecimal() and 0 < int(value[:9]) <= _MOST_PLACES):
            raise InputError(f"places are a whole number from 1 to {_MOST_PLACES:,}")
        return str(int(value))
    if what != "gold":
        return value
    if strange := set(filter(None, value.split("|"))) - options_of(study, study.task_of[of]).keys():
        raise InputError(f"{sorted(strange)[0]!r} is no answer to this question")
    if not value and set(study.task_of[of].candidates) & set(study.file.subjects.decoys):
        raise InputError("this item shows a decoy, and those are shown where the answer is known")
    return value


def applied(study: Study, edit: Edit) -> Study:
    """The study after a change; the same object where it changes nothing of it."""
    what, of, after = edit.what, edit.of, edit.after
    if what == "paused":
        return study
    if what == "gold":
        right = tuple(filter(None, after.split("|")))
        return replace(study, tasks=tuple(replace(task, gold=right) if task.task_id == of else task for task in study.tasks))
    told: dict[str, Any] = {"welcome": after}
    if what == "places":
        assert study.file.crowd is not None
        told = {"crowd": study.file.crowd.model_copy(update={"places": int(after)})}
    elif what != "welcome":
        specs = study.file.questions
        told = {"questions": tuple(spec.model_copy(update={what: after}) if spec.label == of else spec for spec in specs)}
    # What a translation was made of is what it says in another language: a new text has none, and with the old one it comes back.
    told["languages"] = {name: Spoken(words=dict(study.words_in(name))) for name in study.file.languages}
    return replace(study, file=study.file.model_copy(update=told))
