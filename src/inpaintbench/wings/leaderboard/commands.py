"""`eval submit` and `eval leaderboard`: scores of one method packed up, and a site made of many such files."""

from __future__ import annotations

import datetime
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from inpaintbench import frozen
from inpaintbench.cli import console
from inpaintbench.cli.evaluate_options import InDataset, LabelText, ProtocolName, dataset_argument, opened, results_of
from inpaintbench.cli.options import Natural, RunFolder
from inpaintbench.errors import InputError, UsageError
from inpaintbench.eval.protocols import PROTOCOLS, usual
from inpaintbench.eval.scoring.effort import beware_words
from inpaintbench.eval.scoring.run_folder import bind, check_scored, scored_methods, scores_of
from inpaintbench.files import write_atomically
from inpaintbench.pages.words import count

if TYPE_CHECKING:
    from inpaintbench.eval.results.tables import Results


def submit(
    dataset: Annotated[Path | None, dataset_argument("none, with --new-card")] = None,
    *,
    run: RunFolder | None = None,
    method: LabelText | None = None,
    card: Path | None = None,
    out: Path | None = None,
    protocol: ProtocolName = None,
    predictions: bool = False,
    new_card: Path | None = None,
    to_hub: str | None = None,
    repo: str | None = None,
    revision: str | None = None,
) -> None:
    """Pack one method's scores for a leaderboard. Hashes and its method card go with them.

    Args:
        run (PATH|ADDRESS): Folder with the scores. [default: none, with --new-card]
        method (LABEL): Which of its methods. [default: the only one that was scored]
        card: The method card, TOML. [default: none, with --new-card]
        out: The file to write. [default: LABEL.zip]
        predictions: Put in the predictions, so that others can measure some again.
        new_card (FILE): Write an empty method card there, and nothing else.
        to_hub (OWNER/MODEL): Open a pull request with the scores on this model of the Hub, with --repo. [default: none]
        repo (OWNER/NAME): The dataset on the Hub, for --to-hub. [default: none]
        revision: Its commit that was scored, as `export push` prints it. [default: not stated]

    Example: inpaintbench eval submit DATASET --run RUN --method mine --card card.toml --out mine.zip
    """
    from inpaintbench.wings.leaderboard.contents import MOST_BYTES, template
    from inpaintbench.wings.leaderboard.pack import pack

    if new_card is not None:
        if new_card.exists():
            raise InputError(f"{str(new_card)!r} is there already; give --new-card another name")
        write_atomically(new_card, template())
        console.say(f"wrote {console.shown(new_card)}: fill it in, then give it as --card")
        return
    if dataset is None or run is None or card is None:
        raise UsageError("give a dataset, --run and --card, or --new-card FILE for a card to fill in")
    if bool(to_hub) != bool(repo):
        raise UsageError("--to-hub names a model and --repo the dataset on the Hub; give both or neither")
    if not card.is_file():
        raise InputError(f"no method card {str(card)!r}; `inpaintbench eval submit --new-card {card}` writes one to fill in")
    with card.open("rb") as file:
        described = file.read(MOST_BYTES + 1)
    loaded, workspace = frozen.load(dataset), opened(run)
    name = protocol or usual(loaded)
    PROTOCOLS.get(name)
    with workspace.locked():
        bind(workspace, dataset)
        scored = scored_methods(workspace, name)
        if method is None and len(scored) > 1:
            raise UsageError(f"{str(run)!r} holds scores of {', '.join(scored)}; choose one with --method")
        if method is not None:
            check_scored(method, scored)
        label = method or (scored[0] if scored else "")
        scores, sets = scores_of(workspace, loaded, dataset, name, methods=[label] if label else None)
        target = out or Path(f"{label}.zip")
        made = pack(
            target, workspace=workspace, root=dataset, protocol=name, method=label, card=described, scores=scores,
            slice_scores=sets, with_predictions=predictions,
        )  # fmt: skip
    missing = len(loaded.items) - len(made.header.predictions)
    said = f", {missing} of {count(len(loaded.items), 'item')} without a prediction" if missing else ""
    if lacking := len(set(made.header.predictions) - set(made.header.measured)):
        console.say(
            f"what the scores of {count(lacking, 'item')} were measured of is not recorded; "
            "`eval run --for scores` again records it"
        )
    inside = f"{count(len(made.blobs), 'prediction')}, " if predictions else ""
    beware = beware_words(made.header.effort.get("between_items", ""))
    told = "; ".join(filter(None, (f"{inside}{len(made.scores)} scores of {label}{said}", f"it {beware}" * bool(beware))))
    console.say(f"wrote {console.shown(target)}: {told}")
    console.say(f"submission {made.identity}")
    if to_hub and repo:
        _propose(results_of(run, dataset, name), label, model=to_hub, repository=repo, revision=revision)
    console.tell_next("eval", "leaderboard", dataset, target.parent, "--out", target.parent / "site")


def _propose(results: Results, method: str, *, model: str, repository: str, revision: str | None) -> None:
    """Open a pull request with a method's scores on its model's repository."""
    from inpaintbench.eval.result_files import lacks, lacks_words, results_path, results_yaml
    from inpaintbench.export.publishing.client import check_name
    from inpaintbench.export.publishing.client import opened as opened_on_hub

    check_name(repository)
    today = f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}"
    data = results_yaml(results, method, repository=repository, revision=revision, date=today)
    if reasons := lacks(results, method):
        console.say(lacks_words(method, reasons))
    with opened_on_hub(model, kind="model") as hub:
        hub.require_token()
        address = hub.propose(f"Scores on {repository}", {results_path(repository): data})
    console.say(f"pull request {address}")


def leaderboard(
    dataset: InDataset,
    folder: Path,
    *,
    out: Path,
    protocol: ProtocolName = None,
    earlier: list[Path] | None = None,
    fingerprint: str | None = None,
    verify: Natural = 0,
    unmeasured: bool = False,
    seed: Natural | None = None,
    workers: Natural = 1,
    clips: Natural = 0,
    title: str | None = None,
    introduction: str = "",
    space: str | None = None,
) -> None:
    """Make a static site from submissions. A bad one is listed with its reason and left out.

    Args:
        folder (SUBMISSIONS): Folder with submissions, *.zip.
        out: Folder for the site.
        earlier (FOLDER): Take scores on this earlier version of the dataset too, and compare all on the items in common; may
            be given again. [default: none]
        fingerprint: Take scores with this fingerprint. [default: the protocol's own]
        verify (N): Measure N items of each submission again.
        unmeasured --place-unmeasured: Give places to submissions too whose pixels are not measured again here.
        seed: Chooses these items. [default: drawn anew, so that nobody can know it]
        workers: Processes that measure again; 0 = this one.
        clips (N): Show N items with every method's clip, from predictions that submissions brought.
        title: Of the site. [default: the dataset's name]
        introduction: A sentence below the title.
        space (OWNER/NAME): Write the README.md of a static Hugging Face Space too, for this dataset of the Hub. [default:
            none]

    Example: inpaintbench eval leaderboard DATASET SUBMISSIONS --verify 5 --out site
    """
    from inpaintbench.export.publishing.client import check_name as check_hub_name
    from inpaintbench.wings.leaderboard.board import UNMEASURED
    from inpaintbench.wings.leaderboard.pack import Sample, gather
    from inpaintbench.wings.leaderboard.write import checked_place, clips_of, write_site

    checked_place(out)
    if space is not None:
        check_hub_name(space)
    loaded = frozen.load(dataset)
    chosen = PROTOCOLS.get(protocol or usual(loaded))
    drawn = secrets.randbits(32) if seed is None else seed
    with console.progress() as shown:
        sample = Sample(verify, drawn, workers) if verify else None
        taken = fingerprint or chosen.fingerprint_of(loaded)
        board = gather(
            folder,
            root=dataset,
            protocol=chosen,
            earlier=earlier or (),
            fingerprint=taken,
            sample=sample,
            trusted=unmeasured,
            progress=shown,
        )
    shown_clips = clips_of(board, root=dataset, items=clips) if clips else None
    page = write_site(out, board, title=title, introduction=introduction, hub_dataset=space, clips=shown_clips)
    everything, region = board.slices[0], board.regions[0]
    rows = []
    for row in board.rows(everything, region):
        file, again = row.entry.submission.path.name, row.entry.agreement or "no"
        rows.append((row.place or "–", row.entry.label, row.mean_text, file, row.entry.version, again))
    console.print_table(
        f"{chosen.name}, {region}, all items", ["place", "method", "mean place", "file", "scored on", "measured again"], rows
    )
    aside: dict[str, list[str]] = {}
    for entry in board.entries:
        if entry.aside and not entry.submission.header.reference:
            aside.setdefault(entry.aside, []).append(entry.label)
    for reason, labels in aside.items():
        way_out = "; --verify N measures some items again, --place-unmeasured takes the submitters' word"
        console.say(f"no place for {', '.join(labels)}: {reason}{way_out * (reason == UNMEASURED)}")
    for left_out in board.refused:
        console.say(f"left out: {left_out.name}: {left_out.reason}")
    if verify:
        console.say(f"measured again with --verify {verify} --seed {drawn}")
    console.say(f"Leaderboard: {page.resolve()}")
    console.tell_next("view", page.parent)
