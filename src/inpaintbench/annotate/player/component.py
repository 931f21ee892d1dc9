"""``ComparisonPlayer``: a subclass of ``gr.HTML`` around the scripts of ``static``. Nothing of it is built: no npm, no bundle."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypedDict

import gradio as gr
from gradio import component_meta
from gradio.data_classes import FileData, GradioModel

from inpaintbench.annotate.player.tiled import Tiled, Videos, tiled
from inpaintbench.errors import InpaintBenchError
from inpaintbench.pages.page import TOKENS, asset

STATIC = Path(__file__).parent / "static"
_BOX = '<div class="comparison" role="group" aria-label="Videos, frame by frame"></div>'
# Inside the component's own element, where Gradio puts a component's styles; colours of a page of ours or of Gradio's theme.
_COLOURS = "\n".join(asset(path) for path in (TOKENS, "annotate/player/static/colours.css")).replace(":root", "&")
_THEME = "& { color-scheme: light; } .dark & { color-scheme: dark; } [data-theme] & { color-scheme: inherit; }"
BASICS = asset("annotate/player/static/basics.css")
_CSS = "\n".join((_COLOURS, _THEME, BASICS, asset("annotate/player/static/player.css")))
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


@contextmanager
def _no_stub_file() -> Iterator[None]:
    """While a component's class is made: Gradio would write a stub beside its module, into the installed package."""
    writes = component_meta.create_or_modify_pyi
    component_meta.create_or_modify_pyi = lambda *_: None
    try:
        yield
    finally:
        component_meta.create_or_modify_pyi = writes


with _no_stub_file():

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
            keys: it listens to the keyboard while the pointer or the focus is in it. Without, the page's own script drives it.
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
                value,
                html_template=_BOX,
                css_template=_CSS + (_ALONE if keys else ""),
                js_on_load=_JS_ON_LOAD,
                head=_HEAD,
                apply_default_css=False,
                choose=choose,
                height=height,
                modules=modules,
                keys=keys,
                **others,
            )

        def postprocess(self, value: Videos | Shown | None) -> Shown | None:  # type: ignore[override]
            """Videos, as handlers return them, as the browser plays them: all in one file, made once for the same files.

            Raises:
                gr.Error: the sentence of ``tiled``, which pages show: no or too many videos, or they differ in shape, length or
                    frame rate, or one cannot be read.
            """
            if value is None or isinstance(value, Shown):
                return value
            try:
                return _shown(tiled(value, original=self._original, folder=Path(self.GRADIO_CACHE)))
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


def _shown(made: Tiled) -> Shown:
    file = FileData(path=str(made.path), mime_type=made.mime_type)
    return Shown(media=made.media, players=made.players, file=file)
