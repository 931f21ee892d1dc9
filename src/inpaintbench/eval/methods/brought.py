"""What was made elsewhere as a method: a Python callable of yours, a server, and a folder of predictions."""

from __future__ import annotations

import importlib
import inspect
import io
import json
import os
import re
import sys
import time
import zipfile
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cached_property, lru_cache
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from inpaintbench import video
from inpaintbench.errors import InputError, MediaError, NotMeasurable
from inpaintbench.eval.adapters.fitting import Divisor, sizes_in_words, value_range_of
from inpaintbench.eval.adapters.posting import Refused, checked_address, posted
from inpaintbench.eval.adapters.starting import Usage
from inpaintbench.eval.methods.base import Method
from inpaintbench.ranges import Duration
from inpaintbench.storage import PASSING, Address, Entry, Place, brought, cache_folder, listed, place
from inpaintbench.types import Frames, canonical_json
from inpaintbench.view import ItemView

# How the file of a prediction may end, in letters of any case.
SUFFIXES = (".mp4", ".mkv", *video.IMAGE_SUFFIXES)
# Asking for each spelling is quicker than listing a folder of many thousand predictions for every item.
_SPELLINGS = tuple(
    "".join(letters)
    for suffix in SUFFIXES
    for letters in product(*((ending, ending.upper()) if ending.isalpha() else ending for ending in suffix))
)
# Objects of one prediction that come at once.
_AT_ONCE = 6
# What is kept of an answer that holds no frames.
_KEPT_BYTES = 1 << 16


class PythonCallable(Method):
    """Calls ``MODULE:NAME`` of yours with frames ``uint8[T, H, W, 3]`` and hole ``bool[T, H, W]`` (True = hole), for frames of
    that shape.

    The module may lie in the current folder. A class is made once in each worker, with the further arguments, and its
    instance is called: what it loads in ``__init__`` stays loaded. Hole is None where a benchmark hides it or has none. Of an
    edit a callable is also given what it has parameters for: ``source_prompt``, ``target_prompt`` and ``instruction`` (None
    where the item has none) and ``object_mask`` (``bool[T, H, W]``, None where there is none); of a clip that somebody
    describes ``target_prompt`` says how. A callable may say what sides
    have to be multiples of in its attribute ``divisor``, and that it keeps nothing of an item: ``stateless = True``. Other
    callables are called by several processes, none of which sees two items of one clip. The method's identity holds name,
    size and time of the module's own file, not of what it imports.

    Floats are taken where the callable states their range: in an attribute ``value_range`` ("0..1", "-1..1", "0..255"), or by the
    argument of that name, which it is not given.

    Args:
        address: ``MODULE:NAME``.
        arguments: further keyword arguments.
        value_range: range of the floats that it gives.

    Raises:
        InputError: no such module, or nothing callable of that name in it; an unknown range.
    """

    name = "python_callable"
    version = "1"
    needs = ("input",)
    uses = ("hole", "object_mask", "prompts")

    def __init__(self, *, address: str, arguments: Mapping[str, Any] | None = None, value_range: Any = None) -> None:
        self._found, self._address, self._arguments = _found(address), address, dict(arguments or {})
        self._value_range = None if value_range is None else value_range_of(value_range)
        source = getattr(sys.modules[address.partition(":")[0]], "__file__", None)
        self._source = None if source is None else Path(source)
        self._is_class = inspect.isclass(self._found)
        if self._is_class:
            # What can be told of a class before it is made, which may take minutes and a card.
            name = f"{self._found.__module__}:{self._found.__qualname__}"
            if not any("__call__" in vars(base) for base in self._found.__mro__):
                raise InputError(f"{name} has no __call__ that takes frames and hole")
            try:
                inspect.signature(self._found).bind(**self._arguments)
            except TypeError as error:
                raise InputError(f"{name} cannot be made: {error}") from error
            except ValueError:  # some tell no signature
                pass
        self.stateless, self.unwatched = (bool(getattr(self._found, name, False)) for name in ("stateless", "unwatched"))
        self.heading = f"{address}({', '.join(f'{name}={value!r}' for name, value in self._arguments.items())})"

    @cached_property
    def _function(self) -> Callable[..., Any]:
        """What is called; a class is made here, which only workers come to."""
        if not self._is_class:
            return self._found  # type: ignore[no-any-return]
        arguments, self._arguments = self._arguments, {}
        return _made(self._found, canonical_json(arguments))

    @property
    def divisor(self) -> Divisor:  # type: ignore[override]
        """What the callable says that sides have to be multiples of."""
        divisor: Divisor = getattr(self._function, "divisor", 1)
        return divisor

    @property
    def value_range(self) -> str | None:  # type: ignore[override]
        """Range of floats that was asked for, or that the callable states."""
        stated = getattr(self._function, "value_range", None)
        return self._value_range or (None if stated is None else value_range_of(stated))

    def inpaint(self, view: ItemView) -> Frames:
        """Frames that the callable gave for copies of frames and hole.

        Raises:
            InputError: it gave nothing that is an array of numbers.
        """
        function, hole = self._function, view.hole.copy() if view.has("hole") else None
        self.given = view.input.copy()
        found = np.asarray(function(self.given, hole, **{**self._of_edit(view), **self._arguments}))
        if found.dtype == object:
            given = "None" if found.shape == () and found.item() is None else "no array of numbers"
            raise InputError(f"{self._address} gave {given}, wanted uint8{view.input.shape}")
        return found

    def _of_edit(self, view: ItemView) -> dict[str, Any]:
        """Edit that is asked for, as far as the callable has parameters for it; nothing for other items."""
        if not view.has("prompts"):
            return {}
        known = {
            "source_prompt": view.prompts.source,
            "target_prompt": view.prompts.target or None,
            "instruction": view.prompts.instruction,
            "object_mask": view.object_mask.copy() if view.has("object_mask") else None,
        }
        try:
            taken = inspect.signature(self._function).parameters
        except (TypeError, ValueError):  # some built-in callables tell nothing
            return {}
        if any(one.kind is one.VAR_KEYWORD for one in taken.values()):
            return known
        return {name: value for name, value in known.items() if name in taken}

    def content(self, item_id: str) -> str:  # noqa: ARG002 - the callable is the same for all items
        """Changes whenever the file of the module does."""
        if self._source is None:
            return ""
        status = self._source.stat()
        return repr((self._source.name, status.st_size, status.st_mtime_ns))


@lru_cache(maxsize=2)
def _made(kind: Any, arguments: str) -> Callable[..., Any]:
    """An instance of a class, made at its first item; two at most are held, since each may hold a network."""
    try:
        return kind(**json.loads(arguments))  # type: ignore[no-any-return]
    except Exception as error:  # whatever it does when it is made
        raise InputError(f"{kind.__module__}:{kind.__qualname__} cannot be made: {type(error).__name__}: {error}") from error


def _found(address: str) -> Any:
    module_name, _, name = address.partition(":")
    # Worker processes are started without the current folder on their path.
    if (here := os.getcwd()) not in sys.path:
        sys.path.append(here)
    try:
        function = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:  # whatever it does when it is imported
        what = str(error) if isinstance(error, ImportError) else f"{type(error).__name__}: {error}"
        raise InputError(f"the module of method {address!r} cannot be imported: {what}") from error
    for part in name.split("."):
        function = getattr(function, part, None)  # type: ignore[assignment]
    if not callable(function):
        raise InputError(f"module {module_name!r} holds nothing callable named {name!r}; a method is MODULE:NAME")
    return function


class HttpEndpoint(Method):
    """Sends each item to a server of yours and takes the frames that it answers.

    The request is a POST whose body is a NumPy archive (``np.savez``): ``frames`` ``uint8[T, H, W, 3]``, ``fps`` and
    ``item_id``; ``hole`` ``bool[T, H, W]`` where the benchmark gives one; of an edit ``source_prompt`` and ``target_prompt``
    (empty where the item has none) and, where it has them, ``instruction`` and ``object_mask``; of a clip that somebody
    describes ``target_prompt``. The answer is one with ``frames`` of that shape. A server that is busy (429, 502 to 504) is
    asked again. Another ``model`` makes predictions anew.

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
            given |= {"instruction": view.prompts.instruction} if view.prompts.instruction else {}
        body = io.BytesIO()
        np.savez(body, allow_pickle=False, **given)
        begun = time.monotonic()
        try:
            answer = posted(self._url, body.getvalue(), content_type="application/octet-stream", seconds=self._seconds)
        except Refused as error:
            self._keep(error.page.encode())
            raise
        try:
            with np.load(io.BytesIO(answer), allow_pickle=False) as archive:
                frames = np.asarray(archive["frames"])
        except KeyError as error:
            raise NotMeasurable(f"the answer of {self._url} holds no frames") from error
        except (ValueError, OSError, AttributeError, zipfile.BadZipFile) as error:  # no archive, half of one, a bare array
            self._keep(answer)
            raise NotMeasurable(f"the answer of {self._url} is no NumPy archive") from error
        self.usage = Usage(time.monotonic() - begun)
        return frames

    def content(self, item_id: str) -> str:  # noqa: ARG002 - one model serves all items
        """The model's name."""
        return self._model

    def _keep(self, answer: bytes) -> None:
        """Keep an answer that holds no frames."""
        if self.log is not None and answer:
            self.log.parent.mkdir(parents=True, exist_ok=True)
            self.log.write_bytes(answer[:_KEPT_BYTES])


class SavedFolder(Method):
    """Reads ``<folder>/<item id>.mp4``, ``.mkv``, ``.png``, ``.jpg``, ``.jpeg``, ``.bmp``, ``.webp``, ``.tif``, ``.tiff``, or the
    images in ``<folder>/<item id>/`` by their numbers, endings in letters of any case. Of each item there may be only one.

    Frames of another size than the item's are refused where a hole is given. Where whole frames are judged they are passed on:
    the protocol says what becomes of them.

    Args:
        folder: where the predictions lie, also in object storage, whence they come when their item does.

    Raises:
        InputError: there is no such folder. UsageError, MissingExtraError: an address that cannot be read here.
    """

    name = "saved_folder"
    version = "3"
    stateless = True
    unwatched = True
    needs = ("input",)
    uses = ("hole",)
    any_size = True
    computes = False

    def __init__(self, *, folder: str) -> None:
        self.folder = place(folder)
        if isinstance(self.folder, Path) and not self.folder.is_dir():
            raise InputError(f"no folder {folder!r} to read predictions from")

    @cached_property
    def _listed(self) -> dict[str, list[Entry]]:
        found = _by_item(self.folder) if isinstance(self.folder, Address) else {}
        if not found:
            raise InputError(f"there is nothing at {self.folder} to read predictions from")
        return found

    def inpaint(self, view: ItemView) -> Frames:
        """``uint8[T, H, W, 3]`` as stored.

        Raises:
            NotMeasurable: no prediction of this item or several, one that cannot be read, whose frames have no clear order, or
                one of another shape beside a hole.
        """
        if isinstance(self.folder, Address):
            with _brought(self.folder, view.item_id) as folder:
                return self._frames(view, folder)
        return self._frames(view, self.folder)

    def _frames(self, view: ItemView, folder: Path) -> Frames:
        paths = _find(folder, view.item_id)
        if not paths:
            raise NotMeasurable(f"no prediction for item {view.item_id!r} in {str(self.folder)!r}")
        if len(paths) > 1:
            names = " and ".join(repr(path.name) for path in paths)
            raise NotMeasurable(f"item {view.item_id!r} has {len(paths)} predictions in {str(self.folder)!r}, {names}: keep one")
        path = paths[0]
        try:
            frames = video.read_image_folder(path) if path.is_dir() else video.read_frames(path)
        except (MediaError, ValueError) as error:
            # What the sentence says already goes.
            words = str(error).removeprefix(path.name).removeprefix(":").strip()
            words = re.sub(r"^cannot be opened as (an image|video): ", "", words)
            words = re.sub(r"^(holds|has) ", r"it \1 ", words)
            raise NotMeasurable(f"prediction {path.name!r} cannot be read: {words}") from error
        wanted = (view.frames, view.height, view.width, 3)
        if frames.shape != wanted and (view.has("hole") or len(frames) != view.frames):
            shape, asked = sizes_in_words(frames.shape, wanted)
            raise NotMeasurable(f"prediction {path.name!r} is {shape}, the item is {asked}")
        return frames

    def content(self, item_id: str) -> str:
        """Changes whenever the stored prediction of an item does: names, sizes and times of its files, or states of its objects;
        "" without one.

        Raises:
            InputError: nothing lies at the address, or it may not be read. NetworkError: for now.
        """
        if isinstance(self.folder, Address):
            objects = [(one.name, one.state) for one in self._listed.get(item_id, ())]
            return repr(objects) if objects else ""
        files = [file for path in _find(self.folder, item_id) for file in (video.list_images(path) if path.is_dir() else [path])]
        # A broken link has no state of its own; it is told when it is read.
        facts = [(file.name, file.stat().st_size, file.stat().st_mtime_ns) if file.exists() else file.name for file in files]
        return repr(facts) if facts else ""


def _find(folder: Path, item_id: str) -> list[Path]:
    """Every file and folder that is a prediction of the item."""
    own = folder / item_id
    files = [path for suffix in _SPELLINGS if (path := folder / f"{item_id}{suffix}").is_file()]
    # A file system that ignores case has one file under many spellings.
    distinct = list({os.stat(path).st_ino: path for path in reversed(files)}.values())[::-1]
    return distinct + [own] * own.is_dir()


def _by_item(address: Address, beginning: str = "") -> dict[str, list[Entry]]:
    """Item id -> the objects that are, or are in, predictions of it, of those whose names have this beginning."""
    found: dict[str, list[Entry]] = {}
    for one in listed(address, beginning):
        folder, _, own = one.name.rpartition("/")
        if video.is_image(own) if folder else Path(own).suffix.lower() in SUFFIXES:
            found.setdefault(folder or Path(own).stem, []).append(one)
    return {name: entries for name, entries in found.items() if not video.is_hidden(name)}


@contextmanager
def _brought(address: Address, item_id: str) -> Iterator[Path]:
    """A folder with what lies at an address of one item, while the block runs; its bytes come through the cache."""
    cache = cache_folder()
    cache.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=cache, prefix=PASSING) as folder, ThreadPoolExecutor(_AT_ONCE) as pool:

        def bring(one: Entry) -> None:
            target = Path(folder, one.name)
            target.parent.mkdir(exist_ok=True)
            # Linked, so that it stays however full the cache gets; it may have left that before.
            while not target.exists():
                with suppress(FileNotFoundError):
                    os.link(brought(address / one.name, state=one.state), target)

        list(pool.map(bring, _by_item(address, item_id).get(item_id, ())))
        yield Path(folder)


def strangers(folder: Place, item_ids: Collection[str]) -> list[str]:
    """Names of the files and folders in ``folder`` that could hold predictions, but of none of the items, sorted."""
    if isinstance(folder, Address):
        return sorted(entries[0].name.partition("/")[0] for item, entries in _by_item(folder).items() if item not in item_ids)
    paths = [path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES or path.is_dir()]
    names = {path.name: path.name if path.is_dir() else path.stem for path in paths if not video.is_hidden(path.name)}
    return sorted(name for name, item_id in names.items() if item_id not in item_ids)
