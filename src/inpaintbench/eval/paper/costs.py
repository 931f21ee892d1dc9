"""Parameters and floating-point operations of the networks behind a method, as PyTorch counts them while it does one item."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from inpaintbench import frozen
from inpaintbench.errors import MissingExtraError
from inpaintbench.eval.methods import METHODS
from inpaintbench.eval.paper.tables import Cost
from inpaintbench.eval.scoring.predict import MethodSpec, build, run
from inpaintbench.models import torch_networks
from inpaintbench.types import Plain


def may_count(method: MethodSpec) -> bool:
    """Return whether a method may run networks in this process: a callable of yours, or one of ours with PyTorch."""
    # A method that loads networks imports the module that does so.
    return method.leaf == "python_callable" or hasattr(sys.modules[METHODS.get(method.leaf).__module__], "torch_networks")


def cost_of(method: MethodSpec, root: Path, row: Plain, *, oracle_mask: bool = False) -> Cost:
    """Run a method on one item once more, and count.

    Args:
        method: one that ``may_count``.
        root: folder of the dataset.
        row: the item.
        oracle_mask: show it the hole of a benchmark that hides it, as its run did.

    Returns:
        What was counted; None for both where PyTorch is not installed, ran no network, or the method fails here.
    """
    try:
        torch: Any = torch_networks.torch()
    except MissingExtraError:
        return Cost(None, None)
    from torch.utils.flop_counter import FlopCounterMode

    seen: dict[int, Any] = {}

    def look(module: Any, _given: Any) -> None:
        seen.update((id(one), one) for one in module.parameters())

    hook = torch.nn.modules.module.register_module_forward_pre_hook(look)
    try:
        with FlopCounterMode(display=False) as counter:
            run(build(method), frozen.input_view(root, row, oracle_mask=oracle_mask))
    except Exception:  # whatever a method of somebody's does; its scores are there all the same
        return Cost(None, None)
    finally:
        hook.remove()
    if not seen:
        return Cost(None, None)
    return Cost(sum(one.numel() for one in seen.values()), counter.get_total_flops() / row["frames"] or None)
