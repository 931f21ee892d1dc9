"""ChaLearn 2018, track 2: five seconds of film with subtitles painted on it, to be recovered without being told where they are.

Bars are cut off, films are brought to one frame rate and to a square, subtitles come from a file beside the film or, where there
is none, from a bundled text in the public domain. The clips with the least text are dropped, and all clips of one film stay in
one split.

Two behaviours of that dropping. The challenge ranked clips by how much of them subtitles cover (``as-published``). Here the
difficulty that a clip is given in turn sets how large its letters are, so that this rule drops the easy clips and leaves the
benchmark without them; ``corrected`` ranks by the letters that the source itself shows, whatever they are drawn like.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from inpaintbench.catalogue import Deviation
from inpaintbench.curation import select
from inpaintbench.curation.judging import refuse_unasked
from inpaintbench.curation.split import FILM_SHARES
from inpaintbench.errors import RunError
from inpaintbench.executors.base import Executor, Rejection
from inpaintbench.export import slices
from inpaintbench.export.card.plots import histogram_svg
from inpaintbench.export.growing import appended
from inpaintbench.masks import render
from inpaintbench.masks.overlays.fonts import BUNDLED, find_font
from inpaintbench.recipes import leakage, stages
from inpaintbench.recipes import levels as axes
from inpaintbench.recipes.options import CLIPS, DATASET, SUBTITLES, Behaviour, Option, Seed, StrictRules, splits_option
from inpaintbench.recipes.stages import SourceSpec, require
from inpaintbench.steps import AXES_OF_ITEMS, KNOWN, MEASURED_MASKS
from inpaintbench.tables import to_columns
from inpaintbench.types import Attribute, Clip, Corruption, Dataset, Plain, Selection, Source, hash_of, item_rng
from inpaintbench.wings.chalearn import captions
from inpaintbench.wings.chalearn.items import Sliced, write_items
from inpaintbench.workspace import Workspace

DIFFICULTIES = ("easy", "medium", "hard")
BACKGROUNDS = ("none", "transparent", "opaque")
# Of a box behind a text, by its level on the axis of a paired design. Both hide the same pixels.
OPACITIES: Mapping[str, float] = {"transparent": 0.5, "opaque": 1.0}
AXIS = axes.LevelsOf("text_box", tuple(OPACITIES), "opacity of the box behind the text", "the clip")
_BOXES = "boxes"
_NO_TEXT = "no clip shows any text; `inpaintbench curation rejected` says why"
RATIO_PLOT = "missing_ratio.svg"
# Attribute of an overlay: share of the clip's pixels that it paints.
COVERED = "mask.overlay_fraction"


class DecaptionRecipe(BaseModel):
    """Every choice of the benchmark; the dataset carries it resolved."""

    model_config = ConfigDict(frozen=True, defer_build=True, extra="forbid", use_attribute_docstrings=True)
    kind: ClassVar[str] = "decaption"
    kept_by_growth: ClassVar[tuple[str, ...]] = ("paired",)
    follows: ClassVar[str] = "ChaLearn LAP 2018, track 2: its paper and the files of its kit"
    deviations: ClassVar[tuple[Deviation, ...]] = (
        Deviation(
            "films",
            "about 150 hours of television from YouTube with their subtitles",
            "the builder's; where a film has no text beside it one is made of books in the public domain",
            "numbers of other films compare with none that were printed",
        ),
        Deviation(
            "which clips have the most subtitles",
            "the 70 % that subtitles cover most",
            "the same; `corrected` takes the 70 % with the most letters on screen, whatever they are drawn like",
            "difficulty sets how large letters are, so this rule drops easy clips: the demo has none below 5 % then",
            {"behaviour": "as-published"},
        ),
        Deviation(
            "making films square",
            "scaled to the width of the square, then cut",
            "covering the square, then cut",
            "none where that works; a film that is wider than high does not fill the square by its width",
        ),
        Deviation(
            "splits",
            "60/20/20 % of clips in the paper, 70/15/15 % on the challenge's page",
            "60/20/20 % of films, whose clips stay together",
            "no film is in two splits",
        ),
    )

    name: str = "Video decaptioning"
    seed: Seed = 0
    behaviour: Behaviour = "corrected"
    """Measure that decides which clips have the most subtitles.

    The letters that a source shows, or the pixels that are painted.
    """
    side: Annotated[int, Option(CLIPS)] = Field(128, ge=16)
    """Of the square clips: 128 as published, 256 as in the paper."""
    fps: float = Field(25.0, gt=0)
    clip_frames: int = Field(125, ge=1)
    form: Annotated[Literal["lossless", "challenge"], Option(DATASET, shown="lossless; of as-published challenge")] = "lossless"
    """Of truth and input: lossless, or challenge (H.264 of 100 kbit/s)."""
    families: Annotated[
        tuple[str, ...], Option(SUBTITLES, "--family", shown="the common ones that are installed", repeatable=True)
    ] = Field((BUNDLED,), description="Font family, or `bundled`. Repeatable.")
    """The font that comes with the program is the same everywhere."""
    paired: Annotated[bool, Option(SUBTITLES, "--paired/--no-paired")] = Field(False, exclude_if=lambda paired: not paired)
    """Show texts with a box twice, in front of a half transparent and of an opaque one."""
    covered_share: float = Field(0.7, gt=0, le=1)
    """Share of the clips that is kept: those with the most subtitles."""
    strict_rules: StrictRules = False
    splits: Annotated[Mapping[str, float], splits_option("60,20,20")] = FILM_SHARES
    """Shares of the clips; those of one film stay together."""
    ratio_edges: tuple[float, ...] = (0.0, 0.05, 0.1, 0.2, 0.5)
    """Edges of the slices by share of painted pixels, of which no frame has more than half."""


def check(recipe: DecaptionRecipe) -> None:
    """Raise ``InputError`` when a font family is not installed."""
    for family in recipe.families:
        find_font(family, bold=False, italic=False, characters="A")


def curate(recipe: DecaptionRecipe, sources: Sequence[SourceSpec], executor: Executor, workspace: Workspace) -> None:
    """Films to square clips, and the text that each clip shows."""
    cutting = stages.Cutting(
        splitter={"name": "windows", "length": recipe.clip_frames, "shortest": recipe.clip_frames},
        normalizer={"name": "cover", "width": recipe.side, "height": recipe.side},
        fps=recipe.fps,
        form=recipe.form,
        cut_bars=True,
    )
    curated = stages.curate(cutting, sources, executor, workspace)
    facts = stages.facts_of(workspace, ["probe"])
    durations = {key[0]: float(row.value or 0) for key, row in facts.items() if key[1] == "probe.duration_seconds"}
    timed = [row for row in curated.sources if row.source_id in durations]
    captions.read(executor, timed, curated.footage, durations, seed=recipe.seed)


def label(recipe: DecaptionRecipe, executor: Executor, workspace: Workspace) -> None:
    """Nothing to measure before subtitles are painted: what counts is how much they cover."""


def corrupt(recipe: DecaptionRecipe, executor: Executor, workspace: Workspace) -> None:
    """Keep the clips with the most text, and paint it on them, easy to hard."""
    clips = stages.by_name(workspace, workspace.table("clips", Clip))
    require(clips, "clips", "build decaption")
    texts = captions.of_clips(workspace, clips, list(stages.facts_of(workspace, [captions.NAME]).values()))
    bare = [clip for clip in clips if clip.clip_id not in texts.blobs]
    clips = [clip for clip in clips if clip.clip_id in texts.blobs]
    if recipe.behaviour == "corrected":
        clips = stages.drawn_from(workspace, clips)
    if not clips:
        raise RunError(_NO_TEXT)

    def judged_by(attribute: str, numbers: Mapping[str, float]) -> list[Selection]:
        # The clips with the highest numbers; of a benchmark that is added to, those that reach its lowest.
        published = appended(workspace)
        if published and (values := published.values(attribute)):
            return select.at_least(numbers, attribute=attribute, bound=min(values.values()))
        return select.top_share(numbers, attribute=attribute, share=recipe.covered_share)

    if recipe.behaviour == "as-published":
        painted, measured = _painted(recipe, executor, workspace, clips, texts)
        share_of = {row.subject_id: row.value for row in measured if row.name == COVERED}
        judged = judged_by(COVERED, {row.clip_id: float(share_of.get(row.corruption_id) or 0) for row in painted})
    else:
        drawn = {clip.clip_id for clip in clips}
        letters = {row.subject_id: float(row.value or 0) for row in texts.letters if row.subject_id in drawn}
        judged = judged_by(captions.LETTERS, letters)
        painted, _ = _painted(recipe, executor, workspace, select.kept(clips, judged), texts)
    if judged:
        refused = {row.name: row.reason for row in workspace.table("rejected", Rejection, step=captions.NAME)}
        uri = {row.source_id: row.uri for row in workspace.table("sources", Source)}
        for clip in bare:
            reason = f"no text: {refused.get(uri[clip.source_id], 'none was read')}"
            judged.append(Selection(clip.clip_id, judged[0].rule, None, keep=False, reason=reason))
    workspace.write_table("selection", "coverage", judged, Selection)
    if recipe.strict_rules:
        refuse_unasked(workspace)
    kept = {row.clip_id for row in judged if row.keep}
    painted = [row for row in painted if row.clip_id in kept]
    boxed = _boxed(recipe, executor, workspace, painted, clips, texts) if recipe.paired else {}
    shown = {row.corruption_id: row for row in (*painted, *(row for of in boxed.values() for row in of.values()))}
    source_of = {clip.clip_id: clip.source_id for clip in clips}

    write_items(
        recipe,
        workspace,
        list(shown.values()),
        groups={row.clip_id: source_of[row.clip_id] for row in shown.values()},
        sliced=partial(_sliced, recipe, texts),
        axis=AXIS,
        pairs=boxed,
        empty=_NO_TEXT,
    )


def _sliced(recipe: DecaptionRecipe, texts: captions.Texts, row_of: Mapping[str, Corruption]) -> list[Sliced]:
    """Slices of items by difficulty, background, painted share and, where there are several, writing system."""
    levels = {item: (str(row.facts["difficulty"]),) for item, row in row_of.items()}
    styles = {item: (_background(row.facts),) for item, row in row_of.items()}
    ratios = {item: float(row.facts["overlay_fraction"]) for item, row in row_of.items()}
    scripts = {item: (texts.scripts[row.clip_id],) for item, row in row_of.items() if row.clip_id in texts.scripts}
    parts = [
        slices.by_value(levels, "difficulty", name="difficulty", wanted=DIFFICULTIES),
        slices.by_value(styles, "background", name="background", wanted=BACKGROUNDS),
        slices.by_bin(ratios, "painted share", name="painted", edges=recipe.ratio_edges, percent=True),
    ]
    if len(set(scripts.values())) > 1:
        parts.append(slices.by_value(scripts, "writing system", name="script"))
    return parts


def _boxed(
    recipe: DecaptionRecipe, executor: Executor, workspace: Workspace, painted: Sequence[Corruption], clips: Sequence[Clip],
    texts: captions.Texts,
) -> dict[str, dict[str, Corruption]]:  # fmt: skip
    """Clip id -> level of ``AXIS`` -> its overlay, of texts with a box: the one that was drawn, and that of the other opacity."""
    clip_of, names = {clip.clip_id: clip for clip in clips}, stages.clip_names(workspace, clips)
    drawn = {row.clip_id: row for row in painted if _background(row.facts) in OPACITIES}
    requests = []
    for clip_id, row in drawn.items():
        request = _request(recipe, clip_of[clip_id], str(row.facts["difficulty"]), texts.blobs[clip_id], names[clip_id])
        other = next(opacity for level, opacity in OPACITIES.items() if level != _background(row.facts))
        requests.append(replace(request, parameters={**request.parameters, "style": {"box_alpha": other}, "paired": True}))
    rendered = render.render(executor, requests, name=_BOXES)
    render.measure_all(executor, rendered, name=f"measure.{_BOXES}")
    found: dict[str, dict[str, Corruption]] = {}
    for row in rendered.records:
        of = {_background(one.facts): one for one in (drawn[row.clip_id], row)}
        if drawn[row.clip_id].input_sha256 != row.input_sha256:  # else a text file says what box there is
            found[row.clip_id] = {level: of[level] for level in OPACITIES}
    return found


def turns_of(recipe: DecaptionRecipe, workspace: Workspace, clips: Sequence[Clip]) -> list[int]:
    """Numbers that difficulties follow from: places in a shuffled list as published, else film and time of the clip alone."""
    if recipe.behaviour == "as-published":
        order: list[int] = item_rng(recipe.seed, "difficulty", "turns").permutation(len(clips)).tolist()
        return order
    # Clips of one film and of its copies take turns, from a beginning that the film has by itself.
    films: list[str] = leakage.sources_of(workspace, to_columns(clips, Clip)).to_pylist()
    begins = [hash_of("difficulty", recipe.seed, film) for film in films]
    return [begin + clip.start_frame // recipe.clip_frames for begin, clip in zip(begins, clips, strict=True)]


def _painted(
    recipe: DecaptionRecipe, executor: Executor, workspace: Workspace, clips: Sequence[Clip], texts: captions.Texts
) -> tuple[list[Corruption], list[Attribute]]:
    """Overlays of ``clips``, each difficulty about as often as the others, and what they measure."""
    names = stages.clip_names(workspace, clips)
    requests = [
        _request(recipe, clip, DIFFICULTIES[turn % len(DIFFICULTIES)], texts.blobs[clip.clip_id], names[clip.clip_id])
        for clip, turn in zip(clips, turns_of(recipe, workspace, clips), strict=True)
    ]
    painted = render.render(executor, requests)
    return painted.records, render.measure_all(executor, painted).records


def _request(recipe: DecaptionRecipe, clip: Clip, difficulty: str, text: str, name: str) -> render.MaskRequest:
    return render.MaskRequest(
        clip,
        "subtitles",
        {"difficulty": difficulty, "families": list(recipe.families)},
        recipe.seed,
        draw=clip.clip_id,
        data={"timed_text": text},
        name=name,
        input_form=recipe.form,
    )


def _background(facts: Plain) -> str:
    """Background of the text: nothing, or a box that shows the film or hides it."""
    if facts["background"] == "none":
        return "none"
    return "opaque" if float(facts["box_alpha"]) == 1 else "transparent"


def leaves_of(recipe: DecaptionRecipe) -> dict[str, list[str]]:  # noqa: ARG001 - the same for all
    """Kind of leaf -> names of those that the recipe uses."""
    return {"splitter": ["windows"], "normalizer": ["cover"], "mask generator": ["subtitles"]}


def export(recipe: DecaptionRecipe, workspace: Workspace, *, target: Path | None = None) -> tuple[Path, Dataset]:
    """Items and slices to a frozen dataset folder, by default ``WORKSPACE/exports/decaption``."""
    publication = stages.Publication(
        recipe,
        attribute_steps=(
            KNOWN,
            "bars",
            captions.NAME,
            f"{captions.NAME}.clips",
            MEASURED_MASKS,
            f"measure.{_BOXES}",
            AXES_OF_ITEMS,
        ),
        leaves=leaves_of(recipe),
        about=f"`input` is the film with subtitles, `truth` without; `hole` is where `alpha` is above 0.\n\n"
        f"![How much of the clips is painted over]({RATIO_PLOT})",
        hole_is_given=False,
        extra=_ratio_plot,
        facts=axes.facts(workspace, AXIS),
    )
    return stages.export(publication, workspace, target=target)


def _ratio_plot(rows: Sequence[Plain]) -> Iterator[tuple[str, bytes]]:
    """The distribution of painted shares, the figure 3 of the challenge's paper."""
    ratios = [row["attributes"][COVERED] for row in rows]
    levels = [row["attributes"]["mask.difficulty"] for row in rows]
    order = sorted(range(len(rows)), key=lambda place: DIFFICULTIES.index(levels[place]))
    text = histogram_svg(
        [ratios[place] for place in order],
        title="How much of the clips is painted over",
        x_label="share of painted pixels, %",
        bin_edges=[step / 20 for step in range(11)],
        groups=[levels[place] for place in order],
        x_scale=100,
    )
    yield RATIO_PLOT, text.encode()


# The form that comes nearest to the publication; what that leaves open is stated as a deviation.
AS_PUBLISHED = DecaptionRecipe(behaviour="as-published", form="challenge")
