"""Bring a frozen dataset to the Hub, by a plan: its files, checked, and what their licences allow.

It is private unless asked otherwise; each file goes once, the manifest last. A challenge goes to no repository that shows, or
ever showed, what it holds back.
"""

from __future__ import annotations

import csv
import hashlib
import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq

from inpaintbench import frozen
from inpaintbench.errors import InputError, VerifyError
from inpaintbench.executors.base import Progress, unwatched
from inpaintbench.export import layout
from inpaintbench.export.documents import sealed
from inpaintbench.export.licences import NOT_STATED, STATED, canonical, check_usable, is_known, is_unstated, why_refused
from inpaintbench.export.publishing.client import Remote, Repository, opened
from inpaintbench.export.publishing.fetch import ORIGIN, held
from inpaintbench.export.verify import file_problems
from inpaintbench.files import file_sha256, open_text
from inpaintbench.frozen import MANIFEST
from inpaintbench.manifest import GROUP_ROWS
from inpaintbench.storage import Address, check_once, is_there, read, write
from inpaintbench.storage import listed as listed_objects
from inpaintbench.types import Dataset, Plain

# Licences that whoever publishes a dataset states for sources that have no known one, and the dataset with them.

_LISTED = 20


def read_licences(path: Path) -> dict[str, str]:
    """Source, as the file calls it -> licence, of a CSV with the columns ``source`` and ``licence``.

    Raises:
        InputError: no such file; not such a table; an empty cell; a source with two licences.
    """
    try:
        with open_text(path, newline="") as file:
            rows = list(csv.DictReader(file))
    except FileNotFoundError:
        raise InputError(f"there is no file {str(path)!r} with licences") from None
    except UnicodeDecodeError as error:
        raise InputError(f"licences {str(path)!r} cannot be read: not text in {error.encoding.upper()}") from None
    except (OSError, csv.Error) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"licences {str(path)!r} cannot be read: {why}") from error
    if not rows or not {"source", "licence"} <= set(rows[0]):
        raise InputError(f"licences {str(path)!r} needs rows with the columns source and licence")
    said: dict[str, str] = {}
    for number, row in enumerate(rows, start=1):
        source, licence = (row["source"] or "").strip(), (row["licence"] or "").strip()
        if not source:
            raise InputError(f"row {number} of {str(path)!r} gives the licence {licence!r} to no source")
        if not licence:
            raise InputError(f"{str(path)!r} gives no licence for {source!r}; write one, or remove the row")
        if said.setdefault(source, licence) != licence:
            raise InputError(f"{str(path)!r} gives two licences for {source!r}: {said[source]!r} and {licence!r}")
    return said


def stated(dataset: Dataset, licence: str | None, single: Mapping[str, str]) -> dict[str, str]:
    """Source -> licence, of the sources that had no known one.

    Args:
        dataset: whose sources they are.
        licence: of all sources that say nothing; never of those that say something, known or not.
        single: source, by its id, URI or name -> licence; also of sources with words that are no known licence.

    Raises:
        InputError: a licence that is not known, allows too little, or contradicts a source's own; no such source.
    """
    if licence is not None:
        check_usable(licence)
    sources = {str(row["source_id"]): row for row in dataset.items}
    given = _by_source(sources, single)
    licence_of = {}
    for source, row in sources.items():
        before, said = row["licence"], given.get(source)
        if is_known(before) or why_refused(before):
            if said is not None and canonical(said) != canonical(before):
                raise InputError(
                    f"{called(row)} has the licence {before!r} in the dataset, not {said!r}; correct the source and export"
                )
        elif (new := said or (licence if is_unstated(before) else None)) is not None:
            licence_of[source] = new
    return licence_of


def called(row: Plain) -> str:
    """Name that people know a source by."""
    return str(row["source_uri"] or row["source_id"])


def listed(names: Sequence[str]) -> str:
    """The first of them, and how many more there are."""
    more = len(names) - _LISTED
    return ", ".join(names[:_LISTED]) + (f" and {more} more" if more > 0 else "")


def _by_source(sources: Mapping[str, Plain], single: Mapping[str, str]) -> dict[str, str]:
    """Source id -> licence. Names are ids, URIs, or URIs in which ``%20`` may be a space."""
    ids_of: dict[str, list[str]] = {}
    names_of: dict[str, list[str]] = {}
    for source, row in sources.items():
        if uri := row["source_uri"]:
            ids_of.setdefault(str(uri), []).append(source)
            names_of.setdefault(unquote(str(uri)), []).append(source)
    given: dict[str, str] = {}
    of_licence: dict[str, list[str]] = {}
    strangers = []
    for name, licence in single.items():
        ids = [name] if name in sources else ids_of.get(name) or names_of.get(name) or names_of.get(unquote(name), [])
        if not ids:
            strangers.append(name)
        of_licence.setdefault(licence, []).append(name)
        for source in ids:
            if canonical(given.setdefault(source, licence)) != canonical(licence):
                raise InputError(
                    f"{called(sources[source])} has two licences under different names: {given[source]!r} and {licence!r}"
                )
    for licence, names in of_licence.items():
        check_usable(licence, of=listed(names))
    if strangers:
        raise InputError(f"the licences name sources that the dataset does not have: {listed(sorted(strangers))}")
    return given


# Fact: words of sources that said something -> licence that was stated over them -> how many.
OVER = "licences_stated_over"


def restated(root: Path, dataset: Dataset, stated: Mapping[str, str]) -> tuple[Dataset, dict[str, bytes]]:
    """The dataset with ``stated`` licences, and the bytes of the files that change with them.

    Args:
        root: folder of the dataset.
        dataset: its manifest.
        stated: source -> licence.
    """
    rows = tuple({**row, "licence": stated.get(row["source_id"], row["licence"])} for row in dataset.items)
    changed = {}
    for name in layout.config_of_file(dataset):
        table, sink = pq.read_table(root / name), pa.BufferOutputStream()
        pairs = zip(table["source_id"].to_pylist(), table["licence"].to_pylist(), strict=True)
        column = pa.array([stated.get(source, licence) for source, licence in pairs], pa.string())
        table = table.set_column(table.schema.get_field_index("licence"), "licence", column)
        pq.write_table(table, sink, compression="zstd", row_group_size=GROUP_ROWS)
        changed[name] = bytes(sink.getvalue().to_pybytes())
    files = dict(dataset.files) | {name: hashlib.sha256(data).hexdigest() for name, data in changed.items()}
    # What was stated and what the dataset said before, with those of an earlier publisher.
    old = {row["source_id"]: row["licence"] for row in dataset.items}
    counts = Counter(dataset.facts.get(STATED, {})) + Counter(stated.values())
    over = {words: Counter(new) for words, new in dataset.facts.get(OVER, {}).items()}
    for source, licence in stated.items():
        if not is_unstated(old[source]):
            over.setdefault(str(old[source]), Counter())[licence] += 1
    facts = dict(dataset.facts) | {STATED: dict(sorted(counts.items()))}
    facts |= {OVER: {words: dict(sorted(new.items())) for words, new in sorted(over.items())}} if over else {}
    sizes = {name: len(changed[name]) if name in changed else (root / name).stat().st_size for name in files}
    changed_dataset, written = sealed(replace(dataset, items=rows, files=files, facts=facts), sizes)
    return changed_dataset, changed | written


@dataclass(frozen=True)
class Plan:
    """A frozen dataset on its way out."""

    folder: Path
    dataset: Dataset
    """As it will stand on the Hub, with the licences that were stated for this push."""
    rewritten: Mapping[str, bytes]
    """Files that stand otherwise on the Hub than in the folder, because they name licences: path -> bytes."""
    sha256: Mapping[str, str]
    """Every file that goes, the manifest too: path -> hash."""
    bytes: Mapping[str, int]
    """Their sizes."""
    stated: Mapping[str, str]
    """Source -> the licence that was stated for this push."""

    def licences(self) -> dict[str, int]:
        """Licence -> number of sources, in the order of the names."""
        per_source = {row["source_id"]: row["licence"] or NOT_STATED for row in self.dataset.items}
        return {name: list(per_source.values()).count(name) for name in sorted(set(per_source.values()))}

    def stated_over(self) -> dict[str, dict[str, int]]:
        """Words of the dataset that are no known licence -> the licence that its publisher states -> number of sources."""
        counts: dict[str, dict[str, int]] = self.dataset.facts.get(OVER, {})
        return counts

    def obstacles(self) -> list[str]:
        """Return why the dataset may not be published, one sentence each with a list of sources; empty where it may."""
        refused, silent, words = [], [], []
        for row in {row["source_id"]: row for row in self.dataset.items}.values():
            licence = row["licence"]
            if why := why_refused(licence):
                refused.append(f"{called(row)} ({licence} {why})")
            elif is_unstated(licence):
                silent.append(f"{called(row)} ({licence or NOT_STATED})")
            elif not is_known(licence):
                words.append(f"{called(row)} ({licence})")
        reasons = []
        if refused:
            reasons.append(
                f"{listed(refused)} may not be published; export without them, or with the licence that they really have"
            )
        if silent:
            reasons.append(f"nobody stated a known licence of {listed(silent)}; state it with --licence SPDX or --licences FILE")
        if words:
            reasons.append(
                f"the licence of {listed(words)} is no known one, and --licence does not replace it; read what it allows, and "
                "give each of these sources a line of its own in --licences FILE"
            )
        return reasons


def plan(folder: Path | str, *, licence: str | None = None, licences: Path | None = None) -> Plan:
    """Hash every file of a frozen dataset and find out what its licences allow; nothing is sent, nothing in the folder changes.

    Args:
        folder: the frozen dataset.
        licence: SPDX id of all sources that say nothing of theirs.
        licences: CSV with the columns ``source`` (id, URI or name) and ``licence``, for single sources without a known licence.

    Raises:
        InputError: not a frozen dataset, or a part of one; a licence that is not known, allows too little, or contradicts a
            source's own.
        VerifyError: files differ from the manifest.
    """
    root = Path(folder)
    dataset = frozen.load(root)
    if ORIGIN in dataset.files:
        raise InputError(f"{str(root)!r} is a part of a dataset, as its {ORIGIN} says; publish the whole")
    if wrong := file_problems(root):
        raise VerifyError(f"{str(root)!r} is not what was exported, and is not published: {listed(wrong)}; export it again")
    said = stated(dataset, licence, read_licences(licences) if licences else {})
    rewritten: Mapping[str, bytes] = {}
    if said:
        dataset, rewritten = restated(root, dataset, said)
    manifest = hashlib.sha256(rewritten[MANIFEST]).hexdigest() if MANIFEST in rewritten else file_sha256(root / MANIFEST)
    sha256 = dict(dataset.files) | {MANIFEST: manifest}
    sizes = {name: len(rewritten[name]) if name in rewritten else (root / name).stat().st_size for name in sha256}
    return Plan(root, dataset, rewritten, sha256, sizes, said)


_FEWEST_FILES_A_COMMIT = 100
_MOST_COMMITS = 50  # the Hub counts commits an hour
_AT_ONCE = 6  # files to an address
# Titles of commits in which a push adds media and removes nothing.
ONLY_ADDS = re.compile(r"Add [0-9]+ media files")
# Commits of a repository in which truths are looked for, and names that an error lists.
_MOST_LOOKED_AT, _SHOWN = 200, 3
_WAY_OUT = "push to a new repository"


@dataclass(frozen=True)
class Pushed:
    """Result of a push."""

    url: str
    private: bool
    sent: int
    """Files that the Hub did not have."""
    there: int
    """Files that it had already."""
    removed: int
    """Files of the version before, which the dataset has no longer."""


def push(
    plan: Plan,
    repository: str,
    *,
    public: bool = False,
    revision: str | None = None,
    of_the_hub: Mapping[str, bytes] | None = None,
    progress: Progress | None = None,
) -> Pushed:
    """Upload what the Hub does not have yet, then look whether it holds every file with the right hash.

    Media go first, in commits of at least a hundred files; cards, rows and the manifest follow in the last commit, together
    with the removal of files that an older version had. A push that was killed is called again and goes on. Nothing is
    embedded: slices share the media.

    Args:
        plan: what goes.
        repository: ``OWNER/NAME``; made where there is none.
        public: make a new one public; pushing to one that is public already is refused without.
        revision: branch; made where there is none.
        of_the_hub: files beside the dataset, of ``layout.OF_THE_HUB``; one that is there and not given stays as it is.
        progress: is told (stage, done, total) of files.

    Raises:
        InputError: licences that are unknown or allow too little; no token; a repository that holds something else, is public,
            or ever held what a challenge holds back.
        NetworkError: the Hub refuses, or cannot be reached after several tries.
        VerifyError: the Hub holds other bytes than were sent.
    """
    if obstacles := plan.obstacles():
        raise InputError("; ".join(obstacles))
    with opened(repository) as hub:
        hub.require_token()
        private = hub.create(private=not public)
        if not private and not public:
            raise InputError(f"{hub.name!r} is public on the Hub; push there with --public, or to another repository")
        if revision:
            hub.branch(revision)
        there = hub.files(revision)
        old = _old_files(hub, plan, there, revision)
        missing = [name for name in plan.sha256 if not _is_there(plan, name, there)]
        _send(hub, plan, missing, old, revision, progress or unwatched)
        other = {
            name: data
            for name, data in (of_the_hub or {}).items()
            if name not in there or there[name].git_sha1 != _git_sha1(data)
        }
        if other:
            hub.commit(f"Add {', '.join(other)}", other, revision=revision)
        there = hub.files(revision)
        if wrong := [name for name in plan.sha256 if not _is_there(plan, name, there)]:
            raise VerifyError(f"{hub.name!r} does not hold what was sent: {', '.join(wrong[:10])} differ; push again")
        return Pushed(hub.url, private, len(missing), len(plan.sha256) - len(missing), len(old))


def push_to(plan: Plan, address: Address, *, progress: Progress | None = None) -> int:
    """Write a dataset to an address that holds none: each file whole under its SHA-256, the root last, where none is yet.

    What an address holds is never changed, and a push that was stopped goes on when it is called again. ``frozen.at_address``
    reads it.

    Returns:
        How many files were sent; 0 where all was there.

    Raises:
        InputError: licences that are unknown or allow too little; another dataset is there; it may not be written.
        NetworkError: for now.
    """
    if obstacles := plan.obstacles():
        raise InputError("; ".join(obstacles))
    root = plan.rewritten.get(MANIFEST) or (plan.folder / MANIFEST).read_bytes()

    def is_done() -> bool:
        there = read(address / MANIFEST) if is_there(address / MANIFEST) else None
        if there not in (None, root):
            raise InputError(f"{address} holds another dataset, or another version of it; an address holds one: give another")
        return there is not None

    if is_done():
        return 0
    check_once(address / frozen.OBJECTS / hashlib.sha256(b"").hexdigest())  # which is that of any empty file
    sizes = {plan.sha256[name]: plan.bytes[name] for name in plan.sha256}
    # An object that is there is whole, and is what its name says: a listing spares sending it again, and decides nothing else.
    there = {one.name for one in listed_objects(address / frozen.OBJECTS) if one.bytes == sizes.get(one.name)}
    missing = {plan.sha256[name]: name for name in plan.sha256 if name != MANIFEST and plan.sha256[name] not in there}

    def send(sha256: str) -> None:
        name = missing[sha256]
        write(address / frozen.OBJECTS / sha256, plan.rewritten.get(name) or plan.folder / name)

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for done, _ in enumerate(pool.map(send, missing), start=1):
            (progress or unwatched)("upload", done, len(missing))
    if not write(address / MANIFEST, root, once=True):
        is_done()
    return sum(sha256 not in there for sha256 in plan.sha256.values())


def _send(
    hub: Repository, plan: Plan, missing: Sequence[str], old: Sequence[str], revision: str | None, progress: Progress
) -> None:
    contents: dict[str, Path | bytes] = {name: plan.rewritten.get(name, plan.folder / name) for name in missing}
    media = [name for name in missing if layout.is_medium(name)]
    size = max(_FEWEST_FILES_A_COMMIT, -(-len(media) // _MOST_COMMITS))
    for start in range(0, len(media), size):
        part = media[start : start + size]
        # The guard of challenges knows these commits by their title.
        hub.commit(f"Add {len(part)} media files", {name: contents.pop(name) for name in part}, revision=revision)
        progress("upload", start + len(part), len(missing))
    if contents or old:
        hub.commit(f"Add {plan.dataset.name}", contents, deleted=old, revision=revision)
        progress("upload", len(missing), len(missing))


def _is_there(plan: Plan, name: str, there: Mapping[str, Remote]) -> bool:
    remote = there.get(name)
    if remote is None or remote.bytes != plan.bytes[name]:
        return False
    if remote.sha256 is not None:
        return remote.sha256 == plan.sha256[name]
    data = plan.rewritten.get(name) or (plan.folder / name).read_bytes()  # small: git itself holds it
    return remote.git_sha1 == _git_sha1(data)


def _git_sha1(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _old_files(hub: Repository, plan: Plan, there: Mapping[str, Remote], revision: str | None) -> list[str]:
    """Files of an older version, or of a push that was cut off; anything else there is nobody's to remove."""
    others = sorted(set(there) - set(plan.sha256) - layout.OF_THE_HUB)
    known: set[str] = set()
    if MANIFEST in there and not _is_there(plan, MANIFEST, there):
        name, known, facts = _old_manifest(hub, revision)
        if shown := sorted(held_splits(plan.dataset.facts) - held_splits(facts)):
            raise InputError(f"{hub.name!r} had the truths of {', '.join(shown)}, which its history keeps; {_WAY_OUT}")
        if name != plan.dataset.name:
            raise InputError(f"{hub.name!r} holds the dataset {name!r}, not {plan.dataset.name!r}; push to another repository")
    if strangers := [name for name in others if name not in known and not layout.is_medium(name)]:
        raise InputError(
            f"{hub.name!r} holds files that are not of this dataset ({', '.join(strangers[:10])}); remove them there, or push to "
            "another repository"
        )
    check_shown(hub, plan, there, revision)
    return others


def _old_manifest(hub: Repository, revision: str | None) -> tuple[str, set[str], dict[str, Any]]:
    """Name, files and facts."""
    with tempfile.TemporaryDirectory(prefix="inpaintbench-push-") as folder:
        path = hub.download(MANIFEST, commit=hub.commit_of(revision), folder=Path(folder))
        try:
            fields = json.loads(path.read_text())
            files = fields["files"]
            known = set(files if isinstance(files, dict) else held(hub, Path(folder), revision=revision).dataset.files)
            return str(fields["name"]), known, dict(fields.get("facts", {}))
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"{hub.name!r} holds a {MANIFEST} that is not of a frozen dataset; use another repository"
            ) from error


def held_splits(facts: Mapping[str, Any]) -> set[str]:
    """The splits whose truth a dataset holds back."""
    return set((facts.get("held_back") or {}).get("splits", ()))


def check_shown(hub: Repository, plan: Plan, there: Iterable[str], revision: str | None) -> None:
    """Refuse a repository in which any other medium lies than those of the challenge, or lay at any commit.

    What a manifest says there is not asked: a push that was cut off leaves media without one. The whole history is looked
    at, of all branches and tags, as far as the server lists them.

    Args:
        hub: the repository.
        plan: what is to go there; anything but a challenge may go anywhere.
        there: the files that it has at the revision.
        revision: branch.

    Raises:
        InputError: it does, or has too many commits to look at.
        NetworkError: the Hub refuses, or cannot be reached.
    """
    if not held_splits(plan.dataset.facts):
        return
    if foreign := _foreign(plan, there):
        raise InputError(f"{hub.name!r} holds media that this challenge does not ({foreign}); {_WAY_OUT}")
    # Commits of a push that add media remove nothing: the last of them shows what all have.
    commits: dict[str, None] = {}
    for name in dict.fromkeys([revision, *(hub.branches() or [])]):
        later = ""
        for commit, title in hub.commits(name) or []:
            if not ONLY_ADDS.fullmatch(later):
                commits[commit] = None
            later = title
        if len(commits) > _MOST_LOOKED_AT:
            raise InputError(f"{hub.name!r} has more than {_MOST_LOOKED_AT} commits, too many to look for truths in; {_WAY_OUT}")
    for commit in commits:
        if foreign := _foreign(plan, hub.files(commit)):
            raise InputError(
                f"the history of {hub.name!r} holds media that this challenge does not ({foreign}, at commit "
                f"{commit[:12]}); {_WAY_OUT}"
            )


def _foreign(plan: Plan, names: Iterable[str]) -> str:
    """The first media that are not of the plan, and how many more there are; nothing where there are none."""
    foreign = sorted(name for name in names if layout.is_medium(name) and name not in plan.sha256)
    more = len(foreign) - _SHOWN
    return ", ".join(foreign[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
