"""Trained parameters as files: tensors alone in one, what they are beside it in JSON; and the methods that use them."""

from __future__ import annotations

import io
import json
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from inpaintbench.errors import InputError, NotMeasurable
from inpaintbench.files import file_sha256, write_atomically
from inpaintbench.models import torch_networks
from inpaintbench.types import Frames
from inpaintbench.wings.chalearn.training.networks import named, settled

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
