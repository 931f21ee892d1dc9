"""The command line: one thin group a room, and `build`, `demo`, `doctor`."""

from __future__ import annotations

from typing import Annotated

import typer

import inpaintbench
from inpaintbench.cli import build, console, curation, doctor, evaluate, export, masks
from inpaintbench.errors import InpaintBenchError
from inpaintbench.workspace import is_disk_error

_STOPPED = "stopped; the same command goes on where it was"
app = typer.Typer(
    name="inpaintbench", no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None
)
app.add_typer(build.app, name="build")
app.command("demo")(build.demo)
app.add_typer(curation.app, name="curation")
app.add_typer(masks.app, name="masks")
app.add_typer(export.app, name="export")
app.add_typer(evaluate.app, name="eval")
app.command("doctor")(doctor.doctor)


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
    """Run the program; every expected error is one sentence and exit status 1, Ctrl-C is 130."""
    try:
        console.default_interrupts()
        app()
    except KeyboardInterrupt:  # before the command itself was begun, which handles it
        console.stop(_STOPPED, status=130)
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
