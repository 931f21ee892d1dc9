"""`eval submit` and `eval leaderboard`: scores of one method packed up, and a site made of many such files."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from inpaintbench import frozen
from inpaintbench.catalogue import unknown_name
from inpaintbench.cli import completing, console
from inpaintbench.cli.evaluate_options import ProtocolName
from inpaintbench.cli.exits import UsageError
from inpaintbench.cli.run_folder import bind, opened, scores_of
from inpaintbench.errors import InputError, UnknownNameError
from inpaintbench.eval.freshness import score_step
from inpaintbench.eval.hub import frozen_or_hub
from inpaintbench.eval.protocols import PROTOCOLS, usual
from inpaintbench.eval.reinpainting.setting import usual_fingerprint
from inpaintbench.workspace import write_atomically

if TYPE_CHECKING:
    from inpaintbench.eval.leaderboard.board import Entry

_DATASET = "A frozen dataset: a folder, or OWNER/NAME on the Hub."


def submit(
    dataset: Annotated[str | None, typer.Argument(help=_DATASET, show_default="none, with --new-card")] = None,
    run: Annotated[Path | None, typer.Option(help="Folder with the scores.", show_default="none, with --new-card")] = None,
    method: Annotated[
        str | None,
        typer.Option(
            metavar="LABEL",
            help="Which of its methods.",
            show_default="the only one that was scored",
            autocompletion=completing.labels,
        ),
    ] = None,
    card: Annotated[Path | None, typer.Option(help="The method card, TOML.", show_default="none, with --new-card")] = None,
    out: Annotated[Path | None, typer.Option(help="The file to write.", show_default="LABEL.zip")] = None,
    protocol: ProtocolName = None,
    predictions: Annotated[
        bool, typer.Option("--predictions", help="Put in the predictions, so that others can measure some again.")
    ] = False,
    new_card: Annotated[
        Path | None, typer.Option("--new-card", metavar="FILE", help="Write an empty method card there, and nothing else.")
    ] = None,
) -> None:
    """Pack one method's scores, hashes and method card into a file for a leaderboard.

    Example: inpaintbench eval submit DATASET --run RUN --method mine --card card.toml --out mine.zip
    """
    from inpaintbench.eval.leaderboard.card import MOST_BYTES, template
    from inpaintbench.eval.leaderboard.pack import pack

    if new_card is not None:
        if new_card.exists():
            raise InputError(f"{str(new_card)!r} is there already; give --new-card another name")
        write_atomically(new_card, template())
        console.out.print(f"wrote {console.shown(new_card)}: fill it in, then give it as --card", markup=False)
        return
    if dataset is None or run is None or card is None:
        raise UsageError("give a dataset, --run and --card, or --new-card FILE for a card to fill in")
    if not card.is_file():
        raise InputError(f"no method card {str(card)!r}; `inpaintbench eval submit --new-card {card}` writes one to fill in")
    with card.open("rb") as file:
        described = file.read(MOST_BYTES + 1)
    root = frozen_or_hub(dataset)
    loaded, workspace = frozen.load(root), opened(run)
    name = protocol or usual(loaded)
    PROTOCOLS.get(name)
    with workspace.locked():
        bind(workspace, root)
        prefix = score_step(name, "")
        scored = [step.removeprefix(prefix) for step in workspace.steps("scores") if step.startswith(prefix)]
        if method is None and len(scored) > 1:
            raise UsageError(f"{str(run)!r} holds scores of {', '.join(scored)}; choose one with --method")
        if scored and method is not None and method not in scored:
            raise UnknownNameError(f"{unknown_name('scored method', method, scored)}: run `inpaintbench eval score` for others")
        label = method or (scored[0] if scored else "")
        scores, sets = scores_of(workspace, loaded, root, name, methods=[label] if label else None)
        target = out or Path(f"{label}.zip")
        made = pack(
            target, workspace=workspace, root=root, protocol=name, method=label, card=described, scores=scores, slice_scores=sets,
            with_predictions=predictions,
        )  # fmt: skip
    missing = len(loaded.items) - len(made.header.predictions)
    said = f", {missing} of {len(loaded.items)} items without a prediction" if missing else ""
    inside = f"{len(made.blobs)} predictions, " if predictions else ""
    console.out.print(f"wrote {console.shown(target)}: {inside}{len(made.scores)} scores of {label}{said}", markup=False)
    console.out.print(f"submission {made.identity}", markup=False)


def leaderboard(
    folder: Annotated[Path, typer.Argument(help="Folder with submissions, *.zip.")],
    dataset: Annotated[str, typer.Option(metavar="PATH|OWNER/NAME", help=_DATASET)],
    out: Annotated[Path, typer.Option(help="Folder for the site.")],
    protocol: ProtocolName = None,
    fingerprint: Annotated[
        str | None, typer.Option(help="Take scores with this fingerprint.", show_default="the protocol's own")
    ] = None,
    verify: Annotated[int, typer.Option(min=0, metavar="N", help="Measure N items of each submission again.")] = 0,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Chooses these items.", show_default="drawn anew, so that nobody can know it")
    ] = None,
    workers: Annotated[int, typer.Option(min=0, help="Processes that measure again; 0 = this one.")] = 1,
    title: Annotated[str | None, typer.Option(help="Of the site.", show_default="the dataset's name")] = None,
    introduction: Annotated[str, typer.Option(help="A sentence below the title.")] = "",
) -> None:
    """Make a static site from submissions; a bad one is listed with its reason and left out.

    Example: inpaintbench eval leaderboard SUBMISSIONS --dataset DATASET --verify 5 --out site
    """
    from inpaintbench.eval.leaderboard.gather import Sample, gather
    from inpaintbench.eval.leaderboard.write import write_site

    root = frozen_or_hub(dataset)
    loaded = frozen.load(root)
    chosen = PROTOCOLS.get(protocol or usual(loaded))
    drawn = secrets.randbits(32) if seed is None else seed
    with console.progress() as told:
        sample = Sample(verify, drawn, workers) if verify else None
        taken = fingerprint or usual_fingerprint(chosen, loaded)
        board = gather(folder, root=root, protocol=chosen, fingerprint=taken, sample=sample, progress=told)
    page = write_site(out, board, title=title, introduction=introduction)
    everything, region = board.slices[0], board.regions[0]
    rows = [
        (row.place or "–", row.entry.label, row.mean_text, row.entry.submission.path.name, _verified(row.entry))
        for row in board.rows(everything, region)
    ]
    console.print_table(f"{chosen.name}, {region}, all items", ["place", "method", "mean place", "file", "measured again"], rows)
    for one in board.refused:
        console.out.print(f"left out: {one.name}: {one.reason}", markup=False)
    if verify:
        console.out.print(f"measured again with --verify {verify} --seed {drawn}", markup=False)
    console.out.print(f"Leaderboard: {page.resolve()}", markup=False)


def _verified(entry: Entry) -> str:
    verdict = entry.verdict
    if verdict is None:
        return "no"
    if verdict.agrees:
        return f"{verdict.values} numbers of {len(verdict.items)} items agree"
    return verdict.reason or "nothing could be measured here"
