"""ChaLearn 2018, track 3: synthetic fingerprints, degraded as a whole, to be cleaned without being told what was done to them.

Truth and input share the elastic field of their impression. All impressions of one finger stay in one split.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from inpaintbench import video
from inpaintbench.catalogue import Deviation
from inpaintbench.curation.footage import data_attribute
from inpaintbench.errors import InputError
from inpaintbench.executors.base import Executor, Outcome, Step, Task
from inpaintbench.export import slices
from inpaintbench.files import file_sha256
from inpaintbench.masks import render
from inpaintbench.recipes import levels, stages
from inpaintbench.recipes.options import (
    DATASET,
    DEGRADATION,
    PRINTS,
    SIZE,
    Behaviour,
    Option,
    Seed,
    read_weights,
    splits_option,
)
from inpaintbench.recipes.stages import SourceSpec, check_sources, require
from inpaintbench.steps import AXES_OF_ITEMS, KNOWN, MEASURED_MASKS
from inpaintbench.types import Attribute, Clip, Corruption, Dataset, Plain, Source, content_id
from inpaintbench.wings.chalearn.degradations.backgrounds import check_photographs, list_photographs
from inpaintbench.wings.chalearn.degradations.generator import MOST_STRENGTH
from inpaintbench.wings.chalearn.fingerprints.records import CLASSES, Print
from inpaintbench.wings.chalearn.fingerprints.skin import orientation_in_truth, points_in_truth
from inpaintbench.wings.chalearn.fingerprints.source import PRINT_LICENCE
from inpaintbench.wings.chalearn.items import Sliced, write_items
from inpaintbench.workspace import Blobs, Workspace

GENERATOR = "fingerprint_degradation"
MOISTURE_LEVELS = ("dry", "normal", "wet")
# Moisture below minus this is dry, above it wet.
MOISTURE_EDGE = 1 / 3
PUBLISHED_JPEG_QUALITY = 75
# 75,600 for training, 8,400 for validation and 8,400 for testing. Source: ChaLearn LAP 2018, track 3.
PUBLISHED_FINGERS = 92_400
# Of the strength asked for, at which the prints of a paired design are degraded.
FACTORS: Mapping[str, float] = {"weak": 0.5, "usual": 1.0, "strong": 2.0}
AXIS = levels.LevelsOf("degradation", tuple(FACTORS), "strength of the degradation", "the print")
# The background that is a folder of the user's.
PHOTOGRAPHS = "photographs"


def read_backgrounds(names: Sequence[str]) -> str | tuple[str, ...]:
    """One background by its name, or several materials."""
    if alone := [name for name in names if name in ("procedural", "white", "none") and len(names) > 1]:
        raise ValueError(f"--background {alone[0]} stands alone; only materials can be combined")
    return names[0] if len(names) == 1 else tuple(names)


class FingerprintRecipe(BaseModel):
    """Every choice of the benchmark; the dataset carries it resolved."""

    model_config = ConfigDict(frozen=True, defer_build=True, extra="forbid", use_attribute_docstrings=True)
    kind: ClassVar[str] = "fingerprint"
    kept_by_growth: ClassVar[tuple[str, ...]] = ("paired",)
    follows: ClassVar[str] = "ChaLearn LAP 2018, track 3: its paper, its released degradation, and Anguli, which made its prints"
    deviations: ClassVar[tuple[Deviation, ...]] = (
        Deviation(
            "prints",
            "Anguli, with 1000 levels of chance and density maps of its own",
            "grown by the same rules from generators of numpy, density maps drawn by the same law",
            "no print of the challenge comes out again",
        ),
        Deviation(
            "backgrounds",
            "photographs of textures, never published",
            "drawn textures, or a folder of photographs (`--backgrounds photographs`)",
            "contrast and colours behind the print differ",
        ),
        Deviation(
            "quality of the JPEG",
            "not published",
            "75",
            "not known",
        ),
        Deviation(
            "number of prints",
            "92,400",
            "600 in the same shares of splits; `--fingers` asks for more",
            "none on means but their precision",
        ),
    )

    name: str = "Fingerprint denoising"
    seed: Seed = 0
    behaviour: Behaviour = "corrected"
    """``as-published`` degrades by the challenge's recipe, bug for bug, over prints like the challenge's."""
    fingers: Annotated[int, Option(PRINTS, shown="")] = Field(
        600, description=f"How many fingers; the challenge has {PUBLISHED_FINGERS}, one impression each."
    )
    impressions: Annotated[int, Option(PRINTS)] = 1
    """Of each finger; all in one split."""
    law: Annotated[str | Mapping[str, float], Option(PRINTS, read=read_weights)] = "natural"
    """How often classes occur: natural, uniform, or whorl=2,arch=1."""
    width: Annotated[int, replace(SIZE, panel=PRINTS)] = 275
    """Of the pictures, which the prints fill."""
    height: int = 400
    pixels_per_inch: Annotated[float, Option(PRINTS, "--ppi", write="{:g}".format)] = 500.0
    """Resolution in pixels per inch, which sets how wide ridges are."""
    elastic: Annotated[float, Option(PRINTS)] = 1.0
    """Of the field that bends truth and input alike; 0 none, 1 as published."""
    strength: Annotated[float, Option(DEGRADATION)] = 1.0
    """Multiplies every effect of the degradation, 0 to 4."""
    paired: Annotated[bool, Option(DEGRADATION, "--paired/--no-paired")] = Field(False, exclude_if=lambda paired: not paired)
    """Degrade each print at half, once and twice the strength, with all other draws held."""
    backgrounds: Annotated[str | tuple[str, ...], Option(DEGRADATION, "--background", read=read_backgrounds, repeatable=True)] = (
        Field(
            "procedural",
            description="A material (`masks preview fingerprint_degradation` shows them), repeatable; or white, or none.",
        )
    )
    """``photographs`` for a folder of the user's."""
    photographs_licence: Annotated[str | None, Option(DEGRADATION, shown="not stated")] = None
    """Of the photographs, for the rows."""
    jpeg_quality: Annotated[int | None, Option(DEGRADATION, "--jpeg", shown="75 as-published, else no JPEG")] = Field(
        None, description="JPEG quality of the inputs, 1 to 100."
    )
    """75 as the challenge's seem to be."""
    splits: Annotated[
        Mapping[str, float],
        splits_option(),
    ] = Field(
        {"train": 9 / 11, "validation": 1 / 11, "test": 1 / 11},
        description="Shares of the prints: 9,1,1 or 75600,8400,8400.",
    )
    """As published: 75,600, 8,400 and 8,400 of 92,400."""
    strength_edges: tuple[float, ...] = (0.0, 0.13, 0.17, 1.0)
    """Edges of the slices by ``wear_rms``: what is done to the print itself, whatever it lies on, in shares of white."""
    orientation_fields: Annotated[bool, Option(DATASET, "--orientations")] = False
    """Publish the true ridge directions."""

    @model_validator(mode="after")
    def _drawable(self) -> FingerprintRecipe:
        # What the leaves refuse is told before any work; a folder of photographs is looked at by ``check``.
        check_sources([self.source])
        if self.backgrounds != PHOTOGRAPHS:
            render.build(GENERATOR, self.constants)
        most = MOST_STRENGTH / FACTORS["strong"]
        if self.paired and not 0 < self.strength <= most:
            raise ValueError(f"strength: pairs are degraded at half, once and twice of it, so it is above 0 and at most {most:g}")
        return self

    @property
    def source(self) -> SourceSpec:
        """The prints that this recipe is about."""
        shared = ("fingers", "impressions", "law", "width", "height", "pixels_per_inch", "elastic", "seed")
        style = "challenge" if self.behaviour == "as-published" else "natural"
        return SourceSpec(
            "fingerprints", {name: getattr(self, name) for name in shared} | {"style": style, "licence": self.licence}
        )

    @property
    def licence(self) -> str:
        """Licence of the pictures: prints are nobody's, photographs may be somebody's."""
        if self.backgrounds != PHOTOGRAPHS:
            return PRINT_LICENCE
        return f"{PRINT_LICENCE}, its background: {self.photographs_licence or 'not stated'}"

    @property
    def constants(self) -> dict[str, Any]:
        """Constants of the degradation."""
        kinds = self.backgrounds if isinstance(self.backgrounds, str) else list(self.backgrounds)
        usual = PUBLISHED_JPEG_QUALITY if self.behaviour == "as-published" else None
        quality = usual if self.jpeg_quality is None else self.jpeg_quality
        return {"recipe": self.behaviour, "strength": self.strength, "backgrounds": kinds, "jpeg_quality": quality}


def check(recipe: FingerprintRecipe, *, photographs: Path | None = None) -> None:
    """Raise ``InputError`` when photographs are wanted and not there, are none, or are given to a recipe that shows none."""
    if recipe.backgrounds != PHOTOGRAPHS and photographs is not None:
        raise InputError("this recipe lays prints on other backgrounds than photographs; build it with --photographs FOLDER")
    if recipe.backgrounds == PHOTOGRAPHS:
        if photographs is None:
            raise InputError("this recipe lays prints on photographs; say where they lie: --photographs FOLDER")
        check_photographs(str(photographs))


def curate(
    recipe: FingerprintRecipe,  # noqa: ARG001 - stage signature
    sources: Sequence[SourceSpec],
    executor: Executor,
    workspace: Workspace,
) -> None:
    """Grow the fingers and print them."""
    cutting = stages.Cutting(splitter={"name": "windows", "length": 1, "shortest": 1}, normalizer={"name": "as_is"})
    stages.curate(cutting, sources, executor, workspace)


def label(recipe: FingerprintRecipe, executor: Executor, workspace: Workspace) -> None:
    """Write where cores and deltas lie, and how ridges run, once every distortion is done."""
    known = stages.facts_of(workspace, [KNOWN])
    prints = {source: str(row.blob) for (source, name), row in known.items() if name == "print"}
    measure(executor, workspace.table("clips", Clip), prints, orientation=recipe.orientation_fields)


def corrupt(recipe: FingerprintRecipe, executor: Executor, workspace: Workspace, *, photographs: Path | None = None) -> None:
    """Degrade every print once, or at every level; ``photographs`` is the folder of backgrounds of a recipe that uses those."""
    clips = stages.by_name(workspace, workspace.table("clips", Clip))
    require(clips, "clips", "build fingerprint")
    known = stages.facts_of(workspace, [KNOWN])
    sources = {row.source_id: row for row in workspace.table("sources", Source)}
    folder, where = "", {}
    if photographs is not None:
        # Other photographs make other pictures.
        files = list_photographs(str(photographs))
        folder = content_id([(path.relative_to(photographs).as_posix(), file_sha256(path)) for path in files])
        where = {"folder": str(photographs)}
    requests = [
        render.MaskRequest(
            clip,
            GENERATOR,
            recipe.constants | {"strength": factor * recipe.strength},
            recipe.seed,
            draw=clip.clip_id + folder,
            data={"undistorted": sources[clip.source_id].parts["undistorted"], "print": str(known[clip.source_id, "print"].blob)},
            where=where,
            name=sources[clip.source_id].uri,
        )
        for clip in clips
        for factor in (FACTORS.values() if recipe.paired else (1.0,))
    ]
    rendered = render.render(executor, requests)
    render.measure_all(executor, rendered)
    source_of = {clip.clip_id: clip.source_id for clip in clips}
    of_prints: dict[str, dict[str, Corruption]] = {}
    for row in rendered.records if recipe.paired else ():
        level = next(level for level, factor in FACTORS.items() if row.parameters["strength"] == factor * recipe.strength)
        of_prints.setdefault(row.clip_id, {})[level] = row

    def sliced(row_of: Mapping[str, Corruption]) -> list[Sliced]:
        sources = {item: source_of[row.clip_id] for item, row in row_of.items()}
        classes = {item: (str(known[source, "finger_class"].value),) for item, source in sources.items()}
        moisture = {item: (moisture_level(float(known[source, "moisture"].value or 0)),) for item, source in sources.items()}
        strength = {item: float(row.facts["wear_rms"]) for item, row in row_of.items()}
        blocks = {item: ("some" if row.facts["blocks"] else "none",) for item, row in row_of.items()}
        backgrounds = {item: (str(row.facts["background"]),) for item, row in row_of.items()}
        edges = recipe.strength_edges
        return [
            slices.by_value(classes, "finger class", name="class", wanted=CLASSES),
            slices.by_bin(strength, "degradation strength", name="strength", edges=edges, percent=True, closed=True),
            slices.by_value(blocks, "opaque blocks", name="blocks", wanted=("none", "some")),
            slices.by_value(moisture, "moisture", name="moisture", wanted=MOISTURE_LEVELS),
            slices.by_value(backgrounds, "background", name="background"),
        ]

    write_items(
        recipe,
        workspace,
        rendered.records,
        groups={row.clip_id: str(known[source_of[row.clip_id], "split_group"].value) for row in rendered.records},
        sliced=sliced,
        axis=AXIS,
        pairs={clip: {level: of[level] for level in FACTORS} for clip, of in of_prints.items() if len(of) == len(FACTORS)},
        empty="not one print could be degraded; `inpaintbench curation rejected` says why",
    )


def moisture_level(moisture: float) -> str:
    """One of ``MOISTURE_LEVELS`` for -1 dry .. 1 wet."""
    return MOISTURE_LEVELS[int(moisture > -MOISTURE_EDGE) + int(moisture > MOISTURE_EDGE)]


def leaves_of(recipe: FingerprintRecipe) -> dict[str, list[str]]:  # noqa: ARG001 - the same for all
    """Kind of leaf -> names of those that the recipe uses."""
    return {"splitter": ["windows"], "normalizer": ["as_is"], "mask generator": [GENERATOR]}


def export(recipe: FingerprintRecipe, workspace: Workspace, *, target: Path | None = None) -> tuple[Path, Dataset]:
    """Items and slices to a frozen dataset folder, by default ``WORKSPACE/exports/fingerprint``."""
    about = (
        "Fingerprints of nobody: `truth` is an impression of a grown finger, `input` the same print degraded and laid over a"
        " background. In `attributes`, `print` is everything that determines the print, and `cores` and `deltas` say where its"
        " singular points lie in the truth, [x, y] in pixels."
    )
    if recipe.orientation_fields:
        about += (
            f" `{FOLDER}/CLIP_ID.png` holds the true direction of the ridges at every pixel of the truth:"
            f" counter-clockwise from the horizontal, {ANGLES:,} steps for half a turn, 16 bits."
        )
    if recipe.backgrounds == PHOTOGRAPHS:
        about += (
            " Inputs show photographs of whoever built this; each row names its file with its SHA-256"
            " (`degradation.background_file`, `degradation.background_sha256`)."
        )

    def orientations(rows: Sequence[Plain]) -> Iterator[tuple[str, bytes]]:
        # The pictures of orientation that the label stage made, if it did.
        published = {row["clip_id"] for row in rows}
        for row in workspace.table("attributes", Attribute, step=f"measure.{NAME}"):
            if row.name == FIELD and row.subject_id in published:
                yield str(row.value), workspace.blobs.proved(str(row.blob)).read_bytes()

    publication = stages.Publication(
        recipe,
        attribute_steps=(KNOWN, f"measure.{NAME}", MEASURED_MASKS, AXES_OF_ITEMS),
        leaves=leaves_of(recipe),
        about=about,
        hole_is_given=False,
        extra=orientations,
        facts=levels.facts(workspace, AXIS),
    )
    return stages.export(publication, workspace, target=target)


# The form that comes nearest to the publication; what that leaves open is stated as a deviation.
AS_PUBLISHED = FingerprintRecipe(behaviour="as-published")


NAME = "print_geometry"
VERSION = "1"
# Attribute that names the picture of orientation of a clip, and the folder it is published in.
FIELD, FOLDER = "orientation_file", "orientations"
# Steps of half a turn in such a picture.
ANGLES = 2**16


def measure(executor: Executor, clips: Sequence[Clip], prints: Mapping[str, str], *, orientation: bool = False) -> Outcome:
    """Write ``cores`` and ``deltas`` of every clip to the table ``attributes``: [x, y] in pixels of the truth.

    Points that a distortion moved off the picture are left out. With ``orientation`` the row ``FIELD`` names a 16-bit picture of
    the ridge angle, counter-clockwise from the horizontal, in steps of pi / ``ANGLES``; the picture is the row's blob.

    Args:
        executor: who does the work.
        clips: pictures of prints.
        prints: source id -> blob name of what determines the print.
    """
    step = Step(
        name=f"measure.{NAME}",
        version=VERSION,
        table="attributes",
        record=Attribute,
        function="inpaintbench.wings.chalearn.fingerprint:measure_one",
        parameters={"orientation": orientation},
    )
    tasks = [
        Task(clip.clip_id, prints[clip.source_id], {"clip_id": clip.clip_id, "print": prints[clip.source_id]}) for clip in clips
    ]
    return executor.run(step, tasks)


def measure_one(payload: Plain, *, parameters: Plain, blobs: Blobs) -> list[Attribute]:
    """Two rows, each a list of points, and one for the picture of orientation where it is asked for."""
    fields = Print.of_plain(json.loads(blobs.proved(payload["print"]).read_bytes()))
    points = {"cores": fields.finger.cores, "deltas": fields.finger.deltas}
    clip_id = payload["clip_id"]
    rows = []
    for name, places in points.items():
        seen = [[round(point[0], 2), round(point[1], 2)] for point in points_in_truth(fields, places) if point is not None]
        rows.append(data_attribute(blobs, clip_id, name, seen, producer=NAME))
    if parameters["orientation"]:
        steps = np.rint(orientation_in_truth(fields) * (ANGLES / np.pi)).astype(np.int64) % ANGLES
        blob, _ = blobs.put(".png", lambda path: path.write_bytes(video.png_bytes(steps.astype(np.uint16))))
        rows.append(Attribute(clip_id, FIELD, f"{FOLDER}/{clip_id}.png", None, NAME, VERSION, blob))
    return rows
