"""`eval train`: the networks that are learnt from a frozen dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from annotated_types import Ge, Le

from inpaintbench import frozen
from inpaintbench.cli import console
from inpaintbench.cli.options import argument, option
from inpaintbench.compute import Device
from inpaintbench.errors import UsageError
from inpaintbench.eval.scoring.parts import frozen_or_hub
from inpaintbench.wings.chalearn.training.networks import NETWORKS, named
from inpaintbench.wings.chalearn.training.train import Limits
from inpaintbench.wings.chalearn.training.train import train as train_network

Name = Annotated[str, argument(f"One of: {', '.join(NETWORKS)}.", among=NETWORKS, metavar="NETWORK")]
Out = Annotated[Path, option("Folder for the parameters; what it holds of the same training is gone on from.")]
Steps = Annotated[int | None, option("End after so many steps in all.", default="no limit", min=1)]
Minutes = Annotated[float | None, option("End after so many minutes in all.", default="no limit")]
Given = Annotated[
    list[str] | None,
    option("A setting, such as width=8. May be given again.", "--set", default="as published", metavar="NAME=VALUE"),
]
On = Annotated[Device, option("Where: auto, cpu or cuda.")]
Threads = Annotated[int, option("Of the processor; another number changes last digits.", min=1)]
Evaluated = Annotated[
    Path | None,
    option("The frozen dataset that the network is for; all items of the other one are then learnt.", metavar="DATASET"),
]


def train(
    dataset: str,
    network: Name,
    *,
    out: Out,
    steps: Steps = None,
    minutes: Minutes = None,
    given: Given = None,
    seed: Annotated[int, Ge(0), Le(2**63 - 1)] = 0,
    device: On = "auto",
    threads: Threads = 1,
    evaluated: Evaluated = None,
) -> None:
    """Train a baseline of ChaLearn 2018. It learns the items of the split "train"; the method of the same name then uses it.

    Args:
        dataset (DATASET): A frozen dataset: a folder, or OWNER/NAME of the Hub.
        seed: Of the first parameters and of every draw.

    Example: inpaintbench eval train DATASET residual_encoder --out trained --minutes 30
    """
    if dataset in NETWORKS and network not in NETWORKS:  # as older commands have it
        console.warn(f"note: the dataset is the first argument now: inpaintbench eval train {network} {dataset} ...")
        dataset, network = network, dataset
    root = frozen_or_hub(dataset)
    chosen = named(network)
    if minutes is not None and not 0 < minutes < float("inf"):
        raise UsageError(f"--minutes is {minutes}, choose a number above 0")
    limits = Limits(steps=steps, minutes=minutes)
    judged = frozen.load(evaluated) if evaluated is not None else None
    with console.progress() as bars:

        def told(done: int, seconds: float) -> None:
            if steps is not None:
                bars(f"train {network}", done, steps)
            elif minutes is not None:
                bars(f"train {network}, seconds", min(int(seconds), int(60 * minutes)), int(60 * minutes))

        trained = train_network(
            chosen, frozen.load(root), root=root, folder=out, limits=limits, seed=seed, device=device, threads=threads,
            settings=dict(map(console.constant, given or ())), evaluated=judged, told=told,
        )  # fmt: skip
    console.say(
        f"{network}: {trained.steps} steps on {trained.items} items in {trained.seconds / 60:.1f} minutes, last loss "
        f"{trained.loss:.3g}: {console.shown(trained.folder)}"
    )
    where = () if evaluated else ("--slice", "split-test")
    console.tell_next("eval", "run", "DATASET", "--run", "RUN", *where, "--method", f"{network},checkpoint={out}")
