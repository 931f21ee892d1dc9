"""`export verify`: prove a frozen dataset, in a folder or on the Hub."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from inpaintbench.cli import console
from inpaintbench.cli.answers import AsJson, print_json
from inpaintbench.cli.exits import UsageError
from inpaintbench.errors import VerifyError
from inpaintbench.export.diff import is_hub_name
from inpaintbench.export.verify import Verification
from inpaintbench.export.verify import verify as verify_folder

_SHOWN = 50


def verify(
    dataset: Annotated[str, typer.Argument(metavar="DATASET", help="Folder of a frozen dataset, or OWNER/NAME on the Hub.")],
    decoder: Annotated[
        str | None, typer.Option(help="Second decoder: torchcodec, ffmpeg or decord.", show_default="the first installed")
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(min=1, help="Decode the media of so many items alone; of the Hub, download no others.", show_default="all"),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of --sample: another one draws other items.")] = 0,
    revision: Annotated[str | None, typer.Option(help="Branch, tag or commit of the Hub.", show_default="main")] = None,
    as_json: AsJson = False,
) -> None:
    """Hash every file again, load every config, decode media with two decoders; exit status 1 on any difference.

    Example: inpaintbench export verify OWNER/NAME --sample 20
    """
    with console.progress() as told:
        if is_hub_name(dataset):
            from inpaintbench.export.verify_hub import verify_hub

            result = verify_hub(dataset, decoder=decoder, sample=sample, seed=seed, revision=revision, progress=told)
        elif revision is not None:
            raise UsageError(f"{dataset!r} is a folder; --revision is for datasets of the Hub")
        else:
            result = verify_folder(Path(dataset), decoder=decoder, sample=sample, seed=seed, progress=told)
    if as_json:
        print_json({"equal": not result.problems, **asdict(result)})
    for problem in () if as_json else result.problems[:_SHOWN]:
        console.err.print(problem, markup=False)
    if result.problems:
        raise VerifyError(f"{dataset} differs from its manifest in {len(result.problems)} places")
    if not as_json:
        _tell(dataset, result)


def _tell(dataset: str, result: Verification) -> None:
    lines = [f"{dataset}: {result.files} files, {result.configs} configs, {result.cells} cells equal the manifest"]
    if result.second_decoder and result.largest_difference is not None:
        lines.append(f"{result.second_decoder} agrees with PyAV to {result.largest_difference} levels")
    lines.append(f"It is {result.dataset_id}")
    for line in [*lines, *(f"Not looked at: {what}" for what in result.not_looked_at)]:
        console.out.print(line, markup=False)
