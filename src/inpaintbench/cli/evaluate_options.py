"""Arguments and options that several `eval` commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, get_args

import typer

from inpaintbench.cli import completing
from inpaintbench.compute import Device, Precision
from inpaintbench.eval.protocols import PROTOCOLS

InDataset = Annotated[
    Path,
    typer.Argument(
        parser=completing.dataset,
        metavar="DATASET",
        help="A frozen dataset: the folder with dataset.json, or OWNER/NAME[@REVISION] of the Hub.",
    ),
]
Run = Annotated[Path, typer.Option(help="Folder for predictions, scores and report.")]
ProtocolName = Annotated[
    str | None,
    typer.Option(
        autocompletion=completing.names(PROTOCOLS),
        help=f"One of: {', '.join(PROTOCOLS)}.",
        show_default="the corrected one of the benchmark",
    ),
]
OnDevice = Annotated[
    str,
    typer.Option(autocompletion=completing.names(get_args(Device)), help=f"Where networks run: {', '.join(get_args(Device))}."),
]
InPrecision = Annotated[
    str,
    typer.Option(autocompletion=completing.names(get_args(Precision)), help=f"Of networks: {', '.join(get_args(Precision))}."),
]
