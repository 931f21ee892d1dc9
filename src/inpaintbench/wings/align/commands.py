"""`eval align`: how well metrics agree with people."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

from inpaintbench import frozen
from inpaintbench.cli import console
from inpaintbench.cli.evaluate_options import ProtocolName, kept_between_items, opened, scorable
from inpaintbench.cli.options import RunFolder, Share, option
from inpaintbench.cli.words import pair
from inpaintbench.errors import InputError, UsageError
from inpaintbench.eval.protocols import PROTOCOLS, usual
from inpaintbench.eval.results.cautions import exposure_sentences
from inpaintbench.eval.results.tables import Results
from inpaintbench.eval.scoring.parts import frozen_or_hub
from inpaintbench.eval.scoring.run_folder import bind, references_in, scores_of
from inpaintbench.table_files import read_rows
from inpaintbench.types import Dataset, Score
from inpaintbench.wings.align.agreement import FOLDER
from inpaintbench.wings.align.align import Alignment, against, align, asked_for
from inpaintbench.wings.align.bootstrap import correlation_words, rate_words
from inpaintbench.wings.align.page import write_alignment
from inpaintbench.wings.align.reading import (
    Answers,
    Measured,
    answers_of_scores,
    full_name,
    in_regions,
    measured_of,
    read_answers,
    read_scores,
    without,
)
from inpaintbench.workspace import Workspace


def align_command(
    dataset: str | None = None,
    answers: Path | None = None,
    *,
    scores: Path | None = None,
    run: RunFolder | None = None,
    protocol: ProtocolName = None,
    tie: list[str] | None = None,
    tie_quantile: Share | None = None,
    better: list[str] | None = None,
    slices: Path | None = None,
    region: list[str] | None = None,
    baseline: str | None = None,
    pair: list[str] | None = None,
    out: Annotated[Path | None, option("Folder for tables, figures and the page.", default=f"RUN/{FOLDER}, or {FOLDER}")] = None,
) -> None:
    """Say how well metrics agree with people. It tells matching rates, correlations, the raters' own agreement.

    Args:
        dataset (DATASET): A frozen dataset, for --run, sources and slices: a folder, or OWNER/NAME of the Hub. [default:
            none, with --scores]
        answers: Table of answers: .csv, .jsonl or .parquet with annotator, group, dimension, left, right, choice, or a file
            of `annotate export`. [default: the resolved votes of --run]
        scores: Table of scores: item, method, metric, value. [default: those of --run]
        run (PATH|ADDRESS): Folder with the scores. [default: none, with --scores]
        tie (METRIC=VALUE): From which difference on two values count as different; repeat for more.
        tie_quantile: The other thresholds: this quantile of the differences of the pairs asked.
        better (METRIC=higher|lower): Direction of a metric that is not known here.
        slices: Table with item and slice, for verdicts by slice. [default: those of the dataset]
        region (REGION): Metrics in this region; repeat for more. Names such as psnr/frame in other options are taken too.
            [default: the usual one of each, as in the report]
        baseline (METRIC): The metric that all others are tested against. [default: psnr, else clip_similarity]
        pair (METRIC,METRIC): Test these two metrics instead of all against one; repeat for more.

    Example: inpaintbench eval align DATASET answers.csv --run RUN --tie psnr=0.5
    """
    if answers is None and dataset is not None and (scores or Path(dataset).is_file()):
        answers, dataset = Path(dataset), None  # a table alone is that of the answers
    root = frozen_or_hub(dataset) if dataset else None
    directions, given = {}, {}
    for name, side in _pairs(better, "--better").items():
        if side not in ("higher", "lower"):
            raise UsageError(f"--better {name} is {side!r}, choose higher or lower")
        directions[name] = side == "higher"
    for name, text in _pairs(tie, "--tie").items():
        try:
            given[name] = float(text)
        except ValueError as error:
            raise UsageError(f"--tie {name} is {text!r}, not a number") from error
    loaded = scorable(root) if root else None
    said, references, everything, fingerprint, notes = _inputs(answers, scores, loaded, root, run, protocol, directions)
    ballots = without(said, references)
    if not ballots.ballots:
        raise InputError("every answer is about a reference method, which does not compete, so there is nothing to align with")
    pairs = _pairs_of(pair or [])
    asked = {*given, *(name for of in pairs for name in of), *([baseline] if baseline else [])}
    follows = PROTOCOLS.get(protocol or usual(loaded)) if loaded and not scores else None
    measured = in_regions(everything, follows, regions=region or (), asked=asked)
    names = list(measured.values)
    _tell_strangers(ballots, measured)
    if not pairs:
        family = against(names, full_name(baseline, names) if baseline else None)
    else:
        if baseline is not None:
            raise UsageError(f"--baseline {baseline} tests all metrics against one, --pair some pairs alone; give one of both")
        family = asked_for(names, [(full_name(one, names), full_name(other, names)) for one, other in pairs])
    alignment = align(
        ballots,
        measured,
        tie_eps={full_name(name, names): eps for name, eps in given.items()},
        tie_quantile=tie_quantile,
        slices=_slices(slices, loaded),
        family=family,
        title="Metrics and people" + (f": {loaded.name}" if loaded else ""),
        fingerprint=fingerprint,
        notes=notes,
    )
    with console.writing(Workspace(run, create=False)) if run and not scores else nullcontext():
        page = write_alignment((out or (run / FOLDER if run and not scores else FOLDER)).absolute(), alignment)
    _say(alignment)
    console.say(f"Alignment: {page.resolve()}")


def _tell_strangers(answers: Answers, measured: Measured) -> None:
    """Answers about methods that no metric scored: usually a name that differs."""
    scored = sorted({method for values in measured.values.values() for _, method in values})
    strange = {candidate for ballot in answers.ballots for candidate in ballot.candidates} - set(scored)
    lost = sum(ballot.count for ballot in answers.ballots if strange.intersection(ballot.candidates))
    if lost:
        everything = sum(ballot.count for ballot in answers.ballots)
        names = ", ".join(map(repr, sorted(strange)))
        console.warn(
            f"{lost} of {everything} answers count for no metric: nothing is scored for {names}; scored are {', '.join(scored)}"
        )


def _inputs(
    answers: Path | None,
    scores: Path | None,
    loaded: Dataset | None,
    root: Path | None,
    run: Path | None,
    protocol: str | None,
    better: Mapping[str, bool],
) -> tuple[Answers, Collection[str], Measured, str, list[str]]:
    """Answers, names of reference methods and scores from wherever they lie; of a run the fingerprint and what to know of it."""
    sources = frozen.sources_of(loaded) if loaded else {}
    if scores and answers:
        measured = read_scores(scores, better=better)
        ballots = read_answers(answers, sources={**measured.sources, **sources})
        floors = measured.references | (references_in(opened(run)) if run else frozenset())
        return ballots, floors, measured, "", []
    if scores or run is None or loaded is None or root is None:
        raise UsageError("give a table of answers with --scores, or a dataset and --run for the scores of a run")
    workspace = opened(run)
    with workspace.locked():
        bind(workspace, root)
        name = protocol or usual(loaded)
        rows, compared = scores_of(workspace, loaded, root, name)
        references, efforts = references_in(workspace), kept_between_items(workspace)
        results = Results(loaded, rows, protocol=PROTOCOLS.get(name), references=references, efforts=efforts)
        everything = workspace.table("scores", Score)
    ballots = read_answers(answers, sources=sources) if answers else answers_of_scores(everything, sources=sources)
    measured = measured_of(rows, compared=compared, better=better)
    return ballots, references, measured, results.fingerprint, exposure_sentences(results)


def _pairs_of(pairs: Sequence[str]) -> list[tuple[str, str]]:
    names = [tuple(name.strip() for name in text.split(",")) for text in pairs]
    if wrong := [text for text, pair in zip(pairs, names, strict=True) if len(pair) != 2 or not all(pair)]:
        raise UsageError(f"--pair is {wrong[0]!r}, write METRIC,METRIC")
    return [(left, other) for left, other in names]


def _slices(path: Path | None, loaded: Dataset | None) -> dict[str, Sequence[str]]:
    if path is None:
        return {slice_.name: slice_.item_ids for slice_ in loaded.slices} if loaded else {}
    groups: dict[str, list[str]] = {}
    for row in read_rows(path):
        groups.setdefault(row.needed("slice"), []).append(row.needed("item", "item_id", "group"))
    return dict(groups)


def _pairs(texts: Sequence[str] | None, name: str) -> dict[str, str]:
    given = (pair(text, f"{name} is {text!r}, write METRIC=VALUE") for text in texts or ())
    return {metric.strip(): value.strip() for metric, value in given}


def _say(alignment: Alignment) -> None:
    """The main numbers, for the terminal."""
    for dimension in alignment.dimensions:
        rows = []
        for line in dimension.lines:
            spearman = correlation_words(line.correlations["spearman"])
            rows.append((line.metric, rate_words(line.matched.rate), rate_words(line.matched.decided), spearman))
        if rows:
            title = f"{dimension.name}: {dimension.asked}"
            console.print_table(title, ["metric", "matching rate", "preferences alone", "Spearman"], rows)
        if dimension.ceiling:
            against = rate_words(dimension.ceiling.rater_against_others)
            console.say(f"A rater against the others: {against}")
        for verdict in dimension.verdicts:
            console.say(f"{verdict.slice}: {verdict.sentence()}")
