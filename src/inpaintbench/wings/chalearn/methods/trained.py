"""Base class of methods whose parameters were trained here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from inpaintbench.compute import Compute, Device
from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.methods.base import Method
from inpaintbench.models import torch_networks
from inpaintbench.view import ItemView
from inpaintbench.wings.chalearn.training.checkpoint import read_facts, trained


class TrainedMethod(Method):
    """A method whose parameters ``eval train`` wrote; its name is the network's, unless it names another.

    Args:
        checkpoint: folder with ``network.pt`` and ``network.json``.
        device: "auto", "cpu" or "cuda".

    Raises:
        InputError: no such folder, damaged parameters, or those of another network. MissingExtraError: PyTorch is not installed.
    """

    network: str = ""
    """Name of the network where that is not the method's."""

    def __init__(self, *, checkpoint: str, device: Device = "auto") -> None:
        self._compute = Compute(device=device)
        self._device = torch_networks.device_of(self._compute)
        self._checkpoint, self._facts = checkpoint, read_facts(checkpoint, wanted=self.network or self.name)
        trained(checkpoint, self._facts, device=str(self._device))  # what cannot be read is told before anything runs
        self.version = f"{type(self).version}+{self._facts.sha256[:16]}"

    @contextmanager
    def running(self, view: ItemView) -> Iterator[tuple[Any, Any]]:
        """The network and its device, for an item that it has not learnt from.

        Raises:
            NotMeasurable: it has.
        """
        if view.item_id in self._facts.items:
            raise NotMeasurable("the network has learnt from this item, so its answer would say nothing")
        with torch_networks.running(self._compute) as device:
            yield trained(self._checkpoint, self._facts, device=str(self._device)), device
