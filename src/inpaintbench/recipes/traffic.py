"""What a build asks of object storage: foreseen by a pilot on a few of the films, and what it was in the end."""

from __future__ import annotations

import math
import os
import tempfile
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pydantic import BaseModel

from inpaintbench import storage
from inpaintbench.curation.footage import finding
from inpaintbench.curation.sources.base import Footage
from inpaintbench.curation.sources.folder import FolderSource
from inpaintbench.errors import InpaintBenchError, InputError
from inpaintbench.executors.base import Rejection, Task, is_note, task_key
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.pages.words import count
from inpaintbench.recipes.settings import FILE, build, recall
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.storage import Address
from inpaintbench.types import Clip
from inpaintbench.workspace import Workspace

MOST_FILMS = 3
HEADS = ["requests", "bytes in", "bytes out, which stay there", "CPU hours"]


class Foreseen(NamedTuple):
    """Of a build from footage at an address into a workspace at one, at most."""

    films: int
    there: int
    """Films besides that the workspace has taken up by the same recipe."""
    traffic: Mapping[str, float]
    """As ``storage.traffic`` has it."""
    tried: int
    """Films of the pilot."""


def foresee(recipe: BaseModel, address: Address, *, constants: Mapping[str, Any], out: Path) -> Foreseen:
    """Build a workspace in memory of a few of the films that are new, evenly spread over them, and count.

    A film is taken to ask for as many requests as those, a byte of it for as much time, and for as many bytes. What a build
    writes once, whatever it is of, counts once: pages and tables of the dataset, commits, leases. Items grow to ``per_slice``.

    Args:
        recipe: of the benchmark.
        address: of the footage.
        constants: further ones of its source.
        out: the workspace, which need not be there.

    Raises:
        InputError: there are no films, or nothing can be built of those that were chosen.
    """
    storage.traffic()
    leaf = FolderSource(folder=str(address), **constants)
    pieces = list(leaf.footage())
    if not pieces:
        raise InputError(f"no films at {address}")
    listing, known = storage.traffic(), set[str]()
    if (out / FILE).is_file() and recall(workspace := Workspace(out, create=False)) == recipe:
        known = _taken_up(workspace, leaf, pieces)
    found = [(piece, int(piece.payload["state"].partition(":")[0])) for piece in pieces]
    new = [(piece, size) for piece, size in found if piece.uri not in known]
    if not new:
        return Foreseen(0, len(found), listing, 0)
    pieces, sizes = [piece for piece, _ in new], [size for _, size in new]
    places = np.unique(np.linspace(0, len(pieces) - 1, MOST_FILMS).round().astype(int)).tolist()
    within = Address("memory", f"inpaintbench-pilot-{uuid.uuid4().hex}")
    with _cache_of_its_own():
        workspace = _OfFew(str(within), films={pieces[place].uri for place in places})
        storage.traffic()
        try:
            with LocalExecutor(workspace, workers=0) as executor:
                sources = [SourceSpec("folder", {"folder": str(address), **constants})]
                _, dataset = build(recipe, sources, executor, workspace)
            clips = {clip.blob for clip in workspace.table("clips", Clip)}
            tried = executor.traffic + storage.traffic()
            made = storage.listed(within)
        except InpaintBenchError as error:
            raise InputError(f"a pilot on {count(len(places), 'film')} came to nothing: {error}") from error
        finally:
            storage.remove(within, [one.name for one in storage.listed(within)])
    for name in ("requests", "bytes_in"):  # films were listed once more
        tried[name] = max(0, tried[name] - listing[name])
    blobs = {Path(one.name).stem for one in made if one.name.startswith("blobs/")}
    others = [one for one in made if Path(one.name).stem not in blobs]
    once = Counter(
        requests=tried[within.scheme] - len(made) + len(others),
        bytes_out=sum(one.bytes for one in others if not one.name.startswith("packs/")),  # these hold rows
    )
    share = {**dict.fromkeys(tried, sum(sizes) / sum(sizes[place] for place in places)), "requests": len(pieces) / len(places)}
    items = [len(part.item_ids) for part in dataset.slices]
    grown = sum(min(number * share["requests"], getattr(recipe, "per_slice", math.inf)) for number in items) / sum(items)
    of_items = [one for one in made if Path(one.name).stem in blobs and Path(one.name).name not in clips]
    growing = Counter(requests=len(of_items), bytes_out=sum(one.bytes for one in of_items))
    asked = {
        name: once[name] + growing[name] * grown + (value - once[name] - growing[name]) * share[name]
        for name, value in tried.items()
    }
    return Foreseen(len(pieces), len(found) - len(pieces), Counter(asked) + listing, len(places))


class _OfFew(Workspace):
    """A workspace that takes up these ``films`` alone, by ``uri``."""

    def __init__(self, path: str, *, films: set[str]) -> None:
        super().__init__(path)
        self._films = films

    def takes(self, name: str) -> bool:
        return name in self._films


def _taken_up(workspace: Workspace, leaf: FolderSource, pieces: Sequence[Footage]) -> set[str]:
    """Those of ``pieces``, by ``uri``, that were found as they are now, and of which there are clips, or a reason why not."""
    step = finding(leaf)
    found = workspace.ledger(step.name).read()
    done = {row.subject_id for row in workspace.table("rejected", Rejection) if not is_note(row.step)}
    done |= {row.source_id for row in workspace.table("clips", Clip)}
    known = set()
    for piece in pieces:
        entry = found.get(task_key(step, Task(piece.uri, piece.content, {})))
        if entry and not done.isdisjoint({piece.uri, *(row["source_id"] for row in entry.get("rows", ()))}):
            known.add(piece.uri)
    return known


@contextmanager
def _cache_of_its_own() -> Iterator[None]:
    before = os.environ.get(storage.CACHE)
    with tempfile.TemporaryDirectory(prefix="inpaintbench-") as folder:
        os.environ[storage.CACHE] = folder
        try:
            yield
        finally:
            del os.environ[storage.CACHE]
            if before is not None:
                os.environ[storage.CACHE] = before


def row(traffic: Mapping[str, float]) -> list[str]:
    """The cells of ``HEADS``."""
    megabytes = [traffic.get(name, 0) / 1e6 for name in ("bytes_in", "bytes_out")]
    sizes = [f"{size / 1000:,.1f} GB" if size >= 1000 else f"{size:.2f} MB" for size in megabytes]
    return [f"{traffic.get('requests', 0):,.0f}", *sizes, f"{traffic.get('cpu_seconds', 0) / 3600:.3g}"]
