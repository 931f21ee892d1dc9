"""The command line: one thin group a room, and `build`, `demo`, `doctor`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

import inpaintbench
from inpaintbench.cli import console
from inpaintbench.cli.commands import group
from inpaintbench.errors import InpaintBenchError, Waiting
from inpaintbench.workspace import is_disk_error

_WAITING = 3
_STOPPED = "stopped; the same command goes on where it was"
app = group(
    {
        "build": "inpaintbench.cli.build:app",
        "demo": "inpaintbench.cli.build.devil:demo",
        "curation": "inpaintbench.cli.curation:app",
        "masks": "inpaintbench.cli.masks:app",
        "annotate": "inpaintbench.cli.annotate:app",
        "export": "inpaintbench.cli.export:app",
        "eval": "inpaintbench.cli.evaluate:app",
        "models": "inpaintbench.cli.models:app",
        "doctor": "inpaintbench.cli.doctor:doctor",
    },
    help="Build, publish and score diagnostic benchmarks for inpainting.",
    name="inpaintbench",
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        console.out.print(f"inpaintbench {inpaintbench.__version__}")
        raise typer.Exit


@app.callback()
def _about(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False,
) -> None:
    """Build, publish and score diagnostic benchmarks for inpainting."""


def main() -> None:
    """Run the program; every expected error is one sentence and exit status 1, waiting for people is 3, Ctrl-C is 130."""
    try:
        console.default_interrupts()
        app()
    except KeyboardInterrupt:  # before the command itself was begun, which handles it
        console.stop(_STOPPED, status=130)
    except Waiting as error:  # nothing is wrong, and scripts can tell
        console.out.print(str(error), markup=False)
        sys.exit(_WAITING)
    except InpaintBenchError as error:
        console.stop(str(error))
    except SystemExit as end:
        if end.code == 130:  # Ctrl-C or SIGTERM
            console.stop(_STOPPED, status=130)
        raise
    except OSError as error:
        if not is_disk_error(error):
            raise
        console.stop(f"cannot write: {error.strerror}" + (f": {error.filename}" if error.filename else ""))
