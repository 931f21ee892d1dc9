"""Train a network on a frozen dataset, from a seed, in a folder that a killed training goes on from.

On the processor the same items, settings, seed and number of threads give the same parameters, whether or not the training was
interrupted. Trained parameters are files: tensors alone in one, what they are beside it in JSON; and the methods that use them.
"""

from __future__ import annotations

import io
import json
import pickle
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from inpaintbench import frozen
from inpaintbench.compute import Compute, Device
from inpaintbench.errors import InputError, NotMeasurable, RunError
from inpaintbench.files import file_sha256, write_atomically
from inpaintbench.lazily import lazily
from inpaintbench.models import torch_networks
from inpaintbench.pages.plots import paper_svg
from inpaintbench.pages.words import count
from inpaintbench.types import Dataset, Frames, Plain, content_id, item_rng
from inpaintbench.wings.chalearn.training.networks import Examples, Network, named, settled

if TYPE_CHECKING:
    from torch import Tensor


PARAMETERS, FACTS = "network.pt", "network.json"


class Facts(NamedTuple):
    """Fields of ``network.json`` that methods need."""

    network: str
    settings: dict[str, float]
    sha256: str
    """SHA-256 of ``network.pt``, hexadecimal."""
    items: frozenset[str]
    """Ids of the items that the network has learnt from."""


def packed(state: Any) -> bytes:
    """A state dict as the bytes of a file."""
    file = io.BytesIO()
    torch_networks.torch().save(state, file)
    return file.getvalue()


def save(folder: Path, state: Any, facts: dict[str, Any]) -> None:
    """Write parameters and facts into ``folder``; ``facts`` get the hash of the parameters."""
    data = packed(state)
    write_atomically(folder / PARAMETERS, data)
    told = {**facts, "sha256": sha256(data).hexdigest()}
    write_atomically(folder / FACTS, (json.dumps(told, indent=1, ensure_ascii=False) + "\n").encode())


def read_facts(checkpoint: str, *, wanted: str) -> Facts:
    """Facts of a checkpoint, once its parameters are found to be the ones it speaks of.

    Args:
        checkpoint: a folder that ``eval train`` wrote.
        wanted: name of the network.

    Raises:
        InputError: there is none, it is damaged, or of another network.
    """
    folder = Path(checkpoint)
    stamps = []
    for name in (PARAMETERS, FACTS):
        if not (path := folder / name).is_file():
            raise InputError(f"no {name} in {checkpoint!r}; give the folder that `eval train {wanted}` wrote by checkpoint=")
        stamps.append((path.stat().st_size, path.stat().st_mtime_ns))
    facts = _read_facts(str(folder.resolve()), tuple(stamps))
    if facts.network != wanted:
        raise InputError(f"{checkpoint!r} holds a {facts.network}, not a {wanted}; choose the method of that name")
    return facts


@lru_cache(maxsize=16)
def _read_facts(folder: str, stamps: tuple[tuple[int, int], ...]) -> Facts:  # noqa: ARG001 - part of what is remembered
    path = Path(folder) / FACTS
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        network, digest, items = told["network"], told["sha256"], told["items"]
        if not (isinstance(network, str) and isinstance(digest, str) and isinstance(items, list)):
            raise TypeError("a field of another kind")
        facts = Facts(network, settled(named(network), told["settings"]), digest, frozenset(map(str, items)))
    except (ValueError, KeyError, TypeError, AttributeError, InputError) as error:
        raise InputError(f"{str(path)!r} is damaged ({error}); train the network again") from error
    if (found := file_sha256(path.with_name(PARAMETERS))) != facts.sha256:
        raise InputError(
            f"{PARAMETERS} in {folder!r} is torn or another file: its SHA-256 begins with {found[:16]}, {FACTS} says "
            f"{facts.sha256[:16]}; `eval train` with the same words mends it"
        )
    return facts


def trained(checkpoint: str, facts: Facts, *, device: str) -> Any:
    """The network with its parameters, in evaluation mode, without gradients.

    Raises:
        InputError: the file holds other things than the tensors of this network; nothing in it is run.
    """
    return _trained(str(Path(checkpoint).resolve()), facts.network, int(facts.settings["width"]), facts.sha256, device)


@lru_cache(maxsize=2)
def _trained(folder: str, name: str, width: int, digest: str, device: str) -> Any:  # noqa: ARG001 - as above
    try:
        with torch_networks.torch().inference_mode(False):  # so that whoever wants gradients can have them, wherever it is read
            made = named(name).build(width)
            made.load_state_dict(torch_networks.read_state(f"{folder}/{PARAMETERS}"))
    except NotMeasurable as error:
        raise InputError(str(error)) from error
    except RuntimeError as error:
        reason = str(error).splitlines()[-1].strip().rstrip(".")
        raise InputError(f"{PARAMETERS} in {folder!r} holds no {name} of width {width}: {reason}") from error
    return made.eval().requires_grad_(False).to(device)


def levels_of(found: Tensor) -> Frames:
    """``uint8[N, H, W, C]`` from ``float32[N, C, H, W]`` in 0..255, rounded."""
    levels: Frames = np.rint(found.permute(0, 2, 3, 1).cpu().numpy()).astype(np.uint8)
    return levels


if TYPE_CHECKING:
    import altair
else:
    altair = lazily("altair")  # takes a quarter of a second, and most commands draw nothing

# A state that another version wrote is not gone on from.
VERSION = "1"
STATE = "training.pt"
# A kill loses at most so much.
SAVE_SECONDS = 15.0
# Of the picture of losses: pixels, and the most points of its line.
_WIDTH, _HEIGHT = 540, 230
_MOST_POINTS = 200
# In the place of smaller losses, which a logarithmic scale cannot show.
_LEAST = 1e-12
# Facts that two runs of one training share.
_SAME = ("network", "version", "settings", "seed", "dataset_id")
# Split of a dataset that networks learn from.
SPLIT = "train"
# After so many steps other items, or other frames of the same ones, take the place of those in memory.
STEPS_A_SET = 500
# What items to train on and items to judge must not share.
_IDENTITIES: dict[str, Callable[[Plain], str]] = {
    "item": itemgetter("item_id"), "file": itemgetter("source_id"), "true picture": itemgetter("truth_rgb_sha256")
}  # fmt: skip
Told = Callable[[int, float], None]


@dataclass(frozen=True)
class Limits:
    """Limits of a training, which ends at the first that is reached."""

    steps: int | None = None
    """Steps in all, with those of earlier runs in the same folder."""
    minutes: float | None = None
    """Minutes in all, likewise; at least one step is made."""

    def reached(self, steps: int, seconds: float) -> bool:
        """Return whether a training of so many steps and seconds ends."""
        return (self.steps is not None and steps >= self.steps) or (
            self.minutes is not None and steps > 0 and seconds >= 60 * self.minutes
        )


@dataclass(frozen=True)
class Trained:
    """Results of a training."""

    folder: Path
    steps: int
    seconds: float
    items: int
    loss: float
    """Mean over the last tenth of the steps."""


def train(
    network: Network,
    dataset: Dataset,
    *,
    root: Path,
    folder: Path,
    limits: Limits,
    settings: Mapping[str, Any] | None = None,
    seed: int = 0,
    device: Device = "auto",
    threads: int = 1,
    evaluated: Dataset | None = None,
    told: Told | None = None,
    save_seconds: float = SAVE_SECONDS,
) -> Trained:
    """Train, or go on training, and leave ``network.pt``, ``network.json``, ``losses.csv`` and ``losses.svg`` in ``folder``.

    Args:
        network: which one.
        dataset: where it learns; its split "train", or all of it where another dataset is ``evaluated``.
        root: folder of ``dataset``.
        folder: for the files; what it holds of the same training is gone on from.
        limits: when to end.
        settings: in the place of the published ones.
        seed: of the first parameters and of every draw.
        device: "auto", "cpu" or "cuda".
        threads: of the processor; with another number the last digits are others.
        evaluated: the dataset that the network is for, where that is not ``dataset``.
        told: called after every step with the steps and seconds so far.
        save_seconds: how often everything is saved.

    Raises:
        InputError: items or settings that do not do, no limit, or a folder that holds another training.
        MissingExtraError: PyTorch is not installed.
        RunError: the loss stopped being a number.
    """
    if limits.steps is None and limits.minutes is None:
        raise InputError("a training needs an end: give --steps, --minutes or both")
    settings = settled(network, settings or {})
    rows = chosen_items(network, dataset, evaluated=evaluated)
    pixels = [(row["item_id"], row["truth_rgb_sha256"], row["input_sha256"]) for row in rows]
    facts = {
        "network": network.name,
        "version": VERSION,
        "settings": dict(settings),
        "seed": seed,
        "dataset": dataset.name,
        "dataset_id": content_id(sorted(pixels)),
        "items": sorted(str(row["item_id"]) for row in rows),
    }
    _check_folder(folder, root)
    run = _Run(network, folder, facts, device)
    draws = Drawn(network, root, rows, seed=seed, size=int(settings["batch"]))
    package = torch_networks.torch()
    threads_before = package.get_num_threads()
    package.set_num_threads(threads)
    began, saved_at = time.monotonic() - run.seconds, time.monotonic()
    try:
        while not limits.reached(len(run.losses), run.seconds):
            run.step(draws.batch(len(run.losses)))
            run.seconds = time.monotonic() - began
            if time.monotonic() - saved_at >= save_seconds:
                run.save()
                saved_at = time.monotonic()
            if told is not None:
                told(len(run.losses), run.seconds)
        run.save()
    finally:
        package.set_num_threads(threads_before)
    last = run.losses[-max(1, len(run.losses) // 10) :]
    return Trained(folder, len(run.losses), run.seconds, len(rows), float(np.mean(last)))


def _check_folder(folder: Path, root: Path) -> None:
    """Raise ``InputError`` unless a training may be written to ``folder``; better now than after an hour."""
    if folder.resolve().is_relative_to(root.resolve()):
        raise InputError(f"{str(folder)!r} lies in the dataset that is learnt from; choose another --out")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / STATE).exists():
        raise InputError(f"{str(folder)!r} holds something else than a training; choose another --out")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(f"{str(folder)!r} cannot be written: {error.strerror}") from error


class _Run:
    """A network in training, and what has been of it."""

    def __init__(self, network: Network, folder: Path, facts: dict[str, Any], device: Device) -> None:
        package = torch_networks.torch()
        self._network, self._folder, self._facts = network, folder, facts
        self._device = torch_networks.device_of(Compute(device=device))
        with package.random.fork_rng(devices=[]):
            package.default_generator.manual_seed(facts["seed"])
            made = network.build(int(facts["settings"]["width"]))
        self._made = made.to(self._device).train()
        self._adam = package.optim.Adam(self._made.parameters(), lr=facts["settings"]["learning_rate"])
        self.losses: list[float] = []
        self.seconds = 0.0
        if (path := folder / STATE).exists():
            try:
                state = torch_networks.torch().load(path, map_location="cpu", weights_only=True)
                before = {name: state[name] for name in _SAME}
            except pickle.UnpicklingError as error:
                raise InputError(f"{str(path)!r} holds more than a training, or is damaged; it is not read: delete it") from error
            except Exception as error:  # PyTorch promises no kinds: a torn file gives about ten of them
                raise InputError(f"{str(path)!r} cannot be read, delete it to begin anew: {error}".splitlines()[0]) from error
            for name, given in before.items():
                if given != self._facts[name]:
                    other = f"whose {name} is {given!r}, not {self._facts[name]!r}"
                    raise InputError(f"{str(self._folder)!r} holds a training {other}; choose another folder")
            self._made.load_state_dict(state["parameters"])
            self._adam.load_state_dict(state["adam"])
            self.losses, self.seconds = state["losses"].tolist(), state["seconds"]

    def step(self, batch: tuple[Any, ...]) -> None:
        """Learn from one batch."""
        package = torch_networks.torch()
        tensors = tuple(package.from_numpy(part).to(self._device) for part in batch)
        self._adam.zero_grad(set_to_none=True)
        loss = self._network.loss(self._made, tensors, self._facts["settings"])
        number = float(loss.detach())
        if not np.isfinite(number):
            raise RunError(f"the loss is {number} after {len(self.losses)} steps; choose a smaller learning_rate")
        loss.backward()  # type: ignore[no-untyped-call]
        self._adam.step()
        self.losses.append(number)

    def save(self) -> None:
        """Write everything, so that a kill at any time leaves the last state or this one."""
        package = torch_networks.torch()
        parameters = {name: part.detach().cpu() for name, part in self._made.state_dict().items()}
        whole = {name: self._facts[name] for name in _SAME} | {
            "parameters": parameters, "adam": self._adam.state_dict(), "seconds": self.seconds,
            "losses": package.tensor(self.losses, dtype=package.float64),
        }  # fmt: skip
        write_atomically(self._folder / STATE, packed(whole))
        versions = {"torch": str(package.__version__), "numpy": np.__version__}
        told = {"steps": len(self.losses), "seconds": round(self.seconds, 1), "device": self._device.type}
        threads = {"threads": package.get_num_threads()} if self._device.type == "cpu" else {}
        save(self._folder, parameters, {**self._facts, **told, **threads, "versions": versions})
        write_atomically(self._folder / "losses.csv", losses_csv(self.losses))
        write_atomically(self._folder / "losses.svg", losses_svg(self.losses, name=self._network.name))


def losses_csv(losses: Sequence[float]) -> bytes:
    """A row a step, steps counted from 1."""
    return "".join(["step,loss\n", *(f"{step},{loss:.9g}\n" for step, loss in enumerate(losses, start=1))]).encode()


def losses_svg(losses: Sequence[float], *, name: str) -> bytes:
    """Means over up to 200 equal runs of steps, on a logarithmic scale."""
    runs = np.array_split(np.asarray(losses, np.float64), min(len(losses), _MOST_POINTS) or 1)
    means = [max(float(run.mean()), _LEAST) for run in runs if run.size]
    ends = np.cumsum([run.size for run in runs if run.size])
    data = altair.InlineData(values=[{"step": int(step), "loss": loss} for step, loss in zip(ends, means, strict=True)])
    axis = altair.Axis(grid=True, ticks=False, domain=False, format=".2~g")
    line = altair.Chart(data).mark_line().properties(width=_WIDTH, height=_HEIGHT)
    drawn = line.encode(
        altair.X("step:Q", title="step"), altair.Y("loss:Q", title="loss", scale=altair.Scale(type="log"), axis=axis)
    ).properties(title=f"Loss of {name}, {count(len(losses), 'step')}")
    return paper_svg(drawn).encode()


def chosen_items(network: Network, dataset: Dataset, *, evaluated: Dataset | None = None) -> list[Plain]:
    """The items to train on: those of the split "train"; where another dataset is to be evaluated on, all.

    Args:
        network: which one.
        dataset: where it learns.
        evaluated: the dataset that the network will be judged on, where that is not ``dataset``.

    Raises:
        InputError: a dataset of another kind, no items to train on, items of several sizes, or items that share their source
            or their pixels with those that are judged.
    """
    for one in (dataset, evaluated):
        if one is not None and (kind := one.recipe.get("recipe")) != network.recipe:
            raise InputError(f"{network.name} is for datasets of the recipe {network.recipe!r}, {one.name!r} is of {kind!r}")
    mine = [row for row in dataset.items if evaluated is not None or row["split"] == SPLIT]
    if not mine:
        splits = ", ".join(sorted({str(row["split"]) for row in dataset.items})) or "no items"
        raise InputError(
            f"{dataset.name!r} has no items in the split {SPLIT!r}, only {splits}; to train on all of them, say by --evaluated "
            f"which other dataset the network is for"
        )
    judged = evaluated.items if evaluated is not None else [row for row in dataset.items if row["split"] != SPLIT]
    # What groups are called, such as "finger 000001", says something within one dataset alone.
    for words, identity in (_IDENTITIES | ({} if evaluated is not None else {"source": frozen.source_of})).items():
        held_out = {identity(row) for row in judged}
        if shared := [row for row in mine if identity(row) in held_out]:
            raise InputError(
                f"{len(shared)} of {len(mine)} items to train on share their {words} with items to be judged, such as "
                f"{shared[0]['item_id']!r}; train on other ones"
            )
    if not network.any_size and len(sizes := sorted({(row["width"], row["height"]) for row in mine})) > 1:
        words = ", ".join(f"{width}x{height}" for width, height in sizes[:3])
        raise InputError(f"items of {dataset.name!r} have several sizes ({words} ...), a network learns from one")
    return mine


class Drawn:
    """Batches of examples; which ones, only the seed and the number of the step tell.

    Args:
        network: says what an item gives.
        root: folder of the dataset.
        rows: the items to train on.
        seed: of all draws.
        size: examples of a batch.
    """

    def __init__(self, network: Network, root: Path, rows: Sequence[Plain], *, seed: int, size: int) -> None:
        self._network, self._root, self._rows, self._seed, self._size = network, root, rows, seed, size
        self._held = -1
        self._examples: Examples = ()

    def batch(self, step: int) -> Examples:
        """The arrays of step ``step``, counted from 0.

        Raises:
            MediaError: a file that does not decode.
        """
        number = step // STEPS_A_SET
        if self._held != number:
            sets = -(-len(self._rows) // self._network.items_at_once)
            order = item_rng(self._seed, "training order", str(number // sets)).permutation(len(self._rows))
            read = [self._of_item(self._rows[index], number) for index in np.array_split(order, sets)[number % sets]]
            self._examples, self._held = tuple(np.concatenate(parts) for parts in zip(*read, strict=True)), number
        drawn = item_rng(self._seed, "training batch", str(step)).integers(0, len(self._examples[0]), self._size)
        return tuple(part[drawn] for part in self._examples)

    def _of_item(self, row: Plain, number: int) -> Examples:
        truth, hole = frozen.truth_and_hole(self._root, row)
        degraded = frozen.corrupted(self._root, row, lambda: hole)
        count = min(self._network.frames_of_item, len(truth))
        rng = item_rng(self._seed, f"training frames {number}", str(row["item_id"]))
        some: npt.NDArray[Any] = np.sort(rng.choice(len(truth), count, replace=False))
        return self._network.examples(truth[some], degraded[some], hole[some])
