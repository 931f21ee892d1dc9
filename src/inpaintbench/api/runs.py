"""Frozen datasets and runs of methods from Python: ``ib.load``, ``ib.run``.

Frames are ``uint8[T, H, W, 3]`` RGB, holes ``bool[T, H, W]``, True = hole. A run lies in the same folder as one of the commands,
which go on from it and it from them.
"""

from __future__ import annotations

import hashlib
import html
import marshal
import re
import shlex
import sys
import uuid
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType, SimpleNamespace
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from inpaintbench import frozen, video
from inpaintbench.catalogue import unknown_name
from inpaintbench.compute import Compute
from inpaintbench.errors import InputError, MissingPartError
from inpaintbench.eval.protocols import PROTOCOLS, usual
from inpaintbench.eval.scoring.check import check, is_brought
from inpaintbench.eval.scoring.parts import ALL_ITEMS, everything, frozen_or_hub, items_of_slices, open_part
from inpaintbench.eval.scoring.predict import SECONDS, MethodSpec, predict, why_not
from inpaintbench.eval.scoring.run_folder import OPTION, Scores, bind, check_scored, remember, scored_methods, scores_of
from inpaintbench.eval.scoring.score import score_all
from inpaintbench.executors.base import Rejection
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.export.layout import finder
from inpaintbench.mirrors import here
from inpaintbench.pages import data_uri
from inpaintbench.steps import predict_step
from inpaintbench.types import Frames, Hole, Plain, Prediction, Score, Slice, SliceScore, content_id
from inpaintbench.view import composite_in_place
from inpaintbench.workspace import Workspace

if TYPE_CHECKING:
    import pandas as pd

# What ``run`` was given that has no name by which another process could import it: ``python_callable`` finds it here.
LIVE = SimpleNamespace()
_LIVE_REMARK = "It was run by the program that called it, whose state nothing keeps: it cannot be run again to be compared."


def load(path: str | Path) -> LoadedDataset:
    """Open a frozen dataset: ``ib.load("demo/exports/devil")["camera_motion-high"][0].truth``.

    Args:
        path: its folder, its address such as ``s3://bucket/devil``, or ``OWNER/NAME`` or ``OWNER/NAME@REVISION`` of the Hugging
            Face Hub.

    Raises:
        InputError: neither a frozen dataset nor a name of the Hub. NetworkError: the Hub does not show it.
    """
    return LoadedDataset(frozen_or_hub(str(path)))


class LoadedItem:
    """An item of a frozen dataset. Pixels are decoded whenever they are asked for, each file compared with its hash.

    Each part raises ``MissingPartError`` where the item has none, ``VerifyError`` where a file is not the published one.
    Example: ``item.input[~item.hole]`` are the known pixels.
    """

    def __init__(self, root: Path, row: Plain) -> None:
        self._root, self._row = root, row
        self.item_id: str = row["item_id"]
        self.fps: float = row["fps"]

    @property
    def input(self) -> Frames:
        """``uint8[T, H, W, 3]``: what a method is given, the hole filled with one level."""
        return frozen.corrupted(self._root, self._row, lambda: self.hole)

    @property
    def hole(self) -> Hole:
        """``bool[T, H, W]``, True = hole; all True where every pixel is degraded, or the hole is held back."""
        return frozen.hole_of(self._root, self._row)

    @property
    def truth(self) -> Frames:
        """``uint8[T, H, W, 3]``, not to be written to; items of one clip share it."""
        if frozen.is_unpaired(self._row):
            raise MissingPartError(f"nobody has the truth of item {self.item_id}")
        return frozen.truth_of(self._root, self._row)

    @property
    def attributes(self) -> Mapping[str, Any]:
        """Attribute -> number or word, such as ``mask.area_fraction`` (0..1)."""
        return dict(self._row.get("attributes", {}))

    def __repr__(self) -> str:
        row = self._row
        return f"<item {self.item_id}: {row['frames']} frames of {row['width']}x{row['height']}, {self.fps:g} fps>"

    def _repr_html_(self) -> str:
        middle = int(self._row["frames"]) // 2
        shown = {"input": self.input[middle], "hole": np.repeat(self.hole[middle, ..., None] * np.uint8(255), 3, axis=2)}
        if frozen.has_truth(self._row) and not frozen.is_unpaired(self._row):
            shown["truth"] = self.truth[middle]
        pictures = "".join(
            f'<figure style="display:inline-block;margin:4px"><img width="240" src="'
            f'{data_uri(video.jpeg_bytes(picture), "image/jpeg")}"><figcaption>{name}</figcaption></figure>'
            for name, picture in shown.items()
        )
        told = [(name, value) for name, value in self.attributes.items() if isinstance(value, str | int | float)]
        return f"<p>{html.escape(repr(self))}, frame {middle}</p>{pictures}{html_table(('attribute', 'value'), told)}"


class LoadedSlice(Sequence[LoadedItem]):
    """The items of a slice, in its order. Example: ``data["all items"][:3]``."""

    def __init__(self, root: Path, part: Slice, rows: Sequence[Plain]) -> None:
        self._root, self._rows = root, rows
        self.name, self.rule = part.name, part.rule

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, place: int) -> LoadedItem: ...
    @overload
    def __getitem__(self, place: slice) -> list[LoadedItem]: ...
    def __getitem__(self, place: int | slice) -> LoadedItem | list[LoadedItem]:
        if isinstance(place, slice):
            return [LoadedItem(self._root, row) for row in self._rows[place]]
        return LoadedItem(self._root, self._rows[place])

    def __repr__(self) -> str:
        return f"<slice {self.name}: {len(self)} items, {self.rule}>"


class LoadedDataset(Mapping[str, LoadedSlice]):
    """A frozen dataset: name of a slice -> its items, ``all items`` first. Example: ``sorted(data)``, ``len(data["all items"])``.

    Args:
        root: its folder.

    Raises:
        InputError: no frozen dataset is there. KeyError where a slice is asked for that it does not have.
    """

    def __init__(self, root: Path) -> None:
        self.root, self.dataset = root, frozen.load(root)
        self._slices = {part.name: part for part in (everything(self.dataset), *self.dataset.slices)}

    def __getitem__(self, name: str) -> LoadedSlice:
        if name not in self._slices:
            raise KeyError(unknown_name("slice", name, self._slices))
        part = self._slices[name]
        rows = self.dataset.items if name == ALL_ITEMS else finder(self.dataset.items)(part.item_ids)
        return LoadedSlice(self.root, part, rows)

    def __iter__(self) -> Iterator[str]:
        return iter(self._slices)

    def __len__(self) -> int:
        return len(self._slices)

    def __repr__(self) -> str:
        return f"<{frozen.dataset_id(self.dataset)}: {len(self.dataset.items)} items, {len(self) - 1} slices>"

    def _repr_html_(self) -> str:
        rows = [(part.name, len(part.item_ids), part.rule) for part in self._slices.values()]
        return f"<p>{html.escape(repr(self))}</p>{html_table(('slice', 'items', 'rule'), rows)}"

    def run(self, method: str | Callable[..., Any], **options: Any) -> Run:
        """``run`` of a method on this dataset, which see: ``data.run("telea")``."""
        return run(self, method, **options)


class _Decoded(Mapping[str, Frames]):
    """Item id -> frames, decoded whenever they are asked for."""

    def __init__(self, decoders: Mapping[str, Callable[[], Frames]]) -> None:
        self._decoders = decoders

    def __getitem__(self, item_id: str) -> Frames:
        return self._decoders[item_id]()

    def __iter__(self) -> Iterator[str]:
        return iter(self._decoders)

    def __len__(self) -> int:
        return len(self._decoders)


@dataclass(frozen=True)
class Run:
    """Predictions and scores of one method on a dataset, as they lie in a run folder. Made by ``run``, or of an older folder.

    Example: ``run.scores.groupby("metric")["value"].mean()``
    """

    data: LoadedDataset
    name: str
    """Label of the method."""
    folder: Path
    protocol: str

    @property
    def predictions(self) -> Mapping[str, Frames]:
        """Item id -> ``uint8[T, H, W, 3]``, decoded when asked for: the method's pixels in the hole and the input's around it, or
        whole frames where the benchmark judges those. Items that failed are not among them; see ``failures``."""
        workspace = Workspace(self.folder, create=False)
        rows = workspace.table("predictions", Prediction, step=predict_step(self.name))
        items = {item.item_id: item for item in self.data[ALL_ITEMS]}

        def decoder(row: Prediction) -> Callable[[], Frames]:
            def decoded() -> Frames:
                frames, item = video.read_frames(workspace.blobs.proved(row.blob)), items[row.item_id]
                return frames if row.full_frames else composite_in_place(item.input, item.hole, frames)

            return decoded

        return _Decoded({row.item_id: decoder(row) for row in rows if row.item_id in items})

    @property
    def failures(self) -> dict[str, str]:
        """Item id -> why it has no prediction, one sentence."""
        rows = Workspace(self.folder, create=False).table("rejected", Rejection, step=predict_step(self.name))
        return {row.subject_id: row.reason for row in rows}

    @property
    def scores(self) -> pd.DataFrame:
        """A row for each item, metric and region: ``value`` in the metric's unit, NaN with its ``reason`` where there is none;
        beside it the item's source, slices and ``attribute.NAME``.

        Raises:
            InputError: nothing was scored under the protocol: the truth of every item is held back, or another command does it.
        """
        return self.records()[0].to_pandas(self.data.dataset)

    def records(self) -> tuple[Scores[Score], list[SliceScore]]:
        """``scores`` as records, and the numbers of slices by metrics that compare sets of items; raises the same."""
        workspace = Workspace(self.folder, create=False)
        with workspace.locked():
            bind(workspace, self.data.root)
            check_scored(self.name, scored_methods(workspace, self.protocol))
            part = open_part(self.data.dataset)
            scores, sets = scores_of(workspace, part, self.data.root, self.protocol, methods=[self.name])
        return scores, [row for row in sets if row.method == self.name]


def run(
    data: LoadedDataset,
    method: str | Callable[..., Any],
    *,
    name: str | None = None,
    folder: str | Path | None = None,
    constants: Mapping[str, Any] | None = None,
    version: str | None = None,
    slices: Sequence[str] = (),
    protocol: str | None = None,
    workers: int = 0,
    despite_check: bool = False,
) -> Run:
    """Run a method over a dataset and score it; what is done is kept: ``ib.run(data, mine.fill, name="mine")``.

    A callable gets what ``eval run --method MODULE:NAME`` gives it, frames and hole, and gives frames of that shape. It runs in
    this process: without a time limit, and the report says that nobody can tell what it kept of an item for another. A second
    call makes what is missing: of a function of a module that lies in a file while that file is as it was (edit it, and import it
    anew), of any other callable while ``version`` is; without one all predictions are made anew.

    Args:
        data: of ``load``.
        method: a callable; a built-in method such as ``"telea"``; or ``"MODULE:NAME"``, which worker processes can import.
        name: label of its predictions and scores; by default that of the method.
        folder: run folder or its address, which other methods may share; by default ``runs/ID``, ID being that of the dataset.
        constants: of the method; of a callable further keyword arguments.
        version: of a callable, changes with whatever else it depends on, such as the parameters of a network.
        slices: only items of these; by default all.
        protocol: of the scores; by default the usual one of the benchmark.
        workers: processes; 0 = this one, which a callable needs.
        despite_check: run a method of your own also where the check before the run refuses it.

    Raises:
        UnknownNameError: no such method, slice or protocol.
        InputError: constants that the method does not take, a method that the check refuses, or one that the benchmark does not
            give what it needs; or what is no method.

    Items that failed are told in a warning; see ``failures``.
    """
    dataset, root = data.dataset, data.root
    protocol = protocol or usual(dataset)
    scorer = PROTOCOLS.get(protocol).its_scorer()
    live = not isinstance(method, str)
    if live and workers:
        raise InputError('a callable runs in this process: leave out workers, or give "MODULE:NAME", which others can import')
    label = name or str(method.replace(":", ".") if isinstance(method, str) else getattr(method, "__name__", "<lambda>"))
    if label == "<lambda>":
        raise InputError('give a name to what has none: ib.run(data, method, name="mine")')
    address = method if isinstance(method, str) else _made_live(method, version)
    spec = MethodSpec(label, address, dict(constants or {}))
    if ":" in address:
        spec = MethodSpec(label, "python_callable", {"address": address, **({"arguments": spec.constants} if constants else {})})
    place = here(str(folder or f"runs/{re.sub('[ /]', '-', frozen.dataset_id(dataset))}")).absolute()
    chosen = items_of_slices(dataset, slices) if slices else None
    if reason := why_not(spec, dataset, oracle_mask=False):
        raise InputError(reason)
    workspace = Workspace(place)
    bind(workspace, root)
    with LocalExecutor(workspace, workers=workers) as executor:
        bind(workspace, root)  # at an address another machine may have begun it meanwhile
        remarks = [_LIVE_REMARK] if live else []
        if is_brought(spec):
            found = check(executor, spec, dataset=dataset, root=root, among=chosen, time_limit_seconds=SECONDS).findings
            if (refused := [one.told for one in found if one.weight == "refused"]) and not despite_check:
                raise InputError(f"{label} is not run, for it {'; '.join(refused)}: despite_check=True runs it all the same")
            remarks += [f"Tried before the run, it {one.told}." for one in found if one.weight in ("refused", "warned")]
        executor.only = chosen
        predict(executor, dataset, root=root, method=spec, remarks=remarks)
        executor.only = None
        if live:
            remember(workspace, label, OPTION, f"--method {shlex.quote(label)}=MODULE:NAME")
            delattr(LIVE, address.rpartition(".")[2])  # it may hold a network
        if scorer is None and not all(map(frozen.is_held_back, dataset.items)):
            score_all(executor, open_part(dataset), root, [label], protocol, None, Compute())
    made = Run(data, label, place, protocol)
    if failures := made.failures:
        all_of = f"{len(failures)} of {len(failures) + len(made.predictions)}"
        warnings.warn(f"{label} failed on {all_of} items; the first: {next(iter(failures.values()))}", stacklevel=2)
    return made


class _Live:
    """A callable of this process as ``python_callable`` calls it: nothing begins it anew, so that nothing can watch it."""

    stateless = unwatched = True

    def __init__(self, function: Callable[..., Any]) -> None:
        self.__wrapped__ = function  # whose parameters `inspect.signature` tells
        self.divisor, self.value_range = getattr(function, "divisor", 1), getattr(function, "value_range", None)

    def __call__(self, *given: Any, **further: Any) -> Any:
        return self.__wrapped__(*given, **further)


def _made_live(function: Callable[..., Any], version: str | None) -> str:
    """Address of a callable in ``LIVE``, another one whenever what is known to determine its results is."""
    if not callable(function):
        raise InputError(f"{function!r} is no method: give a callable, a name such as 'telea', or 'MODULE:NAME'")
    module, named = sys.modules.get(getattr(function, "__module__", None) or ""), getattr(function, "__qualname__", "")
    source = getattr(module, "__file__", None)
    named_so = isinstance(function, FunctionType) and getattr(module, named, None) is function
    if named_so and source and Path(source).is_file():  # a program that Python reads from its input has none
        # The file as it is and the code as it was imported: a result of old code is never taken for one of new code.
        content = Path(source).read_bytes() + marshal.dumps(function.__code__)
        key = content_id(named, version, hashlib.sha256(content).hexdigest())
    else:
        key = content_id(named, version or uuid.uuid4().hex)
    setattr(LIVE, f"of_{key}", _Live(function))
    return f"{__name__}:LIVE.of_{key}"


def html_table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table in HTML; all text is shown as it is."""
    lines = [[f"<th>{html.escape(head)}</th>" for head in heads]]
    lines += [[f"<td>{html.escape(str(cell))}</td>" for cell in row] for row in rows]
    shown = "".join("<tr>" + "".join(line) + "</tr>" for line in lines)
    return f"<table>{shown}</table>"
