"""Items of DEVIL's ten slices: pairs of a clip and a blob, drawn by ``export.slices.plan``.

There may be millions, so masks are asked for and rows are written without an object for each being held.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from inpaintbench.executors.base import Executor, Outcome, Rejection
from inpaintbench.export import slices
from inpaintbench.lazily import lazily
from inpaintbench.masks import render
from inpaintbench.recipes import leakage, stages
from inpaintbench.steps import KNOWN, PAIR
from inpaintbench.tables import flat, last_places, schema_of, texts, to_columns
from inpaintbench.types import Clip, Item, Slice, content_id
from inpaintbench.workspace import Workspace

pc = lazily("pyarrow.compute")
GENERATOR = "devil_blobs"


def make(recipe: Any, executor: Executor, workspace: Workspace, plan: slices.Plan) -> Outcome:
    """Render the masks of planned pairs, and write items and slices of those that could be; the corruptions.

    Args:
        recipe: with ``behaviour``, ``seed`` and ``splits``.
        executor: who renders.
        workspace: with the clips.
        plan: of the pairs.
    """
    requests = Requests(recipe, plan.pairs, workspace)
    ids = texts(requests.corruption_ids())
    rendered = render.render(executor, requests, ids=ids)
    _write_items(recipe, workspace, plan, ids, rendered=flat(rendered.columns("corruption_id")["corruption_id"]))
    return rendered


class Requests(Sequence[render.MaskRequest]):
    """Masks asked for by pairs of the clips of ``workspace``, made when they are asked for."""

    def __init__(self, recipe: Any, pairs: slices.Pairs, workspace: Workspace) -> None:
        self._recipe, self._pairs, self._workspace = recipe, pairs, workspace

    def corruption_ids(self) -> Iterator[str]:
        """Yield the id of each, in order."""
        seed = self._recipe.seed
        return (render.corruption_id(pair.clip_id, GENERATOR, self._parameters(pair), seed) for pair in self._pairs)

    def _parameters(self, pair: slices.Pair) -> dict[str, Any]:
        return {"preset": pair.preset, "behaviour": self._recipe.behaviour, "index": pair.index, "reverse": pair.reverse}

    @cached_property
    def _clips(self) -> pa.Table:
        return self._workspace.columns("clips", Clip)

    @cached_property
    def _places(self) -> npt.NDArray[np.int64]:
        """Of the clip of each pair."""
        return last_places(flat(self._clips["clip_id"]), texts(self._pairs.clip_ids))

    def __len__(self) -> int:
        return len(self._pairs)

    @overload
    def __getitem__(self, place: int) -> render.MaskRequest: ...
    @overload
    def __getitem__(self, place: slice) -> list[render.MaskRequest]: ...
    def __getitem__(self, place: int | slice) -> render.MaskRequest | list[render.MaskRequest]:
        if isinstance(place, slice):
            return [self[at] for at in range(*place.indices(len(self)))]
        (clip,) = self._clips.slice(int(self._places[place]), 1).to_pylist()
        return render.MaskRequest(Clip(**clip), GENERATOR, self._parameters(self._pairs[place]), self._recipe.seed)


def _write_items(recipe: Any, workspace: Workspace, plan: slices.Plan, corruption_ids: pa.Array, *, rendered: pa.Array) -> None:
    """Write the items of pairs whose corruptions, ``string[n]``, are among those rendered, and the slices that they are in."""
    there = pc.is_in(corruption_ids, value_set=rendered)
    ids = texts(map(content_id, plan.pairs.clip_ids, _each(corruption_ids)))
    item_ids = ids.filter(there)
    order = pc.unique(item_ids)
    order = order.take(pc.sort_indices(order))
    places = pc.index_in(order, value_set=item_ids)
    of_clips, corruptions = (column.filter(there).take(places) for column in (texts(plan.pairs.clip_ids), corruption_ids))
    cells = [order, of_clips, corruptions, _splits(recipe, workspace, of_clips)]
    workspace.write_columns("items", PAIR, pa.Table.from_arrays(cells, schema=schema_of(Item)))
    del item_ids, order, places, of_clips, corruptions, cells
    empty: dict[str, str] = {name: plan.left_out.get(name, "no mask could be rendered") for name in plan.rules}
    workspace.write_rows("slices", PAIR, chain([schema_of(Slice).empty_table()], _slices(plan, ids, there, empty)))
    workspace.write_table("rejected", PAIR, [Rejection(name, PAIR, name, why) for name, why in empty.items()], Rejection)


def _splits(recipe: Any, workspace: Workspace, clip_ids: pa.Array) -> pa.Array:
    """Return the split of each of some clips, ``string[n]``."""
    clips = workspace.columns("clips", Clip, columns=["clip_id", "source_id"])
    clips = clips.filter(pc.is_in(clips["clip_id"], value_set=clip_ids)).combine_chunks()
    groups = leakage.sources_of(workspace, clips, step=KNOWN).to_pylist()
    split_of = stages.split_of(recipe, workspace, dict(zip(clips["clip_id"].to_pylist(), groups, strict=True)))
    known = flat(clips["clip_id"])
    return texts(map(split_of.__getitem__, _each(known))).take(pc.index_in(clip_ids, value_set=known))


def _slices(plan: slices.Plan, item_ids: pa.Array, there: pa.BooleanArray, empty: dict[str, str]) -> Iterator[pa.Table]:
    """A row for each slice of pairs that has items; takes those out of ``empty``."""
    begin = 0
    for name, count in plan.pairs.counts.items():
        members = pc.unique(item_ids.slice(begin, count).filter(there.slice(begin, count)))
        begin += count
        if len(members):
            del empty[name]
            yield to_columns([Slice(name, plan.rules[name], tuple(members.to_pylist()))], Slice)


def _each(column: pa.Array) -> Iterator[Any]:
    """The values of a column, without ever holding all of them as objects."""
    return chain.from_iterable(column.slice(begin, 1 << 16).to_pylist() for begin in range(0, len(column), 1 << 16))
