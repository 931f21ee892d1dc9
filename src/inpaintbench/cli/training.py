"""`eval train`: the networks that are learnt from a frozen dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from inpaintbench import frozen
from inpaintbench.cli import completing, console
from inpaintbench.cli.evaluate_options import InDataset
from inpaintbench.cli.exits import UsageError
from inpaintbench.compute import Device
from inpaintbench.eval.training.networks import NETWORKS, named
from inpaintbench.eval.training.train import Limits
from inpaintbench.eval.training.train import train as train_network

Name = Annotated[
    str, typer.Argument(metavar="NETWORK", autocompletion=completing.names(NETWORKS), help=f"One of: {', '.join(NETWORKS)}.")
]
Out = Annotated[Path, typer.Option(help="Folder for the parameters; what it holds of the same training is gone on from.")]
Steps = Annotated[int | None, typer.Option(min=1, help="End after so many steps in all.", show_default="no limit")]
Minutes = Annotated[float | None, typer.Option(help="End after so many minutes in all.", show_default="no limit")]
Given = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="A setting, such as width=8. May be given again.", show_default="as published"
    ),
]
On = Annotated[Device, typer.Option(help="Where: auto, cpu or cuda.")]
Threads = Annotated[int, typer.Option(min=1, help="Of the processor; another number changes last digits.")]
Evaluated = Annotated[
    Path | None,
    typer.Option(
        metavar="DATASET", help="The frozen dataset that the network is for; all items of the other one are then learnt."
    ),
]


def train(
    network: Name,
    dataset: InDataset,
    out: Out,
    steps: Steps = None,
    minutes: Minutes = None,
    given: Given = None,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Of the first parameters and of every draw.")] = 0,
    device: On = "auto",
    threads: Threads = 1,
    evaluated: Evaluated = None,
) -> None:
    """Train a baseline of ChaLearn 2018 on the items of the split "train"; the method of the same name then uses it.

    Example: inpaintbench eval train residual_encoder DATASET --out trained --minutes 30
    """
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
            chosen, frozen.load(dataset), root=dataset, folder=out, limits=limits, seed=seed, device=device, threads=threads,
            settings=dict(map(console.constant, given or ())), evaluated=judged, told=told,
        )  # fmt: skip
    console.out.print(
        f"{network}: {trained.steps} steps on {trained.items} items in {trained.seconds / 60:.1f} minutes, last loss "
        f"{trained.loss:.3g}: {console.shown(trained.folder)}",
        markup=False,
    )
    where = "" if evaluated else " --slice split-test"
    use = f"inpaintbench eval run --dataset DATASET --run RUN{where} --method {network},checkpoint={out}"
    console.out.print(f"Use it: {use}", markup=False)
