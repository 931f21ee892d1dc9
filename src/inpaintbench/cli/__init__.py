"""The command line: one thin group a room, and `build`, `demo`, `doctor`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

import inpaintbench
from inpaintbench.catalogue import joined
from inpaintbench.cli import console, logs
from inpaintbench.cli.commands import group
from inpaintbench.errors import Waiting
from inpaintbench.storage import local_path

_STOPPED = "stopped; the same command goes on where it was"
_OF_WINGS = joined("command")
app = group(
    {
        "demo": "inpaintbench.cli.build.devil:demo",
        "doctor": "inpaintbench.cli.installed:doctor",
        "build": "inpaintbench.cli.build:app",
        "curation": "inpaintbench.cli.curation:app",
        "masks": "inpaintbench.cli.masks:app",
        "export": "inpaintbench.cli.export:app",
        "annotate": "inpaintbench.cli.annotate:app",
        "eval": "inpaintbench.cli.evaluate:app",
        "view": "inpaintbench.cli.viewing:view",
        "models": "inpaintbench.cli.installed:app",
        "leaf": "inpaintbench.cli.leaf:app",
        **_OF_WINGS,
    },
    help="Build, publish and score diagnostic benchmarks for inpainting.",
    sentences={
        "build": "Build a whole benchmark: sources to frozen dataset.",
        "demo": "Build, score and report a small benchmark. Its footage comes with the program; needs no network.",
        "curation": "Find footage, cut it into clips, measure, label and select them.",
        "masks": "Make corruptions and measure them.",
        "annotate": "Ask people: judgements in the browser, agreement, rankings.",
        "export": "Freeze items into a dataset that anyone can load and verify.",
        "eval": "Run methods on a frozen dataset, score them, report.",
        "view": "Show runs and datasets beside each other in the browser.",
        "models": "Fetch, import and check the parameters of networks.",
        "leaf": "Try leaves of your own, such as metrics, methods, questions.",
        "doctor": "Tell whether this can start, and what each part lacks.",
        **joined("sentence of command"),
    },
    panels={
        "Begin": ("demo",),
        "Make a benchmark": ("build", "curation", "masks", "export"),
        "Ask people": ("annotate",),
        "Run, score and look": ("eval", *_OF_WINGS, "view", "models"),
    },
    name="inpaintbench",
    pretty_exceptions_enable=False,
    add_completion=True,
)


def _version(wanted: bool) -> None:
    if wanted:
        console.out.print(f"inpaintbench {inpaintbench.__version__}")
        raise typer.Exit


def _cite(wanted: bool) -> None:
    if wanted:
        from inpaintbench.eval.paper.references import tool_entry  # the help of the program imports no room

        console.out.print(tool_entry(), soft_wrap=True, markup=False, highlight=False)
        raise typer.Exit


def _log(file: str | None) -> None:
    if file is not None:
        logs.also_into(local_path(file, called="--log"))


Version = Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")]
Cite = Annotated[bool, typer.Option("--cite", callback=_cite, is_eager=True, help="Print how to cite it, as BibTeX.")]
Log = Annotated[
    str | None,
    typer.Option(
        "--log",
        metavar="FILE",
        envvar="INPAINTBENCH_LOG",
        callback=_log,
        is_eager=True,
        help="Add what the command does to this file, as JSON lines.",
    ),
]


@app.callback(
    epilog="What is lacking here: `inpaintbench doctor`. Leaves of your own, such as metrics and questions: "
    "`inpaintbench leaf --help`."
)
def _about(version: Version = False, cite: Cite = False, log: Log = None) -> None:
    """Build, publish and score diagnostic benchmarks for inpainting."""


def main() -> None:
    """Run the program; every error is one sentence, with a status by ``exits``."""
    console.default_interrupts()
    if sys.flags.optimize > 1:  # names and help of options stand in docstrings, which -OO takes away
        console.stop("run Python without -OO: the commands need their docstrings", status=logs.WRONG_USE)
    with logs.of_command(sys.argv[1:]):
        try:
            app(prog_name="inpaintbench")
        except KeyboardInterrupt:  # before the command itself was begun, which handles it
            console.stop(_STOPPED, status=logs.STOPPED)
        except Waiting as error:  # nothing is wrong, and scripts can tell
            console.say(str(error))
            sys.exit(logs.WAITING)
        except SystemExit as end:
            if end.code == logs.STOPPED:  # Ctrl-C or SIGTERM
                console.stop(_STOPPED, status=logs.STOPPED)
            raise
        except Exception as error:  # the last to see it: a sentence and a status for every kind
            console.stop(logs.sentence_of(error), status=logs.status_of(error))
