"""What `eval` commands share: options, methods as people type them, and a run folder with what is held back of its dataset."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, get_args

from inpaintbench import frozen
from inpaintbench.catalogue import unknown_name
from inpaintbench.cli import console
from inpaintbench.cli.options import OR_ADDRESS, Among, More, argument, complete_labels, complete_slices, option, parse_dataset
from inpaintbench.cli.words import check_name
from inpaintbench.compute import Compute, Device, Precision
from inpaintbench.errors import InputError, UnknownNameError, UsageError
from inpaintbench.eval.adapters.layouts import SUFFIX, presets
from inpaintbench.eval.methods import METHODS
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.protocols import PROTOCOLS, usual
from inpaintbench.eval.results.tables import Results
from inpaintbench.eval.scoring.effort import Effort
from inpaintbench.eval.scoring.parts import held_back_words, open_part
from inpaintbench.eval.scoring.predict import MethodSpec
from inpaintbench.eval.scoring.run_folder import BETWEEN, bind, references_in, remembered, scores_of
from inpaintbench.executors.unfinished import stopped
from inpaintbench.types import Dataset, Score
from inpaintbench.workspace import Workspace

_LABELLED = re.compile(r"([^=,:\s\[]+)=(.+)", re.DOTALL)
_OTHER_WAYS = "MODULE:NAME, or LABEL=PROGRAM that can be run"
_ADDRESS = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
FORMS = (
    "NAME, one of `eval list methods`, with constants after commas (telea,radius_pixels=5); MODULE:NAME, a callable that takes "
    "frames uint8[T,H,W,3] and hole bool[T,H,W]; a preset of `eval layouts` (propainter), or a file of that form (mine.toml), "
    "with --program FOLDER; or LABEL=PROGRAM. LABEL= may stand before each. May be given again."
)
# The option of methods that are to run, which are the same wherever one can be named.
Named = option(FORMS, "--method", among=METHODS, metavar="METHOD")


def label_of(text: str) -> str:
    """The label of a method that was given none: ``telea``, and ``mine.fill`` of the callable ``mine:fill``."""
    return text.replace(":", ".") if _ADDRESS.fullmatch(text) else text


def leaf_and_constants(text: str) -> tuple[str, dict[str, Any]]:
    """``telea,radius_pixels=5`` or ``mine:fill`` -> its leaf and constants, checked by building it; a name is only looked up.

    Raises:
        UnknownNameError: no such method. InputError: constants that it does not take.
    """
    name, _, given = text.partition(",")
    if name not in METHODS and _ADDRESS.fullmatch(name):
        arguments = dict(console.constant(part) for part in re.split(r",(?![^\[]*\])", given) if part)
        own = {"value_range": arguments.pop("value_range")} if "value_range" in arguments else {}
        return "python_callable", {"address": name, **({"arguments": arguments} if arguments else {}), **own}
    leaf = console.parse_leaf(text, METHODS) if given else {"name": text}
    METHODS.get(leaf["name"])
    return leaf["name"], {name: value for name, value in leaf.items() if name != "name"}


def any_method(text: str, *, program: Mapping[str, Any]) -> MethodSpec:
    """``[LABEL=]NAME[,CONSTANT=VALUE]...`` of a method, a preset or a layout's file; ``[LABEL=]MODULE:NAME[,ARGUMENT=VALUE]...``;
    or ``LABEL=PROGRAM ARGUMENTS``.

    Args:
        text: as it was typed; without a label that is the name, as ``label_of`` has it.
        program: further constants of programs.

    Raises:
        UnknownNameError: none of these. InputError: a program without a label, or constants that a method does not take.
    """
    labelled = _LABELLED.fullmatch(text)
    label, rest = (labelled[1], labelled[2]) if labelled else (None, text)
    name, _, given = rest.partition(",")
    if name in presets() or name.endswith(SUFFIX):
        own = dict(console.constant(part) for part in re.split(r",(?![^\[]*\])", given) if part)
        # A preset and a method may have one name, such as lama: a program is what has a folder.
        if name not in METHODS or "folder" in {*own, *program}:
            further = {key: value for key, value in program.items() if key in ("folder", "time_limit_seconds")}
            return MethodSpec(label or Path(name).stem, "command", {"layout": name, **further, **own})
    if name in METHODS or _ADDRESS.fullmatch(name):
        return MethodSpec(label or label_of(name), *leaf_and_constants(rest))
    if not _is_program(rest, program.get("folder")):
        words = unknown_name("method", name, list(dict.fromkeys([*METHODS, *presets()])))
        raise UnknownNameError(f"{words[:-1]}, {_OTHER_WAYS}?" if words.endswith("?") else f"{words}; or give {_OTHER_WAYS}")
    if label is None:
        raise UsageError(f"the program {rest!r} needs a label: --method {shlex.quote(f'LABEL={rest}')}")
    return MethodSpec(label, "command", {"command": rest, **program})


def _is_program(text: str, folder: str | None) -> bool:
    try:
        words = shlex.split(text)
    except ValueError:
        return True  # whoever runs it says what is wrong with its quotes
    places = [words[0], f"{folder}/{words[0]}"] if folder and words else words[:1]
    return any(map(shutil.which, places))


def dataset_argument(default: str | None = None) -> Any:
    """The metadata of the argument that is a dataset; ``default`` says when none is needed."""
    words = "A frozen dataset: the folder with dataset.json, its address, or OWNER/NAME[@REVISION] of the Hub."
    return argument(words, default=default, parser=parse_dataset, metavar="DATASET")


InDataset = Annotated[Path, dataset_argument()]
Run = Annotated[Path, option("Folder for predictions, scores and report.", **OR_ADDRESS)]
Scored = Annotated[Path, option("Folder with the scores.", **OR_ADDRESS)]
ProtocolName = Annotated[
    str | None,
    option(
        "Its metrics and constants count; `eval list protocols` names them.",
        default="the corrected one of the benchmark; of a run that was scored under another alone, that", among=PROTOCOLS,
        metavar="NAME",
    ),
]  # fmt: skip
SomeMetrics = Annotated[
    list[str] | None,
    option(
        "Only this one (`eval list metrics` names them); may be given again.", default="all of the protocol", among=METRICS,
        metavar="NAME",
    ),
]  # fmt: skip
SomeSlices = Annotated[
    list[str] | None,
    option(
        "Only items of this slice, or of a split (split-test); may be given again.", "--slice", default="all items",
        metavar="NAME", autocompletion=complete_slices,
    ),
]  # fmt: skip
LabelText = Annotated[str, More(parser=label_of, autocompletion=complete_labels)]
SliceName = Annotated[str, More(autocompletion=complete_slices)]
RandomWeights = Annotated[
    int | None, option("Made-up parameters for networks, to try things out; no report takes such scores.", metavar="SEED")
]


PRECISIONS = ("auto", *get_args(Precision))


@dataclass(frozen=True)
class Networks:
    """Options of how the networks of metrics run.

    Attributes:
        device: Where networks run: {names}.
        precision: Of networks: {names}; auto is fp32, or in run folders tf32 on cards, bf16 on processors with AMX, where close.
    """

    device: Annotated[str, Among(get_args(Device))] = "auto"
    precision: Annotated[str, Among(PRECISIONS)] = "auto"
    random_weights: RandomWeights = None

    @property
    def compute(self) -> Compute:
        """The same, checked; ``auto`` as fp32, until somebody measures how far fewer digits are off.

        Raises:
            UnknownNameError: no such device or precision.
        """
        check_name("device", self.device, get_args(Device))
        check_name("precision", self.precision, PRECISIONS)
        precision = "fp32" if self.precision == "auto" else self.precision
        return Compute(device=self.device, precision=precision, random_weights=self.random_weights)  # type: ignore[arg-type]


def existing_run(run: Path) -> Workspace:
    """The run folder ``run``, as it is; ``InputError`` where nothing was predicted there."""
    if run.is_file():
        raise InputError(f"{str(run)!r} is a file; give the folder of a run")
    if not (run / "workspace.json").exists():
        again = shlex.quote(console.shown(run))
        raise InputError(f"no run folder {str(run)!r}; `inpaintbench eval run DATASET --run {again}` makes it")
    return Workspace(run, create=False)


def opened(run: Path, *, going_on: str | None = None) -> Workspace:
    """The same with what a run that was stopped had finished; says in a sentence which those are, but for steps whose names begin
    as ``going_on``: the command does the rest of them.

    Raises:
        InputError: nothing was predicted there. WorkspaceError: another run holds it.
    """
    workspace = existing_run(run)
    for step in stopped(workspace):
        if going_on is None or not step.step.startswith(going_on):
            console.warn(str(step))
    return workspace


def scorable(root: Path) -> Dataset:
    """The items of a frozen dataset that can be scored; says in a sentence what is held back of it.

    Raises:
        InputError: the truth of every item is held back, or no frozen dataset is there.
    """
    whole = frozen.load(root)
    part = open_part(whole)
    if part is not whole:
        console.warn(str(held_back_words(whole)))
    return part


def scored_protocol(workspace: Workspace, dataset: Dataset, protocol: str | None) -> str:
    """A protocol's name as it was given, else the usual one of the dataset, or the one that a run was scored under where that is
    another and the only one, which is said.

    Raises:
        UnknownNameError: no such protocol.
    """
    name = protocol or usual(dataset)
    there = set(workspace.columns("scores", Score, columns=["protocol"])["protocol"].to_pylist())
    if protocol is None and len(there) == 1 and name not in there:
        name = there.pop()
        console.note(f"protocol {name}, the only one with scores")
    return PROTOCOLS.get(name).name


def results_of(run: Path, root: Path, protocol: str | None) -> Results:
    """The scores of a run folder under a protocol, by default that of ``scored_protocol``, as tables.

    Raises:
        InputError: the run is for another dataset, has no scores under the protocol, or scores older than its predictions.
    """
    dataset, workspace = scorable(root), opened(run)
    with workspace.locked():
        bind(workspace, root)
        chosen = PROTOCOLS.get(scored_protocol(workspace, dataset, protocol))
        scores, compared = scores_of(workspace, dataset, root, chosen.name)
        efforts = kept_between_items(workspace)
    return Results(dataset, scores, protocol=chosen, slice_scores=compared, references=references_in(workspace), efforts=efforts)


def kept_between_items(workspace: Workspace) -> dict[str, Effort]:
    """Label -> what is known of what its method kept of an item for another, and no more of its effort."""
    return {label: Effort(between_items=word) for label, word in remembered(workspace, BETWEEN).items()}
