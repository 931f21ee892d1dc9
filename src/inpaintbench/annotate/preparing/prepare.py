"""Make a study ready to be served: its tasks, and everything that browsers play.

STUDY/
  study.json      written last, so that it is always of one piece
  proxies/        what its tasks show, and nothing else
  making/         the workspace that proxies are made in; a later run goes on where one was killed
  left_out.csv    tasks that the study cannot have, and why; not there when it has all
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

from inpaintbench import frozen
from inpaintbench.annotate import study as studies
from inpaintbench.annotate.crowd import Qualify
from inpaintbench.annotate.preparing import crowds
from inpaintbench.annotate.preparing import tasks as drafting
from inpaintbench.annotate.preparing.proxies import (
    Candidates,
    MadeProxy,
    StudySubject,
    clip_subjects,
    drawn,
    fingerprints,
    item_subjects,
    making_step,
    making_task,
    proxy_id,
    read_runs,
    showable,
)
from inpaintbench.annotate.study import MANIFEST, PROXIES, Proxy, Study, StudyFile, StudyTask
from inpaintbench.catalogue import unknown_name
from inpaintbench.claims import too_few
from inpaintbench.errors import InputError, WorkspaceError
from inpaintbench.executors.base import Executor
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.files import file_sha256, write_atomically
from inpaintbench.pages.words import count
from inpaintbench.workspace import Blobs, Workspace

MAKING, LEFT_OUT = "making", "left_out.csv"
ExecutorOf = Callable[[Workspace], AbstractContextManager[Executor]]
# See ``Draft.shown``.
Shown = tuple[str, tuple[str, ...]]


def in_this_process(workspace: Workspace) -> LocalExecutor:
    """One task after the other, without workers."""
    return LocalExecutor(workspace, workers=0)


def prepare(
    file: StudyFile, target: Path, *, executor_of: ExecutorOf = in_this_process, answers_of: Callable[[str], int] | None = None,
    log: Callable[[str], None] | None = None,
) -> Study:  # fmt: skip
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
    if target.exists() and not target.is_dir():
        raise InputError(f"{str(target)!r} is a file; name a folder for the study")
    for marker, what in (("workspace.json", "a workspace or a run"), (frozen.MANIFEST, "a frozen dataset")):
        if (target / marker).exists():
            raise InputError(f"{str(target)!r} is {what}; name a folder of its own for the study")
    there, candidates, workspace = _world(file)
    asked = drafting.check_questions(file, candidates.methods)
    qualify = file.crowd.qualify if file.crowd is not None else Qualify()
    named = {"": file.checks.gold, "training": qualify.training, "test": qualify.test}
    known = {use: drafting.read_gold(Path(path), subjects=there, asked=asked) if path else [] for use, path in named.items()}
    suggested = {
        spec.label: drafting.suggestions(
            workspace, there, attribute=spec.suggested_by, options=drafting.main_options(spec, shows="clip", methods=0)
        )
        for spec in file.questions
        if spec.suggested_by is not None and workspace is not None
    }
    subjects = drawn(there, most=file.subjects.most, seed=file.seed)
    with executor_of(Workspace(target / MAKING)) as executor:
        candidates = showable(executor, candidates, subjects)
        drafts, left_out = drafting.draft(
            file, subjects, candidates, gold=[line for lines in known.values() for line in lines], asked=asked
        )
        rows, refused = _made(executor, file, drafts, candidates)
        proxies = _as_large(rows, executor.workspace.blobs)
        left_out += [
            drafting.LeftOut(task.question, *task.shown, refused[task.shown]) for task in drafts if task.shown in refused
        ]
        plain = drafting.finished(drafts, proxy_of={shown: proxy.name for shown, proxy in proxies.items()}, suggested=suggested)
        _check_tasks(file, plain, left_out)
        tasks = plain
        for use, lines in known.items():
            tasks = drafting.with_gold(tasks, lines, asked=asked, use=use)  # type: ignore[arg-type]
        dataset = None if file.subjects.dataset is None else Path(file.subjects.dataset)
        study = Study(
            studies.study_id(file, tuple(plain)), file, tuple(tasks), {proxy.name: proxy for proxy in proxies.values()},
            fingerprints(subjects, dataset=dataset),
        )  # fmt: skip
        for fault in () if file.crowd is None else crowds.faults(study, file.crowd):
            raise InputError(fault)
        for fault in studies.missing_words(study):
            raise InputError(fault)
        before = studies.load(target).study_id if answers_of is not None and (target / MANIFEST).exists() else study.study_id
        if answers_of is not None and before != study.study_id and (answers := answers_of(before)):
            raise InputError(
                f"{str(target)!r} holds a study with {answers} answers, and this would make another study of it: other "
                f"questions, subjects or pictures; prepare it in another folder"
            )
        blob_of = {proxies[shown].name: row.blob for shown, row in rows.items()}
        blob_of |= {proxies[shown].light: row.light_blob or row.blob for shown, row in rows.items() if proxies[shown].light}
        _publish(study, target, blob_of, left_out)
    if log is not None:
        for sentence in _told(left_out, study, known):
            log(sentence)
    return study


# Use of a task with a known answer -> what it is called.
_USES: Mapping[str, str] = {"": "gold", "training": "practice", "test": "test"}


def _world(file: StudyFile) -> tuple[list[StudySubject], Candidates, Workspace | None]:
    """Everything that the study could look at."""
    named = file.subjects
    if named.workspace is not None:
        try:
            workspace = Workspace(named.workspace, create=False)
        except WorkspaceError as error:
            raise InputError(f"the study's workspace cannot be used: {error}") from error
        return clip_subjects(workspace, kept=named.clips == "kept", prompt=file.show.prompt), Candidates(), workspace
    root = Path(str(named.dataset))
    subjects = item_subjects(frozen.load(root), root=root, slices=named.slices, prompt=file.show.prompt)
    methods = (*named.methods, *named.decoys) if named.methods else ()
    candidates = read_runs(named.runs, methods=methods, dataset_sha256=file_sha256(root / frozen.MANIFEST))
    for decoy in named.decoys:
        if decoy not in candidates.methods:
            raise InputError(f"subjects.decoys: {unknown_name('method', decoy, list(candidates.methods))}")
    return subjects, candidates, None


def _made(
    executor: Executor, file: StudyFile, drafts: Sequence[drafting.Draft], candidates: Candidates
) -> tuple[dict[Shown, MadeProxy], dict[Shown, str]]:
    """A proxy for everything that any draft shows, or why there is none."""
    distinct = {task.shown: task for task in drafts}
    tasks = [
        making_task(task.subject, task.candidates, candidates=candidates, show=file.show, seed=file.seed, asks_for=task.asks_for)
        for task in distinct.values()
    ]
    outcome = executor.run(making_step(file.show), tasks)
    shown_of = {proxy_id(*shown): shown for shown in distinct}
    rows = {shown_of[row.proxy_id]: row for row in outcome.records}
    return rows, {shown_of[row.subject_id]: row.reason for row in outcome.rejected}


# Bytes of a box or chunk that players pass over, beside what it holds.
_BOX_BYTES = 12


def _as_large(rows: Mapping[Shown, MadeProxy], blobs: Blobs) -> dict[Shown, Proxy]:
    """The proxies, those of a subject with as many bytes as the largest, light files for all or none: sizes would tell noise."""
    proxies = {shown: row.proxy(blobs) for shown, row in rows.items()}
    full, light = dict[str, int](), dict[str, int]()
    lighter = {subject for (subject, _), proxy in proxies.items() if proxy.light}
    for (subject, _), proxy in proxies.items():
        full[subject] = max(full.get(subject, 0), proxy.bytes + _BOX_BYTES)
        # What is small enough already is its own light file, under another name.
        light[subject] = max(light.get(subject, 0), (proxy.light_bytes if proxy.light else proxy.bytes) + _BOX_BYTES)
    return {
        shown: replace(
            proxy, bytes=full[shown[0]], light=proxy.light or _other_name(proxy.name), light_bytes=light[shown[0]],
            light_flicker_added=proxy.light_flicker_added if proxy.light else proxy.flicker_added,
        ) if shown[0] in lighter else replace(proxy, bytes=full[shown[0]])
        for shown, proxy in proxies.items()
    }  # fmt: skip


def _other_name(name: str) -> str:
    """As hard to guess."""
    return hashlib.sha256(f"light {name}".encode()).hexdigest()[: len(Path(name).stem)] + Path(name).suffix


def _padded(content: bytes, size: int, *, suffix: str) -> bytes:
    """``content`` of so many bytes: a box of MP4 that holds nothing, or what follows a picture's end, is read by nobody."""
    more = size - len(content)
    return content + (more.to_bytes(4, "big") + b"free" if suffix == ".mp4" else b"").ljust(more, b"\0")


def _publish(study: Study, target: Path, blob_of: Mapping[str, str], left_out: Sequence[drafting.LeftOut]) -> None:
    """New proxies, then the study, then away with what only the old one needed: at any moment a study is whole."""
    blobs, folder = Blobs(target / MAKING), target / PROXIES
    folder.mkdir(parents=True, exist_ok=True)
    for proxy in study.proxies.values():
        for name, size in ((proxy.name, proxy.bytes), (proxy.light, proxy.light_bytes))[: 1 + bool(proxy.light)]:
            content, shown = _padded(blobs.proved(blob_of[name]).read_bytes(), size, suffix=Path(name).suffix), folder / name
            if not shown.is_file() or shown.read_bytes() != content:
                write_atomically(shown, content)
    if left_out:
        write_atomically(target / LEFT_OUT, drafting.left_out_table(left_out).encode())
    else:
        (target / LEFT_OUT).unlink(missing_ok=True)
    studies.save(study, target)
    kept = {*blob_of, *blob_of.values()}
    for path in [*folder.iterdir(), *(target / MAKING / "blobs").glob("*/*")]:
        if path.name not in kept:
            path.unlink()


def _check_tasks(file: StudyFile, tasks: Sequence[StudyTask], left_out: Sequence[drafting.LeftOut]) -> None:
    having = {task.question for task in tasks}
    for spec in file.questions:
        if spec.label not in having:
            reason = next(row.reason for row in left_out if row.question == spec.label)
            raise InputError(f"question {spec.label!r} has no task left; of the first one: {reason}")


def _told(left_out: Sequence[drafting.LeftOut], study: Study, known: Mapping[str, Sequence[drafting.Gold]]) -> Iterator[str]:
    """What was left out, which rules have nothing to do, where known answers went, and how many people it takes."""
    for (question, reason), many in Counter((row.question, row.reason) for row in left_out).most_common():
        yield f"left out {count(many, 'task')} of {question!r}: {reason}"
    ordinary = [task for task in study.tasks if not task.gold]
    asked = {task.cluster for task in ordinary if study.question_of[task.question].subject == "pair"}
    if study.file.stop.kind == "stable_ranking" and (few := too_few(len(asked))):
        yield f"no order can be settled, so that every task is asked of all its raters: {few}"
    if "failed_gold" in study.file.screening and not known[""]:
        yield "the screening rule failed_gold has nothing to look at: no known answers are named in gold under [checks]"
    for use, lines in known.items():
        about = [(task.subject_id, task.question) for task in study.tasks if task.gold and task.use == use]
        idle = [line for line in lines if (line.subject_id, line.question) not in about]
        if lines:
            yield f"{count(len(about), f'{_USES[use]} task')} from {count(len(lines), 'line')}"
        if idle:
            yield f"{count(len(idle), 'line')} of them about nothing that the study shows, first {idle[0].where}"
    if (crowd := study.file.crowd) is not None:
        asked_for = crowds.need(study, crowd)
        words = f"{count(asked_for.answers, 'answer')} asked for: {asked_for.people} people with "
        words += f"{count(asked_for.own, 'ordinary task')} each, about {asked_for.minutes} min a person"
        yield f"{words}; places is {crowd.places}"
