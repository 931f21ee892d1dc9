"""Make a study ready to be served: its tasks, and everything that browsers play.

STUDY/
  study.json      written last, so that it is always of one piece
  proxies/        what its tasks show, and nothing else
  making/         the workspace that proxies are made in; a later run goes on where one was killed
  left_out.csv    tasks that the study cannot have, and why; not there when it has all
"""

from __future__ import annotations

import math
import os
import shutil
import uuid
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from inpaintbench import frozen
from inpaintbench.annotate import study as studies
from inpaintbench.annotate.crowd import Crowd, Qualify
from inpaintbench.annotate.preparing.proxies import Candidates, MadeProxy, making_step, making_task, proxy_id, read_runs, showable
from inpaintbench.annotate.preparing.subjects import StudySubject, clip_subjects, drawn, fingerprints, item_subjects
from inpaintbench.annotate.preparing.tasks import (
    Draft,
    Gold,
    LeftOut,
    check_questions,
    draft,
    finished,
    left_out_table,
    main_options,
    read_gold,
    speaks_of,
    suggestions,
    with_gold,
)
from inpaintbench.annotate.questions import QUESTIONS
from inpaintbench.annotate.study import MANIFEST, PROXIES, Study, StudyFile, StudyTask
from inpaintbench.catalogue import unknown_name
from inpaintbench.claims import too_few
from inpaintbench.errors import InputError, WorkspaceError
from inpaintbench.executors.base import Executor
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.files import file_sha256, measured_sha256, write_atomically
from inpaintbench.pages.words import count
from inpaintbench.workspace import Blobs, Workspace

MAKING, LEFT_OUT = "making", "left_out.csv"
ExecutorOf = Callable[[Workspace], AbstractContextManager[Executor]]
# Subject id and candidates: tasks that agree in both share a proxy.
Shown = tuple[str, tuple[str, ...]]


def in_this_process(workspace: Workspace) -> LocalExecutor:
    """One task after the other, without workers."""
    return LocalExecutor(workspace, workers=0)


def prepare(
    file: StudyFile,
    target: Path,
    *,
    executor_of: ExecutorOf = in_this_process,
    answers_of: Callable[[str], int] | None = None,
    log: Callable[[str], None] | None = None,
) -> Study:
    """Make the tasks and proxies of a study and write ``study.json``; what an earlier run has made is not made again.

    Args:
        file: the study, its paths absolute.
        target: the study's folder; made where it is not there.
        executor_of: who makes the proxies in a workspace below ``target``.
        answers_of: study id -> how many of its answers stand. A study that has any is not replaced by another one.
        log: told in sentences what was left out.

    Returns:
        The study. It is the same however many workers made it.

    Raises:
        InputError: subjects, runs, questions, suggestions or gold that cannot be had; no task is left; another study with
            answers lies in ``target``.
        WorkspaceError: ``target`` cannot be written, or another run is at it.
        RunError: the executor gave up.
    """
    _check_folder(target)
    world = _world(file)
    answerable = check_questions(file, world.candidates.methods)
    qualify = file.crowd.qualify if file.crowd is not None else Qualify()
    gold, training, test = (
        read_gold(Path(path), subjects=world.subjects, asked=answerable) if path else []
        for path in (file.checks.gold, qualify.training, qualify.test)
    )
    suggested = {
        spec.label: suggestions(
            world.workspace, world.subjects, attribute=spec.suggested_by, options=main_options(spec, shows="clip", methods=0)
        )
        for spec in file.questions
        if spec.suggested_by is not None and world.workspace is not None
    }
    subjects = drawn(world.subjects, most=file.subjects.most, seed=file.seed)
    with executor_of(Workspace(target / MAKING)) as executor:
        candidates = showable(executor, world.candidates, subjects)
        lines = [*gold, *training, *test]
        drafts, left_out = draft(file, subjects, candidates, known=partial(speaks_of, lines, asked=answerable))
        rows, refused = _made(executor, file, drafts, candidates)
        proxies = {shown: row.proxy() for shown, row in rows.items()}
        left_out += [LeftOut(task.question, *_shown(task), refused[_shown(task)]) for task in drafts if _shown(task) in refused]
        tasks = finished(drafts, proxy_of={shown: proxy.name for shown, proxy in proxies.items()}, suggested=suggested)
        _check_each_question(file, {task.question for task in tasks}, left_out)
        known = with_gold(tasks, gold, asked=answerable)
        known = with_gold(known, training, asked=answerable, use="training")
        known = with_gold(known, test, asked=answerable, use="test")
        _check_test(known, qualify)
        study = Study(
            study_id=studies.study_id(file, tuple(tasks)),
            file=file,
            tasks=tuple(known),
            proxies={proxy.name: proxy for proxy in proxies.values()},
            fingerprints=fingerprints(subjects, dataset=world.dataset),
        )
        _check_answers(study, target, answers_of)
        _publish(study, target, {proxies[shown].name: row for shown, row in rows.items()}, left_out)
    _tell(log, left_out, study, {"": gold, "training": training, "test": test})
    return study


# To decide and to go on, where nobody has measured it.
_DECIDING_SECONDS = 6.0
# Use of a task with a known answer -> what it is called.
_USES: Mapping[str, str] = {"": "gold", "training": "practice", "test": "test"}


@dataclass(frozen=True)
class _World:
    """Everything that the study could look at."""

    subjects: list[StudySubject]
    candidates: Candidates
    workspace: Workspace | None = None
    dataset: Path | None = None


def _world(file: StudyFile) -> _World:
    named = file.subjects
    if named.workspace is not None:
        try:
            workspace = Workspace(named.workspace, create=False)
        except WorkspaceError as error:
            raise InputError(f"the study's workspace cannot be used: {error}") from error
        clips = clip_subjects(workspace, kept=named.clips == "kept", prompt=file.show.prompt)
        return _World(clips, Candidates(), workspace=workspace)
    root = Path(str(named.dataset))
    subjects = item_subjects(frozen.load(root), root=root, slices=named.slices, prompt=file.show.prompt)
    manifest = file_sha256(root / frozen.MANIFEST)
    methods = (*named.methods, *named.decoys) if named.methods else ()
    candidates = read_runs(named.runs, methods=methods, dataset_sha256=manifest)
    for decoy in named.decoys:
        if decoy not in candidates.methods:
            raise InputError(f"subjects.decoys: {unknown_name('method', decoy, list(candidates.methods))}")
    return _World(subjects, candidates, dataset=root)


def _check_folder(target: Path) -> None:
    if target.exists() and not target.is_dir():
        raise InputError(f"{str(target)!r} is a file; name a folder for the study")
    for marker, what in (("workspace.json", "a workspace or a run"), (frozen.MANIFEST, "a frozen dataset")):
        if (target / marker).exists():
            raise InputError(f"{str(target)!r} is {what}; name a folder of its own for the study")


def _shown(task: Draft) -> Shown:
    return task.subject.subject_id, task.candidates


def _made(
    executor: Executor, file: StudyFile, drafts: Sequence[Draft], candidates: Candidates
) -> tuple[dict[Shown, MadeProxy], dict[Shown, str]]:
    """A proxy for everything that any draft shows, or why there is none."""
    distinct = {_shown(task): task.subject for task in drafts}
    tasks = [
        making_task(subject, chosen, candidates=candidates, show=file.show, seed=file.seed)
        for (_, chosen), subject in distinct.items()
    ]
    outcome = executor.run(making_step(file.show), tasks)
    shown_of = {proxy_id(*shown): shown for shown in distinct}
    rows = {shown_of[row.proxy_id]: row for row in outcome.records}
    return rows, {shown_of[row.subject_id]: row.reason for row in outcome.rejected}


def _check_each_question(file: StudyFile, having_tasks: set[str], left_out: Sequence[LeftOut]) -> None:
    for spec in file.questions:
        if spec.label not in having_tasks:
            reason = next(row.reason for row in left_out if row.question == spec.label)
            raise InputError(f"question {spec.label!r} has no task left; of the first one: {reason}")


def _check_answers(study: Study, target: Path, answers_of: Callable[[str], int] | None) -> None:
    if answers_of is None or not (target / MANIFEST).exists():
        return
    before = studies.load(target).study_id
    answers = answers_of(before) if before != study.study_id else 0
    if answers:
        raise InputError(
            f"{str(target)!r} holds a study with {answers} answers, and this would make another study of it: other questions, "
            f"subjects or pictures; prepare it in another folder"
        )


def _publish(study: Study, target: Path, rows: Mapping[str, MadeProxy], left_out: Sequence[LeftOut]) -> None:
    """New proxies, then the study, then away with what only the old one needed: at any moment a study is whole."""
    blobs, folder = Blobs(target / MAKING), target / PROXIES
    folder.mkdir(parents=True, exist_ok=True)
    for name, row in rows.items():
        made = blobs.proved(row.blob)
        if not (folder / name).is_file() or measured_sha256(folder / name) != measured_sha256(made):
            _link(made, folder / name)
    if left_out:
        write_atomically(target / LEFT_OUT, left_out_table(left_out).encode())
    else:
        (target / LEFT_OUT).unlink(missing_ok=True)
    studies.save(study, target)
    _keep_only(folder.iterdir(), set(rows))
    _keep_only((target / MAKING / "blobs").glob("*/*"), {row.blob for row in rows.values()})


def _link(source: Path, target: Path) -> None:
    """``target`` has the bytes of ``source``: without a second copy where the file system can."""
    temporary = target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}.tmp")
    try:
        try:
            os.link(source, temporary)
        except OSError:
            shutil.copyfile(source, temporary)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def _keep_only(paths: Any, names: set[str]) -> None:
    for path in list(paths):
        if path.name not in names:
            path.unlink()


def _check_test(tasks: Sequence[StudyTask], qualify: Qualify) -> None:
    asked = sum(task.use == "test" for task in tasks)
    if qualify.right > asked:
        raise InputError(
            f"crowd.qualify.right is {qualify.right}, and the test has {count(asked, 'task')}, so nobody could pass; "
            "its lines must be about items of the study, which `most` draws"
        )


def _tell(
    log: Callable[[str], None] | None,
    left_out: Sequence[LeftOut],
    study: Study,
    known: Mapping[str, Sequence[Gold]],
) -> None:
    if log is None:
        return
    for (question, reason), many in Counter((row.question, row.reason) for row in left_out).most_common():
        log(f"left out {count(many, 'task')} of {question!r}: {reason}")
    asked = [task for task in study.tasks if QUESTIONS.get(study.spec_of[task.question].leaf).subject == "pair" and not task.gold]
    if study.file.stop.kind == "stable_ranking" and (few := too_few(len({task.cluster for task in asked}))):
        log(f"no order can be settled, so that every task is asked of all its raters: {few}")
    if "failed_gold" in study.file.screening and not known[""]:
        log("the screening rule failed_gold has nothing to look at: no known answers are named in gold under [checks]")
    for use, lines in known.items():
        if not lines:
            continue
        about = {(task.subject_id, task.question) for task in study.tasks if task.gold and task.use == use}
        idle = [line for line in lines if (line.subject_id, line.question) not in about]
        tasks = sum(bool(task.gold) and task.use == use for task in study.tasks)
        log(f"{count(tasks, f'{_USES[use]} task')} from {count(len(lines), 'line')}")
        if idle:
            log(f"{count(len(idle), 'line')} of them about nothing that the study shows, first {idle[0].where}")
    if study.file.crowd is not None:
        log(_effort(study, study.file.crowd))


def _effort(study: Study, crowd: Crowd) -> str:
    """How many people a study takes, and for how long each: clips watched once, and some seconds to decide."""
    ordinary = [task for task in study.tasks if not task.gold]
    needed = sum(study.spec_of[task.question].raters_per_task for task in ordinary)
    own = max(1, min(crowd.tasks_per_person, len(ordinary)))
    people = max([math.ceil(needed / own), *(study.spec_of[task.question].raters_per_task for task in ordinary)])
    checks = study.file.checks
    share = checks.repeat_share + (checks.gold_share if any(task.gold and not task.use for task in study.tasks) else 0)
    tasks = own / (1 - share) + checks.warmup + sum(bool(task.use) for task in study.tasks)
    seconds = sum(study.watch_seconds(task) for task in study.tasks) / len(study.tasks) + _DECIDING_SECONDS
    words = f"{count(needed, 'answer')} asked for: {people} people with {count(own, 'ordinary task')} each, about "
    return f"{words}{math.ceil(tasks * seconds / 60)} min a person; places is {crowd.places}"
