"""A model that is served elsewhere as a method: one request an item."""

from __future__ import annotations

import io
import time
import zipfile
from typing import Any

import numpy as np

from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.adapters.fitting import Divisor, value_range_of
from inpaintbench.eval.adapters.posting import Refused, checked_address, posted
from inpaintbench.eval.adapters.usage import Usage
from inpaintbench.eval.methods.base import Method
from inpaintbench.ranges import Duration
from inpaintbench.types import Frames
from inpaintbench.view import ItemView

# What is kept of an answer that holds no frames.
_KEPT_BYTES = 1 << 16


class HttpEndpoint(Method):
    """Sends each item to a server of yours and takes the frames that it answers.

    The request is a POST whose body is a NumPy archive (``np.savez``): ``frames`` ``uint8[T, H, W, 3]``, ``fps`` and
    ``item_id``; ``hole`` ``bool[T, H, W]`` where the benchmark gives one; of an edit ``source_prompt``,
    ``target_prompt`` and ``object_mask``. The answer is one with ``frames`` of that shape. A server that is busy
    (429, 502 to 504) is asked again. Another ``model`` makes predictions anew.

    Args:
        url: where, ``http://`` or ``https://``.
        model: name and version of what is served there: a server cannot be looked into for changes.
        divisor: multiples that the sides of frames are padded to.
        time_limit_seconds: for one answer.
        value_range: of the floats that it answers, "0..1", "-1..1" or "0..255"; None = it answers bytes.

    Raises:
        InputError: another kind of address, or an unknown range.
    """

    name = "http_endpoint"
    version = "1"
    stateless = True
    unwatched = True
    needs = ("input",)
    uses = ("hole", "object_mask", "prompts")

    def __init__(
        self, *, url: str, model: str, divisor: Divisor = 1, time_limit_seconds: Duration = 3600.0, value_range: Any = None
    ) -> None:
        self._url = checked_address(url)
        self.value_range = None if value_range is None else value_range_of(value_range)
        self._model, self.divisor, self._seconds = model, divisor, time_limit_seconds

    def inpaint(self, view: ItemView) -> Frames:
        """``uint8[T, H, W, 3]`` as the server answered.

        Raises:
            NotMeasurable: it cannot be reached, refuses, or answers something else.
        """
        given: dict[str, Any] = {"frames": view.input, "fps": view.fps, "item_id": view.item_id}
        given |= {name: getattr(view, name) for name in ("hole", "object_mask") if view.has(name)}
        if view.has("prompts"):
            given |= {"source_prompt": view.prompts.source or "", "target_prompt": view.prompts.target}
        body = io.BytesIO()
        np.savez(body, allow_pickle=False, **given)
        begun = time.monotonic()
        try:
            answer = posted(self._url, body.getvalue(), content_type="application/octet-stream", seconds=self._seconds)
        except Refused as error:
            self._keep(error.page.encode())
            raise
        frames = self._frames(answer)
        self.usage = Usage(time.monotonic() - begun)
        return frames

    def content(self, item_id: str) -> str:  # noqa: ARG002 - one model serves all items
        """The model's name."""
        return self._model

    def _frames(self, answer: bytes) -> Frames:
        try:
            with np.load(io.BytesIO(answer), allow_pickle=False) as archive:
                return np.asarray(archive["frames"])
        except KeyError as error:
            raise NotMeasurable(f"the answer of {self._url} holds no frames") from error
        except (ValueError, OSError, AttributeError, zipfile.BadZipFile) as error:  # no archive, half of one, a bare array
            self._keep(answer)
            raise NotMeasurable(f"the answer of {self._url} is no NumPy archive") from error

    def _keep(self, answer: bytes) -> None:
        """Keep an answer that holds no frames."""
        if self.log is not None and answer:
            self.log.parent.mkdir(parents=True, exist_ok=True)
            self.log.write_bytes(answer[:_KEPT_BYTES])
