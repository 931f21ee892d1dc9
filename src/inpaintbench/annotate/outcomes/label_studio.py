"""Label Studio's JSON: tasks of a study with their answers go out, tasks with annotations come in.

A file is a list of tasks: ``data`` (``task_id``, ``question``, ``item`` and names of the files that are shown: ``left`` and
``right``, or ``video``) and ``annotations``. A skip is an annotation that was cancelled, a known answer one that is ground truth.
Every part of a form is a control ``Choices`` of its name, words a ``TextArea``.
Names of methods are in no field of ``data``: which of them is left is drawn by study and task, here and when answers come back.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from inpaintbench import video
from inpaintbench.annotate.outcomes.judgement_files import Row
from inpaintbench.annotate.preparing.pictures import laid
from inpaintbench.annotate.study import PROXIES
from inpaintbench.errors import InputError
from inpaintbench.files import copy_file, read_text, write_atomically
from inpaintbench.types import content_id, item_rng

if TYPE_CHECKING:
    from inpaintbench.annotate.questions.base import Form
    from inpaintbench.annotate.records import Submission, Vote
    from inpaintbench.annotate.study import Proxy, Study, StudyTask, Tile

SUFFIX = ".json"
_PLACE = "place-"
_WORDS = "_text"
# Facts of an answer that Label Studio has no field for; they come back as they went.
_KEPT = ("rater_id", "submission_id", "purpose", "stuttered", "suggestion_shown")
# Of sides cut from proxies: better than these, since it is the second loss.
_CRF = 12
# Of the control ``Pairwise``, and of people who label by hand.
_SIDES = {"left": f"{_PLACE}0", "right": f"{_PLACE}1"}


def order_of(study: Study, task: StudyTask) -> tuple[str, ...]:
    """The candidates from left to right, drawn by study and task."""
    drawn = item_rng(study.file.seed, "label studio", task.task_id).permutation(len(task.candidates))
    return tuple(task.candidates[place] for place in drawn)


class Annotations(NamedTuple):
    """What the annotations of a file come to."""

    rows: list[Row]
    cancelled: int
    """Those that whoever made them cancelled."""
    truths: int
    """Those that are marked as ground truth."""


def write_tasks(
    study: Study, votes: Sequence[Vote], path: Path, *, called: Mapping[str, str], media: str = "",
    skips: Sequence[Submission] = (), gold: bool = False,
) -> int:  # fmt: skip
    """Write all tasks, gold ones where they were answered, with the answers that stand; return how many answers they hold.

    Beside it, ``<name>-<question>.xml`` is the labelling interface of each question.

    Args:
        study: whose they are.
        votes: answers that stand, in order.
        path: of the file.
        called: rater id -> name in the file.
        media: what stands before the names of videos: the address of their folder.
        skips: tasks that raters skipped, which are annotations that were cancelled.
        gold: write all gold tasks, with their known answers as ground truth.

    Raises:
        InputError: not writable.
    """
    cancelled: dict[str, list[Submission]] = {}
    for skip in skips:
        cancelled.setdefault(skip.task_id, []).append(skip)
    by_task: dict[str, list[Vote]] = {}
    for vote in votes:
        by_task.setdefault(vote.task_id, []).append(vote)
    numbers = {rater_id: number for number, rater_id in enumerate(called, 1)}
    tasks = [
        {
            "data": {
                "study_id": study.study_id,
                "task_id": task.task_id,
                "question": task.question,
                "item": task.subject_id,
                **({"caption": task.caption} if task.caption else {}),
                **({"prompt": task.prompt} if task.prompt else {}),
                **{player: f"{media}{name}" for player, name in names_of(study, task).items()},
            },
            "annotations": [
                *(_truth(study, task, answer) for answer in (task.gold if gold else ())),
                *(_annotation(study, task, vote, called, numbers) for vote in by_task.get(task.task_id, ())),
                *(_made(numbers[skip.rater_id], skip.at, [], cancelled=True) for skip in cancelled.get(task.task_id, ())),
            ],
        }
        for task in study.tasks
        if not task.gold or task.task_id in by_task or (gold and not task.use)
    ]
    try:
        write_atomically(path, (json.dumps(tasks, ensure_ascii=False, indent=1) + "\n").encode())
        for label in study.spec_of:
            task = next(task for task in study.tasks if task.question == label)
            interface = path.with_name(f"{path.stem}-{label}.xml")
            write_atomically(interface, _interface(study.form(task), len(task.candidates)).encode())
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be written: {error.strerror}") from error
    return sum(map(len, by_task.values()))


def names_of(study: Study, task: StudyTask) -> dict[str, str]:
    """Names of the videos of a task: its proxy or, of a pair, one for each side."""
    if len(task.candidates) != 2:
        return {"video": task.proxy}
    return {side: name for side, (name, _) in zip(("left", "right"), _sides(study, task), strict=True)}


def write_media(study: Study, folder: Path, out: Path) -> int:
    """Put the videos that ``names_of`` gives into ``out``, sides of pairs cut from their proxies; return how many there are.

    Args:
        study: whose they are.
        folder: of the study.
        out: made where it is not there; what lies in it already is not made again.
    """
    out.mkdir(parents=True, exist_ok=True)
    names = set()
    for task in study.tasks:
        path = folder / PROXIES / task.proxy
        if len(task.candidates) != 2:
            names.add(task.proxy)
            if not (out / task.proxy).exists():
                _cut(path, None, out / task.proxy, proxy=study.proxies[task.proxy])
            continue
        for name, tile in _sides(study, task):
            names.add(name)
            if not (out / name).exists():
                _cut(path, tile, out / name, proxy=study.proxies[task.proxy])
    return len(names)


def _cut(path: Path, tile: Tile | None, target: Path, *, proxy: Proxy) -> None:
    """One player of a file as a file of its own, or all of them as players show them."""
    if tile is None and not any(tile.role == "mask" for tile in proxy.tiles):
        return copy_file(path, target)
    x, y, width, height = (0, 0, proxy.width, proxy.height) if tile is None else (tile.x, tile.y, tile.width, tile.height)
    rows, columns = slice(y, y + height), slice(x, x + width)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".") as unfinished:
        made = Path(unfinished) / target.name
        if video.is_image(path):
            video.write_image(made, laid(video.read_image(path), proxy.tiles)[rows, columns])
        else:
            pictures = (laid(frame, proxy.tiles)[rows, columns] for frame, _ in video.upright_frames(path))
            video.write_browser(made, pictures, fps=proxy.fps, crf=_CRF)
        made.replace(target)


def _sides(study: Study, task: StudyTask) -> list[tuple[str, Tile]]:
    """File and tile of the left and of the right candidate; names are hashes, which tell nothing about a method."""
    proxy = study.proxies[task.proxy]
    tiles = {tile.candidate: tile for tile in proxy.tiles}
    sides = [tiles[candidate] for candidate in order_of(study, task)]
    return [(f"{content_id('side', proxy.name, tile.x, tile.y)}{Path(proxy.name).suffix}", tile) for tile in sides]


def _annotation(
    study: Study, task: StudyTask, vote: Vote, called: Mapping[str, str], numbers: Mapping[str, int]
) -> dict[str, Any]:
    shown, order = vote.shown or task.candidates, order_of(study, task)
    facts = {"rater": called[vote.rater_id]} | {name: getattr(vote, name) for name in _KEPT}
    player = "left" if len(task.candidates) == 2 else "video"
    result: list[dict[str, Any]] = []
    for part, value in vote.given.items():
        if part.endswith(_WORDS):
            result.append({"from_name": part, "to_name": player, "type": "textarea", "value": {"text": [value]}})
        else:
            chosen = f"{_PLACE}{order.index(shown[_place(value)])}" if value.startswith(_PLACE) else value
            result.append({"from_name": part, "to_name": player, "type": "choices", "value": {"choices": [chosen]}})
    result[0]["meta"] = {"inpaintbench": {**facts, "shown": list(vote.shown)}}
    annotation = _made(numbers[vote.rater_id], vote.at, result)
    if vote.seconds is not None:
        annotation["lead_time"] = vote.seconds
    return annotation


def _made(by: int, at: float, result: Sequence[Mapping[str, Any]], *, cancelled: bool = False) -> dict[str, Any]:
    when = datetime.fromtimestamp(at, UTC).isoformat()
    return {"completed_by": by, "created_at": when, "was_cancelled": cancelled, "ground_truth": False, "result": result}


def _truth(study: Study, task: StudyTask, answer: str) -> dict[str, Any]:
    """A known answer, which nobody gave."""
    main, order = study.form(task).parts[0], order_of(study, task)
    question = study.question_of[task.question]
    chosen = next(option.value for option in main.options if question.choice({main.name: option.value}, shown=order) == answer)
    player = "left" if len(task.candidates) == 2 else "video"
    result = {"from_name": main.name, "to_name": player, "type": "choices", "value": {"choices": [chosen]}}
    own = {"inpaintbench": {"rater": "known", "submission_id": content_id("known", task.task_id, answer)}}
    return {"was_cancelled": False, "ground_truth": True, "result": [{**result, "meta": own}]}


def _place(value: str) -> int:
    return int(value.removeprefix(_PLACE))


def _interface(form: Form, candidates: int) -> str:
    """The labelling interface of a question; its choices have our values as aliases."""
    from xml.sax.saxutils import quoteattr  # with it comes a client of the web

    players = ("left", "right") if candidates == 2 else ("video",)
    shown = "".join(f"  <Video name={quoteattr(name)} value={quoteattr(f'${name}')}/>\n" for name in players)
    parts = []
    for part in form.parts:
        when = f' visibleWhen="choice-selected" whenTagName={quoteattr(part.when[0])}' if part.when else ""
        when += f" whenChoiceValue={quoteattr(part.when[1])}" if part.when else ""
        options = "".join(
            f"    <Choice value={quoteattr(option.label)} alias={quoteattr(option.value)} hotkey={quoteattr(option.key)}/>\n"
            for option in part.options
        )
        control = f'name={quoteattr(part.name)} toName={quoteattr(players[0])} choice="single"{when}'
        header = "" if part.prompt == form.title else f"  <Header value={quoteattr(part.prompt)}/>\n"
        parts.append(f"{header}  <Choices {control}>\n{options}  </Choices>\n")
        if part.text_with:
            words = quoteattr(f"{part.name}{_WORDS}")
            parts.append(f'  <TextArea name={words} toName={quoteattr(players[0])} maxSubmissions="1"/>\n')
    return f"<View>\n  <Header value={quoteattr(form.title)}/>\n{shown}{''.join(parts)}</View>\n"


def read_tasks(path: Path, study: Study, *, truths: bool = False) -> Annotations:
    """The annotations of a file as rows of judgements; those that were cancelled or are marked as ground truth are no answers.

    Args:
        path: of the file.
        study: what they are about.
        truths: give the rows of those that are ground truth instead.

    Raises:
        InputError: not readable, no list of tasks, or an annotation that says nothing that the study knows: says which.
    """
    try:
        tasks = json.loads(read_text(path))
    except (OSError, ValueError) as error:
        raise InputError(f"{str(path)!r} cannot be read as JSON of Label Studio: {error}") from error
    if not isinstance(tasks, list) or not all(isinstance(task, Mapping) for task in tasks):
        raise InputError(f"{str(path)!r} is no list of tasks, as Label Studio exports them")
    made = [annotation for task in tasks for annotation in task.get("annotations") or () if isinstance(annotation, Mapping)]
    cancelled = sum(bool(annotation.get("was_cancelled")) for annotation in made)
    known = sum(bool(annotation.get("ground_truth")) for annotation in made if not annotation.get("was_cancelled"))
    rows = [
        row for number, task in enumerate(tasks, 1) for row in _rows(f"{path.name}, task {number}", task, study, truths=truths)
    ]
    return Annotations(rows, cancelled, known)


def _rows(where: str, task: Mapping[str, Any], study: Study, *, truths: bool) -> Iterator[Row]:
    data = task.get("data")
    if not isinstance(data, Mapping):
        raise InputError(f"{where}: it has no data")
    about = {name: data[name] for name in ("task_id", "question", "study_id") if name in data}
    if "task_id" not in about and "item" in data:
        about["subject"] = data["item"]
    ours = study.task_of.get(str(about.get("task_id")))
    for number, annotation in enumerate(task.get("annotations") or (), 1):
        place = f"{where}, annotation {number}"
        try:
            if annotation.get("was_cancelled") or bool(annotation.get("ground_truth")) != truths:
                continue
            yield Row(place, {**about, **_fields(annotation, data, None if ours is None else order_of(study, ours), place=place)})
        except (AttributeError, KeyError, TypeError, ValueError, IndexError) as error:
            raise InputError(f"{place}: it is no annotation of Label Studio ({type(error).__name__}: {error})") from error


def _fields(
    annotation: Mapping[str, Any], data: Mapping[str, Any], order: tuple[str, ...] | None, *, place: str
) -> dict[str, Any]:
    given = _given(annotation["result"])
    if not given:
        raise InputError(f"{place}: it chooses nothing")
    own: Mapping[str, Any] = next(
        (entry["meta"]["inpaintbench"] for entry in annotation["result"] if "inpaintbench" in entry.get("meta", {})), {}
    )
    by = annotation["completed_by"] if not own.get("rater") else None
    rater = own.get("rater") or f"ls:{by.get('email') or by['id'] if isinstance(by, Mapping) else by}"
    mark = annotation.get("unique_id") or annotation.get("id") or annotation.get("created_at")
    fields: dict[str, Any] = {
        "rater": rater,
        "submission_id": content_id("label studio", data.get("task_id") or dict(data), rater, mark),
        **{name: own[name] for name in _KEPT if name in own},
    }
    if "lead_time" in annotation:
        fields["seconds"] = annotation["lead_time"]
    if "created_at" in annotation:
        fields["at"] = datetime.fromisoformat(annotation["created_at"]).timestamp()
    if order is None and "left" in data:
        order = (str(data["left"]), str(data["right"]))
    return fields | (_placed(given, order, tuple(own.get("shown", order))) if order else {"given": given})


def _given(result: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The answers of an annotation: part -> value, in the places of the file."""
    given = {}
    for entry in result:
        name, value = str(entry["from_name"]), entry["value"]
        if entry["type"] == "pairwise":
            given["better"] = _SIDES[value["selected"]]
        elif entry["type"] == "textarea":
            given[name] = " ".join(value["text"])
        elif entry["type"] == "choices":
            (chosen,) = value["choices"]
            given[name] = _SIDES.get(chosen, chosen)
    return given


def _placed(given: Mapping[str, str], order: tuple[str, ...], shown: tuple[str, ...]) -> dict[str, Any]:
    """The answers in the places that were shown; where these are not known, the method that was chosen, and no place."""
    methods = {part: order[_place(value)] for part, value in given.items() if value.startswith(_PLACE)}
    if not shown:
        (part,) = given
        return {"candidates": list(order), "choice": methods.get(part, given[part])}
    moved = {part: f"{_PLACE}{shown.index(method)}" for part, method in methods.items()}
    return {"shown": list(shown), "given": {**given, **moved}}
