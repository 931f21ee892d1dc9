"""``ComparisonPlayer``: a Gradio component that compares videos frame by frame; the rater's page uses it.

It knows nothing of studies. It is a subclass of ``gr.HTML`` around the scripts of ``pages/static/player``, which other pages use
too. Nothing of it is built: no npm, no bundle.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, TypedDict

import gradio as gr
from gradio import component_meta
from gradio.data_classes import FileData, GradioModel

from inpaintbench import video
from inpaintbench.annotate.preparing.pictures import layout, write_sheets
from inpaintbench.errors import InpaintBenchError, InputError, MediaError
from inpaintbench.files import file_sha256
from inpaintbench.pages.page import TOKENS, asset, render
from inpaintbench.types import canonical_json

# Videos of others as one file for browsers: every frame holds all pictures, so players that draw from it cannot drift apart.

# One file a label. A list is labelled A, B, C ...
Videos = Mapping[str, Path | str] | Sequence[Path | str]
# Candidates are named by letters.
MOST_VIDEOS = 26
# Of the file names, so that another layout makes files anew.
VERSION = "1"
# Share by which the shapes of two videos may differ: sides of scaled videos are rounded.
_SHAPE_TOLERANCE = 0.01
# Longest side of one picture, pixels: what one player of several ever shows.
LARGEST_SIDE = 960


@dataclass(frozen=True)
class Tiled:
    """A file and where each video lies in it."""

    path: Path
    media: dict[str, Any]
    """``kind``, ``fps``, ``frames``, ``width``, ``height``."""
    players: list[dict[str, Any]]
    """``role`` (candidate or original), ``place`` of candidates, ``label``, ``x``, ``y``, ``width``, ``height``: pixels."""

    @property
    def mime_type(self) -> str:
        """Of the file."""
        return "image/png" if video.is_image(self.path) else "video/mp4"


def tiled(videos: Videos, *, folder: Path, original: str | None = None, largest_side: int = LARGEST_SIDE) -> Tiled:
    """The videos in one file, made once for the same files.

    Args:
        videos: by label, or a list whose labels are A, B, C ...; images count as videos of one frame.
        folder: where the file is put, under a name of its content.
        original: label of the one that the others are compared with; it stands after them.
        largest_side: no picture is larger, pixels; and none larger than the smallest of the videos.

    Raises:
        InputError: no or too many videos, no video is called ``original``, or they differ in shape, length or frame rate.
        MediaError: one cannot be read.
    """
    paths, probes = _by_label(videos, original), {}
    for label, path in paths.items():
        if not path.is_file():
            raise InputError(f"{label!r}: there is no file {str(path)!r}")
        try:
            probes[label] = video.probe(path)
        except MediaError as error:
            raise MediaError(f"{label!r}, {path.name}: {error}") from error
    first_label, first = next(iter(probes.items()))
    sizes = [
        (probe.height, probe.width) if probe.rotation_degrees % 180 else (probe.width, probe.height) for probe in probes.values()
    ]
    for (label, probe), (width, height) in zip(probes.items(), sizes, strict=True):
        if probe.frames != first.frames:
            raise InputError(
                f"{label!r} has {probe.frames} frames and {first_label!r} has {first.frames}; cut them to one length"
            )
        if round(probe.fps, 3) != round(first.fps, 3):
            raise InputError(f"{label!r} has {probe.fps:g} frames a second and {first_label!r} has {first.fps:g}")
        if abs(width / height * sizes[0][1] / sizes[0][0] - 1) > _SHAPE_TOLERANCE:
            raise InputError(f"{label!r} is {width}x{height} and {first_label!r} is {sizes[0][0]}x{sizes[0][1]}: not one shape")
    smallest = min(sizes)
    grid = layout(len(paths), width=smallest[0], height=smallest[1], largest_side=largest_side)
    fps = first.fps if first.fps > 0 else 1.0
    named = hashlib.sha256(canonical_json([VERSION, largest_side, [file_sha256(path) for path in paths.values()]]).encode())
    path = folder / f"comparison-{named.hexdigest()[:32]}{video.suffix_for(first.frames)}"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        frames = zip(*(video.upright_frames(one, hdr="tone_map") for one in paths.values()), strict=True)
        # The suffix says how it is written.
        with tempfile.TemporaryDirectory(dir=folder, prefix=".") as unfinished:
            made = Path(unfinished) / path.name
            write_sheets(made, (grid.sheet([picture for picture, _ in shown]) for shown in frames), fps=fps)
            made.replace(path)
    kind, (width, height) = "image" if first.frames == 1 else "video", grid.size
    media = {"kind": kind, "fps": fps, "frames": first.frames, "width": width, "height": height}
    players = []
    for index, label in enumerate(paths):
        x, y = grid.place(index)
        role = {"role": "original", "place": None} if label == original else {"role": "candidate", "place": index}
        players.append({**role, "label": label, "x": x, "y": y, "width": grid.tile[0], "height": grid.tile[1]})
    return Tiled(path, media, players)


def _by_label(videos: Videos, original: str | None) -> dict[str, Path]:
    """The files with the original last, so that places of candidates count from 0."""
    if isinstance(videos, str | Path):
        raise InputError(f"{str(videos)!r} is one video; name several, as a list or by label")
    given = videos if isinstance(videos, Mapping) else {chr(ord("A") + place): path for place, path in enumerate(videos)}
    if not 0 < len(given) <= MOST_VIDEOS:
        raise InputError(f"{len(given)} videos cannot be compared; name 1 to {MOST_VIDEOS}")
    if original is not None and original not in given:
        raise InputError(f"no video is called {original!r}; there are {', '.join(map(repr, given))}")
    return {label: Path(given[label]) for label in sorted(given, key=lambda label: label == original)}


# Folder of the scripts, where they are plain files.
STATIC = Path(str(files("inpaintbench") / "pages/static/player"))
_BOX, _PLAIN_BOX = (str(render("annotate/player/box.html", alone=alone)) for alone in (True, False))
# Inside the component's own element, where Gradio puts a component's styles; colours of a page of ours or of Gradio's theme.
_COLOURS = "\n".join(asset(path) for path in (TOKENS, "pages/static/player/colours.css")).replace(":root", "&")
_THEME = "& { color-scheme: light; } .dark & { color-scheme: dark; } [data-theme] & { color-scheme: inherit; }"
BASICS = asset("pages/static/player/basics.css")
_CSS = "\n".join((_COLOURS, _THEME, BASICS, asset("pages/static/player/player.css")))
# Where no page of ours makes room for it.
_ALONE = "& { height: ${height}px; } .comparison { border-radius: 8px; padding-top: 6px; }"
# Keyframes cannot stand inside other rules.
_HEAD = """<style>
@keyframes inpaintbench-wait { from { opacity: 1; } to { opacity: 0.45; } }
@keyframes inpaintbench-tip { 0%, 80% { opacity: 0; } }
</style>"""
# Addresses of Gradio's own files begin at the root that it is mounted at.
_JS_ON_LOAD = """
const root = (window.gradio_config?.root ?? document.baseURI).replace(/\\/*$/, "/");
import(new URL(props.modules + "/gradio.js", root)).then(({ mount }) => mount({
  element, props, watch,
  tell: (event, data) => ({ select: () => trigger("select", data), watched: () => trigger("watched", data) })[event](),
}));
"""


class Watched(TypedDict):
    """What was seen of the videos since they were shown."""

    watched_frames: int
    """Different frames."""
    frames: int
    dropped_frames: int
    plays: float
    """How often the whole length was played."""
    stuttered: bool
    complete: bool
    """Every frame was shown."""


class Shown(GradioModel):
    """The value in the browser."""

    media: dict[str, Any]
    """Address, kind, frames and size of the tiled video."""
    players: list[dict[str, Any]]
    """Role, label and place in the tiled video."""
    file: FileData | None = None
    """The tiled video, where Gradio serves it; else ``media`` has the address as ``url``."""
    outline: dict[str, Any] | None = None
    """Place of lines to be drawn over all players, white on black."""
    watched: dict[str, Any] | None = None


# Gradio would write a stub beside the module of a component's class, into the installed package.
_writes_stub, component_meta.create_or_modify_pyi = component_meta.create_or_modify_pyi, lambda *_: None
try:

    class ComparisonPlayer(gr.HTML):
        """Videos side by side from one clock: steps, slow motion, zoom, flip and wipe, and a record of the frames that were seen.

        A handler that takes it gets ``Watched``, or None before anything was shown. Events: ``watched`` once every frame was
        seen, ``select`` when one was chosen, and those of Gradio.

        Args:
            value: files by label, or a list of files, which are called A, B ...; None for nothing. They may differ in size (all
                are made as large as the smallest) but not in shape, length or frame rate.
            original: label of the video that the others are compared with: shown beside them, and in their place while O is held.
            choose: a name can be clicked, or chosen by its digit.
            height: of the component, pixels.
            modules: address of the folder with the component's scripts; Gradio serves them unless the app does so itself.
            keys: it listens to the keyboard while the pointer or the focus is in it. Without, the page's own script makes
                and drives it, with a bar that the page has.
            others: of ``gr.HTML``, such as ``elem_id``, ``label`` and ``scale``.
        """

        data_model = Shown

        def __init__(
            self,
            value: Videos | None = None,
            *,
            original: str | None = None,
            choose: bool = False,
            height: int = 480,
            modules: str | None = None,
            keys: bool = True,
            **others: Any,
        ) -> None:
            self._original = original
            if modules is None:
                gr.set_static_paths(STATIC)
                modules = f"gradio_api/file={STATIC}"
            super().__init__(
                value, html_template=_BOX if keys else _PLAIN_BOX,
                css_template=_CSS + (_ALONE if keys else ""), js_on_load=_JS_ON_LOAD, head=_HEAD,
                apply_default_css=False, choose=choose, height=height, modules=modules, keys=keys, **others,
            )  # fmt: skip

        def postprocess(self, value: Videos | Shown | None) -> Shown | None:  # type: ignore[override]
            """Videos, as handlers return them, as the browser plays them: all in one file, made once for the same files.

            Raises:
                gr.Error: the sentence of ``tiled``, which pages show: no or too many videos, or they differ in shape, length or
                    frame rate, or one cannot be read.
            """
            if value is None or isinstance(value, Shown):
                return value
            try:
                made = tiled(value, original=self._original, folder=Path(self.GRADIO_CACHE))
                file = FileData(path=str(made.path), mime_type=made.mime_type)
                return Shown(media=made.media, players=made.players, file=file)
            except InpaintBenchError as error:
                raise gr.Error(str(error), print_exception=False) from error

        def preprocess(self, payload: Shown | None) -> Watched | None:  # type: ignore[override]
            """What was watched, as handlers get it."""
            return None if payload is None else payload.watched  # type: ignore[return-value]

        def example_payload(self) -> None:
            """Nothing: examples of an interface name files."""
            return

        def example_value(self) -> None:
            """Nothing, as above."""
            return

        def api_info(self) -> dict[str, Any]:
            """What programs send: nothing but what the browser was given."""
            return {"type": "object"}

finally:
    component_meta.create_or_modify_pyi = _writes_stub
