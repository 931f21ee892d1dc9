"""Commands of the challenges: building their benchmarks, training baselines, and ranking as they ranked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, get_args

from annotated_types import Ge, Le

from inpaintbench import frozen
from inpaintbench.cli import console
from inpaintbench.cli.build.running import Build, Demo, Out, Owned, one_of
from inpaintbench.cli.console import AsJson, constant, print_json
from inpaintbench.cli.evaluate_options import ProtocolName, SliceName, SomeMetrics, dataset_argument, results_of
from inpaintbench.cli.options import NONE_GIVEN, Among, Given, InSources, Positive, RunFolder, of_recipe
from inpaintbench.cli.words import check_name
from inpaintbench.compute import Device
from inpaintbench.errors import InputError, UsageError
from inpaintbench.eval.comparing.ranking import Column, MeanPlaces, RunStandings, Standing, decimal, ranked_quantities
from inpaintbench.eval.scoring.parts import frozen_or_hub, named
from inpaintbench.masks.generators.given import read_blocks
from inpaintbench.masks.overlays.fonts import BUNDLED, installed_families
from inpaintbench.pages.words import DASH, number
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.wings.chalearn.decaption import DecaptionRecipe
from inpaintbench.wings.chalearn.fingerprint import PHOTOGRAPHS, FingerprintRecipe
from inpaintbench.wings.chalearn.humans import HumansRecipe
from inpaintbench.wings.chalearn.metrics.wnjd import Wnjd, joint_means
from inpaintbench.wings.chalearn.published import chalearn_joints, chalearn_table, chalearn_tables, paper_tables
from inpaintbench.wings.chalearn.training import networks
from inpaintbench.wings.chalearn.training.networks import NETWORKS
from inpaintbench.wings.chalearn.training.train import Limits
from inpaintbench.wings.chalearn.training.train import train as train_network

DEMO_PRINTS = {"name": "Fingerprint demo", "fingers": 36, "law": "uniform"}


def build_fingerprint(
    *,
    out: Out,
    demo: Demo = False,
    given: Annotated[Given, of_recipe(FingerprintRecipe)] = NONE_GIVEN,
    photographs: Path | None = None,
    build: Build = Build(),
) -> None:
    """Synthetic fingerprints, degraded as a whole. Needs no footage.

    Degradation:
        photographs: Folder of photographs for backgrounds instead.

    Example: inpaintbench build fingerprint --fingers 1000 --law whorl=2,arch=1 --out WORKSPACE
    """
    one_of("fingers" in given, demo, "--fingers N")
    if "backgrounds" in given and photographs:
        raise UsageError("give either --background or --photographs, not both")
    if given.get("photographs_licence") and not photographs:
        raise UsageError("--photographs-licence goes with --photographs FOLDER")
    if demo and "law" in given:
        raise UsageError("the demo has all classes alike; for another --law give --fingers N")
    laid_on = {"backgrounds": PHOTOGRAPHS} if photographs else {}
    recipe = build.recipe(FingerprintRecipe, (DEMO_PRINTS if demo else {}) | laid_on, given)
    build.run(recipe, [recipe.source], out, photographs=photographs)


# 5.2 s at 30 frames a second: one clip each.
DEMO_FILMS = {"count": 10, "width": 240, "height": 160, "frames": 156}
# One that gives ten films all difficulties, backgrounds and shares.
DEMO_SEED = 6


def build_decaption(
    *,
    out: Out,
    sources: InSources | None = None,
    demo: Demo = False,
    given: Annotated[Given, of_recipe(DecaptionRecipe)] = NONE_GIVEN,
    owning: Owned = Owned(),
    build: Build = Build(),
) -> None:
    """Clips of five seconds with subtitles painted on them.

    Footage:
        sources (PATH|ADDRESS): Folder of films, s3://bucket/films too; FILM.srt, .ass or .vtt beside a film is its text.

    Example: inpaintbench build decaption --sources FILMS --out WORKSPACE --side 256
    """
    one_of(sources, demo, "--sources FOLDER")
    source = SourceSpec("embedded", DEMO_FILMS) if demo else SourceSpec("folder", {"folder": str(sources), **owning.constants})
    usual = {
        "form": "challenge" if given.get("behaviour") == "as-published" else "lossless",
        "families": [BUNDLED] if demo else list(installed_families()),
        **({"name": "Decaptioning demo", "seed": DEMO_SEED} if demo else {}),
    }
    build.run(build.recipe(DecaptionRecipe, usual, given), [source], out)


DEMO_PEOPLE = 24


def build_humans(
    *,
    out: Out,
    people: list[str] | None = None,
    demo: Demo = False,
    originals: InSources | None = None,
    crop: list[str] | None = None,
    limit: Positive | None = None,
    blocks: Path | None = None,
    given: Annotated[Given, of_recipe(HumansRecipe)] = NONE_GIVEN,
    owning: Owned = Owned(),
    build: Build = Build(),
) -> None:
    """People with blocks missing around their joints.

    Footage:
        people ([SET:]FORMAT=ANNOTATIONS:IMAGES): Annotated photographs: mpii=mpii.mat:images. Repeatable.
        originals (PATH|ADDRESS): Folder of photographs, s3://bucket/photographs too, for --blocks, instead of annotated people.
        crop (NAME=VALUE): Of the crops: grow=0.5, shortest_side=224, framing=person ... Repeatable.
        limit: At most so many people of each set.

    Masks:
        blocks: Mask file of the challenge: photograph -> [row, column, size] triples.

    Example: inpaintbench build humans --people mpii=mpii.mat:images --out WORKSPACE --limit 500
    """
    one_of(people or originals, demo, "--people FORMAT=ANNOTATIONS:IMAGES")
    if bool(originals) != bool(blocks) or (people and originals):
        raise UsageError("--originals FOLDER and --blocks FILE belong together, instead of --people")
    if blocks:
        read_blocks(blocks)  # told before any work
    sources = [_people(text, {**dict(map(constant, crop or ())), **owning.constants}, limit) for text in people or ()]
    if demo:
        sources = [SourceSpec("drawn_people", {"count": DEMO_PEOPLE})]
    if originals:
        sources = [SourceSpec("folder", {"folder": str(originals), "media": "image", **owning.constants})]
    name = {"name": "People demo"} if demo else {}
    recipe = build.recipe(HumansRecipe, {**name, "given_blocks": bool(blocks)}, given)
    build.run(recipe, sources, out, blocks=blocks)


def _people(text: str, crop: Mapping[str, Any], limit: int | None) -> SourceSpec:
    names, equals, paths = text.partition("=")
    name, colon, reader = names.partition(":")
    annotations, between, images = paths.rpartition(":")
    if not (name and equals and annotations and between and images and bool(colon) == bool(reader)):
        raise UsageError(f"--people {text!r} is not [SET:]FORMAT=ANNOTATIONS:IMAGES, such as mpii=mpii.mat:images")
    constants = {"format": reader or name, "annotations": annotations, "images": images, "dataset": name, "limit": limit, **crop}
    return SourceSpec("people", constants, label=name)


def train(
    dataset: str,
    network: Annotated[str, Among(NETWORKS)],
    *,
    out: Path,
    steps: Positive | None = None,
    minutes: float | None = None,
    given: list[str] | None = None,
    seed: Annotated[int, Ge(0), Le(2**63 - 1)] = 0,
    device: Device = "auto",
    threads: Positive = 1,
    evaluated: Path | None = None,
) -> None:
    """Train a baseline of ChaLearn 2018. It learns the items of the split "train"; the method of the same name then uses it.

    Args:
        dataset (DATASET): A frozen dataset: a folder, or OWNER/NAME of the Hub.
        network (NETWORK): One of: {names}.
        out: Folder for the parameters; what it holds of the same training is gone on from.
        steps: End after so many steps in all. [default: no limit]
        minutes: End after so many minutes in all. [default: no limit]
        given --set (NAME=VALUE): A setting, such as width=8. May be given again. [default: as published]
        seed: Of the first parameters and of every draw.
        device: Where: auto, cpu or cuda.
        threads: Of the processor; another number changes last digits.
        evaluated (DATASET): The frozen dataset that the network is for; all items of the other one are then learnt.

    Example: inpaintbench eval train DATASET residual_encoder --out trained --minutes 30
    """
    if dataset in NETWORKS and network not in NETWORKS:  # as older commands have it
        console.warn(f"note: the dataset is the first argument now: inpaintbench eval train {network} {dataset} ...")
        dataset, network = network, dataset
    root = frozen_or_hub(dataset)
    chosen = networks.named(network)
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


_PAPERS = ("chalearn", "editboard", "reinpaint")


def rank(
    dataset: Annotated[Path | None, dataset_argument("none, with --published")] = None,
    *,
    run: RunFolder | None = None,
    protocol: ProtocolName = None,
    metric: SomeMetrics = None,
    region: str | None = None,
    part: SliceName | None = None,
    mean_places: Annotated[str | None, Among(get_args(MeanPlaces))] = None,
    joints: bool = False,
    published: bool = False,
    paper: Annotated[str, Among(_PAPERS)] = "chalearn",
    table: int | None = None,
    as_json: AsJson = False,
) -> None:
    """Order methods by the mean of their places over metrics.

    Args:
        run (PATH|ADDRESS): Folder with the scores. [default: none, with --published]
        region: Where they are measured. [default: each metric's usual one, as in the report]
        part --slice (NAME): Over the items of one slice, or of a split: split-test. [default: all items]
        mean_places: Mean places to one decimal: rounded, or truncated. [default: as the protocol says]
        joints: WNJD of each joint, with its side, too.
        published: Tables that others printed.
        paper: Whose tables these are: the challenges', or a paper's.
        table: Only this one of them. [default: all]

    Example: inpaintbench eval table --for ranks DATASET --run RUN --slice split-test --metric psnr --metric ssim
    """
    if published:
        if dataset or run or protocol or metric:
            raise UsageError("--published ranks printed numbers: leave out the dataset, --run, --protocol and --metric")
        check_name("paper", paper, _PAPERS)
        if paper == "chalearn":
            _tell_published(table, joints=joints, as_json=as_json)
        else:
            _tell_paper(paper, table, as_json=as_json)
        return
    if dataset is None or run is None:
        raise UsageError("give a dataset and --run for your own scores, or --published for those of the challenges")
    check_name("way to print mean places", mean_places, get_args(MeanPlaces))
    results = results_of(run, dataset, protocol)
    how: MeanPlaces = mean_places or results.protocol.mean_places  # type: ignore[assignment]
    where = results.everything if part is None else named(results.dataset, part)
    ranking = RunStandings(results, where, ranked_quantities(results, metric, region))
    if as_json:
        print_json(ranking.plain() | ({"joints": joint_means(results.scores)} if joints else {}))
        return
    title = f"{results.protocol.name}, {where.name}: {len(where.item_ids)} items"
    console.print_table(title, _head(ranking.named_columns), _rows(ranking.standings, ranking.texts, how))
    for remark in ranking.remarks():
        console.say(remark)
    for name, reason in () if metric else ranking.unmeasured(region):
        console.say(f"not ranked by {name}: {reason}")
    if not joints:
        return
    means = joint_means(results.scores)
    if not means:
        raise InputError(f"no {Wnjd.name} was measured under {results.protocol.name!r}, so there is nothing to say of joints")
    rows = []
    for joint in sorted({joint for row in means.values() for joint in row}):
        found = [row.get(joint) for row in means.values()]
        rows.append((joint, *(f"{number(one.mean, 4)} ({one.items})" if one else DASH for one in found)))
    console.print_table("WNJD of each joint (items)", ["joint", *means], rows)


def _tell_published(number: int | None, *, joints: bool, as_json: bool) -> None:
    tables = [chalearn_table(number)] if number is not None else list(chalearn_tables().values())
    if as_json:
        print_json([table.plain() for table in tables])
        return
    for table in tables:
        texts = {row.name: list(row.values) for row in table.rows}
        for how, columns, standings in table.readings():
            title = f"ChaLearn 2018, Table {table.number}: {table.title}; {how}"
            console.print_table(title, _head(columns), _rows(standings, texts, table.mean_places))
        for note in table.notes:
            console.say(f"Table {table.number}: {note}")
        console.say(f"Table {table.number}: compare with {table.ours}.")
    if joints:
        means = chalearn_joints()
        rows = [(joint, *(f"{row[joint]:.2f}" for row in means.values())) for joint in next(iter(means.values()))]
        console.print_table("ChaLearn 2018, Table 7: WNJD ↓ of each joint, track 1, test", ["joint", *means], rows)


def _tell_paper(paper: str, number: int | None, *, as_json: bool) -> None:
    tables = [table for table in paper_tables(paper) if number in (None, table.number)]
    if not tables:
        kept = dict.fromkeys(str(table.number) for table in paper_tables(paper))
        raise UsageError(f"no Table {number} of {paper} is kept, only {', '.join(kept)}")
    if as_json:
        print_json([table.model_dump(mode="json") for table in tables])
        return
    for table in tables:
        part = f", {table.part}" if table.part else ""
        title = f"{table.source}, Table {table.number}{part}: {table.title}"
        console.print_table(title, ["", *table.heads], [(name, *values) for name, values in table.rows.items()])
        for note in table.notes:
            console.say(f"Table {table.number}{part}: {note}")
        console.say(f"Table {table.number}{part}: compare with {table.ours}.")


def _head(columns: Sequence[Column]) -> list[str]:
    return ["place", "method", "mean place", *(f"{column.name} {'↑' if column.higher_is_better else '↓'}" for column in columns)]


def _rows(standings: Sequence[Standing], texts: dict[str, list[str]], mean_places: MeanPlaces) -> list[tuple[str, ...]]:
    return [
        (
            DASH if row.place is None else str(row.place),
            row.method,
            DASH if row.mean is None else decimal(row.mean, how=mean_places),
            *(f"{text} ({DASH if place is None else place})" for text, place in zip(texts[row.method], row.places, strict=True)),
        )
        for row in standings
    ]
