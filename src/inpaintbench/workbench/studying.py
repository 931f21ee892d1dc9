"""A study of people as columns: what its votes say of each item and method; who voted stands under a pseudonym."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from inpaintbench.annotate.outcomes.preferences import preferences, protocol_of
from inpaintbench.annotate.records import Vote
from inpaintbench.annotate.report.material import Material
from inpaintbench.annotate.study import PROXIES, Study, StudyTask, load
from inpaintbench.errors import InputError, WorkspaceError
from inpaintbench.eval.report.gallery import attributes_of
from inpaintbench.pages.words import count
from inpaintbench.workbench import joining
from inpaintbench.workbench.finding import JOURNAL, Folders, Thing
from inpaintbench.workbench.joining import Joined, Measure, Shown

# What a question's scores are, by its kind; of the others the mean answer.
_WHERE = {"pair": "share won", "best": "share chosen"}
_VOTES = "votes"
# What is told where errors or differences are asked for of films that are here as raters got them alone.
NO_MANNERS = (
    "Here are the films that raters saw, compressed for them: errors and differences would be of that too, and are not drawn. "
    "They are where the study's dataset and runs lie below these folders too."
)
# How often a journal is copied until nothing was written to it meanwhile.
_TRIES = 20


class Votes:
    """A study with the answers that stand and count, as they were when it was read.

    Args:
        folder: of the study.
        cache: for a copy of its journal, so that nothing is written beside that.
        roots: folders that are shown: a journal that lies elsewhere is not looked into.

    Raises:
        InputError: the study or its journal cannot be read. MissingExtraError: the extra is not installed.
    """

    def __init__(self, folder: Path, cache: Path, roots: Sequence[Path]) -> None:
        self.study, self.votes, self.sentence = load(folder), list[Vote](), ""
        self.journal = folder / JOURNAL
        try:
            from inpaintbench.annotate.desk.desk import Desk
            from inpaintbench.annotate.journal import Journal
            from inpaintbench.annotate.journal.engines import noted
        except ImportError:
            self.sentence = "To see what people said, install the extra annotate."
            return
        known = noted(folder)
        self.journal = stored = (Path(known) if known else folder / JOURNAL).resolve()
        if stored.is_file() and any(stored.is_relative_to(root) for root in roots):
            copy = cache / f"{hashlib.sha256(str(folder.resolve()).encode()).hexdigest()}.journal"
            _copied(stored, copy)
            with Journal(copy) as journal:
                desk = Desk(self.study, journal)
                self.votes, self.study = desk.state().votes(), desk.study
        elif known or stored.is_file():
            self.sentence = f"The answers lie in {known or stored}, which is not looked into from here."

    def said(self, item: str) -> list[str]:
        """What each rater said of an item, in the order in which they did."""
        material = Material(self.study, self.votes)
        told = []
        for vote in (one for one in self.votes if one.subject_id == item):
            between = f" ({' or '.join(vote.candidates)})" if vote.candidates else ""
            seconds = "" if vote.seconds is None else f", {vote.seconds:.0f} s"
            called, title = material.called[vote.rater_id], material.titles[vote.question]
            told.append(f"{called}, {title}{between}: {vote.choice}{seconds}")
        return told

    def standings(self, label: str, items: Sequence[str]) -> dict[str, str]:
        """Method -> its rank by the votes on some items, in words; by a question."""
        from inpaintbench.annotate.statistics.standings import results_of

        inside = set(items)
        own = [vote for vote in self.votes if vote.question == label and vote.subject_id in inside]
        found = results_of(self.study, own).scores().get(label, {}) if own else {}
        words = {}
        for name, one in found.items():
            ranks = "" if one.rank_low is None else f"rank {one.rank_low}"
            ranks += f" to {one.rank_high}" if ranks and one.rank_high != one.rank_low else ""
            strength = "" if one.value is None or not ranks else f", strength {one.value:.2f}"
            words[name] = ", ".join(filter(None, (f"{ranks}{strength}", count(one.votes, "vote"))))
        return words

    def proxy(self, item: str, methods: Sequence[str]) -> StudyTask:
        """The task on an item that shows most of some methods.

        Raises:
            InputError: the study has no task on it.
        """
        tasks = [task for task in self.study.tasks if task.subject_id == item]
        if not tasks:
            raise InputError(f"the study has no item {item!r}")
        return max(tasks, key=lambda task: len({*task.candidates} & {*methods}))


def _copied(stored: Path, copy: Path) -> None:
    """Copy a journal that others may write, or were killed at: SQLite itself would put its log away where it lies.

    Raises:
        WorkspaceError: it is damaged, or never at rest.
    """
    from inpaintbench.annotate.journal.engines import snapshot

    parts = [stored.with_name(stored.name + ending) for ending in ("", "-wal", "-journal")]
    with tempfile.TemporaryDirectory(dir=copy.parent) as folder:
        try:
            for _ in range(_TRIES):
                before = _state(parts)
                for part in parts:
                    (Path(folder) / part.name).unlink(missing_ok=True)
                    if part.is_file():
                        shutil.copyfile(part, Path(folder) / part.name)
                if _state(parts) == before:
                    return snapshot(Path(folder) / stored.name, copy, replace=True)
                time.sleep(0.05)
        except (WorkspaceError, OSError) as error:
            raise WorkspaceError(f"journal {str(stored)!r} cannot be copied: it is damaged, or cannot be read") from error
    raise WorkspaceError(f"journal {str(stored)!r} cannot be copied: it is written to all the time; try again")


def _state(parts: Sequence[Path]) -> list[tuple[int, int]]:
    return [(state.st_mtime_ns, state.st_size) for part in parts if part.is_file() for state in [part.stat()]]


def of_study(folders: Folders, things: Sequence[Thing], key: str, votes: Votes) -> Joined:
    """The items of a study, each with what was said of every method on it, and how often."""
    study = votes.study
    tasks: dict[str, list[StudyTask]] = {}
    for task in study.tasks:
        tasks.setdefault(task.subject_id, []).append(task)
    joined, runs = _items(folders, things, study, tasks)
    place = {item: at for at, item in enumerate(joined.ids)}
    by_item: dict[str, list[Vote]] = {item: [] for item in joined.ids}
    for vote in votes.votes:
        by_item.setdefault(vote.subject_id, []).append(vote)
    facts = [{"attributes": _facts(by_item[item])} for item in joined.ids]
    joined.facts = [*attributes_of(facts), *joined.facts]
    names = sorted({name for task in study.tasks for name in task.candidates})
    joined.methods = [Shown(name, name, runs.get(name, key), reference=False) for name in names]
    titles = Material(study, votes.votes).titles
    for label, question in study.question_of.items():
        if question.subject == "clip":
            continue
        where = _WHERE.get(question.kind, "mean answer")
        for region, ranked, decimals in ((where, True, 2), (_VOTES, False, 0)):
            of = Measure(f"{label}/{region}", label, region, f"{titles[label]} {region}", region, "", decimals, ranked, ranked)
            joined.quantities.append(of)
            joined.values |= {(of.key, name): np.full(len(place), np.nan) for name in names}
    for row in preferences(study, votes.votes):
        label = next(label for label in study.question_of if protocol_of(label) == row.protocol)
        own = place.get(row.item_id)
        if own is not None:
            joined.values[f"{label}/{_VOTES}", row.method][own] = row.details.get("votes", row.details.get("of", 0))
            if row.value is not None:
                region = _WHERE.get(study.question_of[label].kind, "mean answer")
                joined.values[f"{label}/{region}", row.method][own] = row.value
    joined.default = joined.quantities[0].key if joined.quantities else ""
    people = len({vote.rater_id for vote in votes.votes})
    told = f"{study.file.title}: {count(len(votes.votes), 'vote')} of {people} {'person' if people == 1 else 'people'} on "
    joined.title, joined.kind = study.file.title, "study"
    joined.sentences = [one for one in (f"{told}{count(len(joined.ids), 'item')}.", votes.sentence) if one]
    return joined


def _items(
    folders: Folders, things: Sequence[Thing], study: Study, tasks: dict[str, list[StudyTask]]
) -> tuple[Joined, dict[str, str]]:
    """The subjects with what is known of them, and method -> key of its run; with a root where their films can be composed."""
    subjects = study.file.subjects
    wanted = {Path(path).resolve() for path in (subjects.dataset, *subjects.runs) if path}
    there = [thing for thing in things if folders.place(thing.key).resolve() in wanted]
    dataset = next((thing for thing in there if thing.kind == "dataset"), None)
    if dataset is not None:
        joined = joining.of_dataset(folders, dataset.key, set(tasks))
        if set(joined.ids) == set(tasks):
            runs = {label: thing.key for thing in there if thing.kind == "run" for label in thing.predicted}
            candidates = {name for of in tasks.values() for task in of for name in task.candidates}
            joined.root = dataset.key if candidates <= runs.keys() else ""
            return joined, runs
    ids, first = list(tasks), [of[0] for of in tasks.values()]
    return Joined("", [], ids, [task.cluster for task in first], [task.caption or task.subject_id for task in first], []), {}


def _facts(votes: Sequence[Vote]) -> dict[str, Any]:
    """Of an item: how many votes, how far they are from one opinion, and what most say of a clip."""
    found: dict[str, Any] = {"votes": len(votes)}
    by_task: dict[str, Counter[str]] = {}
    for vote in votes:
        by_task.setdefault(vote.task_id, Counter())[vote.choice] += 1
        if not vote.candidates:
            found[f"answer.{vote.question}"] = by_task[vote.task_id].most_common(1)[0][0]
    shared = [answers for answers in by_task.values() if answers.total() > 1]
    if shared:
        found["disagreement"] = 1 - sum(max(answers.values()) for answers in shared) / sum(answers.total() for answers in shared)
    if seconds := [vote.seconds for vote in votes if vote.seconds is not None]:
        found["seconds"] = median(seconds)
    return found


def sheet_of(votes: Votes, key: str, item: str, methods: Sequence[str]) -> dict[str, Any]:
    """What raters saw of an item, as the player takes it."""
    task = votes.proxy(item, methods)
    proxy = votes.study.proxies[task.proxy]
    roles = {"candidate": "candidate", "original": "original", "input": "reference", "clip": "clip"}
    players: list[dict[str, Any]] = []
    outline = None
    for tile in proxy.tiles:
        room = {"x": tile.x, "y": tile.y, "width": tile.width, "height": tile.height}
        if tile.role == "outline":
            outline = room
            continue
        place = sum(one["role"] == "candidate" for one in players) if tile.candidate else 0 if tile.role == "clip" else None
        name = tile.candidate or {"original": "truth"}.get(tile.role, tile.role)
        players.append({"label": name, "name": name, "role": roles[tile.role], "place": place, **room})
    media = {
        "kind": "image" if proxy.name.endswith(".png") else "video", "fps": proxy.fps, "frames": proxy.frames,
        "width": proxy.width, "height": proxy.height, "url": f"/files/{key.rstrip('/')}/{PROXIES}/{proxy.name}",
    }  # fmt: skip
    return {"media": media, "players": players, "outline": outline, "missing": {}, "curves": []}
