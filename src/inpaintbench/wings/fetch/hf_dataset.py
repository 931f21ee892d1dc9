"""Videos or images in a column of a Hugging Face dataset, on the Hub or in a folder."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from inpaintbench.catalogue import unknown_name
from inpaintbench.download import Limits, Received, download, safe_name, utc_now, without_query
from inpaintbench.errors import Gone, InputError, NetworkError, Rejected, UnknownNameError
from inpaintbench.files import file_sha256
from inpaintbench.types import content_id
from inpaintbench.wings.fetch.base import Candidate, Fetched, Fetcher, Licence
from inpaintbench.wings.fetch.lists import described

_HUB = "hf://datasets/"
_LONGEST_WORDS = 1000  # longer texts are not facts that rules use
# Classes of the features of media columns, and types of text columns.
_MEDIA, _TEXTS = ("Video", "Image"), ("string", "large_string")


class HuggingFaceDataset(Fetcher):
    """Every filled row of a dataset's video or image column, in the dataset's order.

    The rows of a dataset on the Hub are brought to the cache of ``datasets`` when they are listed, by that library's own means;
    what they only point at is downloaded within the limits.

    Args:
        dataset: id on the Hub, or a folder: one that ``save_to_disk`` wrote, or one of files that ``load_dataset`` reads.
        config: its configuration, where it has several.
        split: which rows.
        column: found by itself where exactly one holds videos or images; a text column holds addresses.
        licence: where the dataset does not state it, or states it wrongly; what a row itself says counts more.
        revision: branch, tag or commit on the Hub.
        media: ``video`` or ``image`` for a text column; others tell it themselves.
    """

    name = "hf_dataset"
    version = "1"

    def __init__(
        self, *, dataset: str, config: str | None = None, split: str = "train", column: str | None = None,
        licence: str | None = None, revision: str | None = None, media: str = "video",
    ) -> None:  # fmt: skip
        if media not in ("video", "image"):
            raise UnknownNameError(unknown_name("kind of media", media, ["video", "image"]))
        self._dataset, self._config, self._split = dataset, config, split
        self._where = (dataset, config, split, revision, column)
        self._licence, self._media = licence, media

    @property
    def media(self) -> str:  # type: ignore[override]  # known once the dataset is open
        """``video`` or ``image``, as the column says."""
        rows, column = _loaded(*self._where)
        kind = type(rows.features[column]).__name__
        return {"Video": "video", "Image": "image"}.get(kind, self._media)

    def candidates(self) -> Iterator[Candidate]:
        """One for each row that holds something.

        Raises:
            InputError: there is no such dataset, configuration, split or column, or none can be told by itself.
            NetworkError: the Hub does not answer.
        """
        rows, column = _loaded(*self._where)
        for index in range(len(rows)):
            row = rows[index]
            if row[column]:
                yield self._candidate(index, row, column)

    def fetch(self, candidate: Candidate, *, part: Path, limits: Limits) -> Fetched:
        """Write the row's bytes, copy its file, or download what its address names.

        Raises:
            Rejected: the row holds neither, too much, or a path of this machine that the dataset has no business with.
        """
        rows, column = _loaded(*self._where)
        cell = rows[_index(candidate)][column]
        inside, path = _parts(cell)
        if inside is not None:
            _check_size(len(inside), limits)
            part.write_bytes(inside)
        elif path.startswith(_HUB):
            from huggingface_hub import get_token, hf_hub_url

            repository, _, rest = path.removeprefix(_HUB).partition("@")
            revision, _, file = rest.partition("/")
            if not file:
                raise Rejected(f"the row names {path!r}, which states no revision of its dataset")
            token = get_token()
            url = hf_hub_url(repository, file, repo_type="dataset", revision=unquote(revision))
            # With the user's token where there is one.
            from_hub = download(url, part, limits=limits, headers={"Authorization": f"Bearer {token}"} if token else {})
            return Fetched(part, from_hub)
        elif "://" in path:
            return Fetched(part, download(path, part, limits=limits))
        else:
            _check_size(self._own(path).stat().st_size, limits)
            shutil.copyfile(path, part)
        received = Received(candidate.url, None, 1, part.stat().st_size, file_sha256(part), None, None, utc_now())
        return Fetched(part, received)

    def licence_of(self, candidate: Candidate) -> Licence:
        """Present licence in the dataset.

        Raises:
            Gone: there is no such dataset or row any more.
        """
        try:
            rows, column = _loaded(*self._where)
            row = rows[_index(candidate)]
        except (InputError, IndexError) as error:
            raise Gone(f"{candidate.url} is not there any more") from error
        now = self._candidate(_index(candidate), row, column)
        return Licence(now.licence, now.licence_url, checked_at=utc_now())

    def _candidate(self, index: int, row: Mapping[str, Any], column: str) -> Candidate:
        from datasets import ClassLabel

        rows, others = _loaded(*self._where)[0], {}
        for name, value in row.items():
            feature = rows.features[name]
            named_class = isinstance(feature, ClassLabel) and isinstance(value, int) and value >= 0
            if name != column:
                others[name.lower()] = feature.int2str(value) if named_class else value
        named, details = described(others)
        named["licence"] = named.get("licence") or self._licence or (rows.info.license or "").strip() or None
        local = Path(self._dataset).is_dir()
        if not local:
            named.setdefault("page_url", f"https://huggingface.co/datasets/{self._dataset}")
        short = safe_name(Path(self._dataset).resolve().name if local else self._dataset.replace("/", "--"))
        inside, path = _parts(row[column])
        # A path of this machine is no address, and would differ on the next one.
        place = f"{'dataset:' if local else _HUB}{quote(short if local else self._dataset)}/{quote(self._split)}/{index}"
        return Candidate(
            name="/".join([short, *([safe_name(self._config)] if self._config else []), safe_name(self._split), f"{index:07d}"]),
            url=path if inside is None and "://" in path else place,
            content=content_id(self.version, hashlib.sha256(inside).hexdigest() if inside is not None else _state(path)),
            details={name: value for name, value in details.items() if len(str(value)) <= _LONGEST_WORDS},
            **named,
        )

    def _own(self, path: str) -> Path:
        """The path, if a dataset of this origin may name it: one from the Hub must not reach beyond the cache."""
        from datasets import config

        real = Path(path).resolve()
        caches = [Path(folder).resolve() for folder in (config.HF_CACHE_HOME, config.HF_DATASETS_CACHE)]
        if not Path(self._dataset).is_dir() and not any(real.is_relative_to(cache) for cache in caches):
            raise Rejected(f"the row names the path {path!r} of this machine, not a file of the dataset")
        if not real.is_file():
            raise Rejected(f"the row names {Path(path).name!r}, which is not there")
        return real


def _index(candidate: Candidate) -> int:
    return int(candidate.name.rpartition("/")[2])


def _parts(cell: Any) -> tuple[bytes | None, str]:
    """Bytes and path of a cell; a text is a path."""
    return (cell.get("bytes"), cell.get("path") or "") if isinstance(cell, Mapping) else (None, str(cell))


def _state(path: str) -> str:
    if "://" in path or not os.path.isfile(path):
        return path
    status = os.stat(path)
    return content_id(Path(path).name, status.st_size, status.st_mtime_ns)


def _check_size(size: int, limits: Limits) -> None:
    if size > limits.most_bytes:
        raise Rejected(f"the row holds {size} bytes, more than {limits.most_bytes}")


@lru_cache(maxsize=1)
def _loaded(dataset: str, config: str | None, split: str, revision: str | None, column: str | None) -> tuple[Any, str]:
    """The rows, with media left undecoded, and the column that holds them."""
    from datasets import disable_progress_bars

    disable_progress_bars()
    try:
        rows = _load(dataset, config, split, revision)
    except ConnectionError as error:
        raise NetworkError(f"the dataset {dataset!r} cannot be had now: {_line(error)}") from error
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise InputError(f"the dataset {dataset!r} (split {split!r}) cannot be loaded: {_line(error)}") from error
    features = rows.features
    media = [name for name, feature in features.items() if type(feature).__name__ in _MEDIA]
    texts = [name for name, feature in features.items() if type(feature).__name__ == "Value" and feature.dtype in _TEXTS]
    if column is None and len(media) != 1:
        what = f"several columns of videos or images ({', '.join(media)})" if media else "no column of videos or images"
        raise InputError(f"the dataset {dataset!r} has {what}; name the column, one of {', '.join(features)}")
    chosen = media[0] if column is None else column
    if chosen not in (*media, *texts):
        raise InputError(f"the column {column!r} of the dataset {dataset!r} holds neither media nor addresses, or is not there")
    return (rows.cast_column(chosen, type(features[chosen])(decode=False)) if chosen in media else rows), chosen


def _load(dataset: str, config: str | None, split: str, revision: str | None) -> Any:
    from datasets import DatasetDict, load_dataset, load_from_disk

    folder = Path(dataset)
    if not folder.is_dir():
        return load_dataset(dataset, name=config, split=split, revision=revision)
    if not any((folder / marker).is_file() for marker in ("state.json", "dataset_dict.json")):
        return load_dataset(str(folder), name=config, split=split)
    saved = load_from_disk(str(folder))
    if not isinstance(saved, DatasetDict):
        return saved
    if split not in saved:
        raise InputError(f"the dataset {dataset!r} has no split {split!r}, only {', '.join(saved)}")
    return saved[split]


def _line(error: BaseException) -> str:
    text = str(error.args[0]) if error.args else ""
    return without_query(text.strip().splitlines()[0]) if text.strip() else type(error).__name__
