"""`eval`: predict, score and report over a frozen dataset; needs nothing of the workspace that made it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from inpaintbench import frozen
from inpaintbench.cli import console
from inpaintbench.cli.aligning import align_command
from inpaintbench.cli.analysing import analysis
from inpaintbench.cli.comparing import compare_command
from inpaintbench.cli.editboard import editboard, transcript
from inpaintbench.cli.evaluate_options import InDataset, ProtocolName, Run
from inpaintbench.cli.leaderboard import leaderboard, submit
from inpaintbench.cli.predicting import predict, predict_all
from inpaintbench.cli.ranking import rank
from inpaintbench.cli.reinpaint import app as reinpaint
from inpaintbench.cli.run_folder import bind, opened, scores_of
from inpaintbench.cli.running_methods import list_layouts, run
from inpaintbench.cli.scoring import score, score_all
from inpaintbench.cli.training import train
from inpaintbench.errors import VerifyError
from inpaintbench.eval.media import PredictionMedia
from inpaintbench.eval.methods import METHODS
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.predict import MethodSpec
from inpaintbench.eval.protocols import PROTOCOLS, usual
from inpaintbench.eval.report import write_report
from inpaintbench.export.verify import verify
from inpaintbench.sharing import Compute
from inpaintbench.types import Dataset, Prediction
from inpaintbench.workspace import Workspace

app = typer.Typer(no_args_is_help=True, help="Run methods on a frozen dataset, score their predictions, report.")

DEMO_METHODS = tuple(MethodSpec(name, name) for name in ("blank", "telea", "temporal_median", "affine_propagation"))


def _report(
    workspace: Workspace, dataset: Dataset, root: Path, protocol: str, methods: Sequence[str] | None, *, out: Path | None = None
) -> Path:
    chosen = PROTOCOLS.get(protocol)
    rows, compared = scores_of(workspace, dataset, root, protocol, methods=methods)
    media = PredictionMedia(root, dataset, workspace.blobs, workspace.table("predictions", Prediction), resize=chosen.resize)
    folder = out or workspace.path / "report"
    if (before := _reported(folder)) not in (None, protocol):
        console.err.print(f"replaces the report under {before}; --out keeps both", markup=False)
    return write_report(
        folder, title=dataset.name, dataset=dataset, scores=rows, slice_scores=compared, protocol=chosen, media=media
    ).page


def _reported(folder: Path) -> str | None:
    """The protocol of the report in ``folder``; None without one."""
    try:
        return str(json.loads((folder / "report.json").read_text())["protocol"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def evaluate(root: Path, *, run: Path, methods: Sequence[MethodSpec], protocol: str, workers: int) -> Path:
    """Predict, score and report in one go; the path of the report."""
    dataset, workspace = frozen.load(root), Workspace(run)
    labels = [spec.label for spec in methods]
    with console.running(workspace, workers=workers) as executor:
        predict_all(executor, dataset, root, methods, full=False, seconds=3600.0)
        score_all(executor, dataset, root, labels, protocol, None, Compute())
    return _report(workspace, dataset, root, protocol, labels)


def verify_loadable(root: Path) -> None:
    """Load every config with decoding off, decode every cell with PyAV, and say so."""
    result = verify(root)
    if result.problems:
        raise VerifyError(f"{root} differs from its manifest: {result.problems[0]}")
    text = f"Verified: {result.files} files, {result.configs} configs loaded, {result.cells} cells decoded"
    console.out.print(text, markup=False)


app.command()(run)
app.command()(predict)
app.command()(score)
app.command()(train)


@app.command()
def report(
    dataset: InDataset,
    run: Run,
    protocol: ProtocolName = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the report.", show_default="RUN/report")] = None,
) -> None:
    """Write the HTML report of a run, with CSV and JSON beside it; an older one in its place goes away."""
    loaded, workspace = frozen.load(dataset), opened(run)
    bind(workspace, dataset)
    with workspace.locked():
        page = _report(workspace, loaded, dataset, protocol or usual(loaded), None, out=out)
    console.out.print(f"Report: {page.resolve()}", markup=False)


app.command()(analysis)
app.command()(rank)
app.command()(editboard)
app.command()(transcript)
app.command("compare")(compare_command)
app.command()(submit)
app.command()(leaderboard)
app.command("align")(align_command)
app.add_typer(reinpaint, name="reinpaint")


app.command("layouts")(list_layouts)


@app.command("list")
def list_leaves() -> None:
    """List methods, metrics and protocols."""
    console.print_table("Methods", ["name", "what it does"], [(name, _sentence(METHODS.get(name))) for name in METHODS])
    metrics = [(name, METRICS.get(name)) for name in METRICS]
    rows = [(name, leaf.unit, _better(leaf), _sentence(leaf)) for name, leaf in metrics]
    console.print_table("Metrics", ["name", "unit", "better", "what it is"], rows)
    protocols = [(name, PROTOCOLS.get(name).fingerprint, ", ".join(PROTOCOLS.get(name).metrics)) for name in PROTOCOLS]
    console.print_table("Protocols", ["name", "fingerprint", "metrics"], protocols)


def _sentence(leaf: type) -> str:
    return " ".join((leaf.__doc__ or "").split("\n\n")[0].replace("``", "").split())


def _better(leaf: Any) -> str:
    if not getattr(leaf, "ranked", True):
        return "not ranked"
    return "higher" if leaf.higher_is_better else "lower"
