"""Datasets by their folder or their name on the Hugging Face Hub, and parts: slices, items of a split, those with a truth."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from inpaintbench import frozen
from inpaintbench.catalogue import unknown_name
from inpaintbench.errors import InputError, NetworkError, UnknownNameError
from inpaintbench.manifest import column
from inpaintbench.storage import Address, place
from inpaintbench.types import Dataset, Slice

# Name of the slice that takes every item of the dataset once.
ALL_ITEMS = "all items"


def everything(dataset: Dataset) -> Slice:
    """All items of the dataset as a slice."""
    return Slice(name=ALL_ITEMS, rule="every item once", item_ids=tuple(column(dataset, "item_id")))


def named(dataset: Dataset, name: str) -> Slice:
    """A slice of the dataset, all its items by ``ALL_ITEMS``, or those of a split as ``split-test``.

    Raises:
        UnknownNameError: no such slice.
    """
    splits = {f"split-{split}": split for split in dict.fromkeys(split or "test" for split in column(dataset, "split"))}
    slices = {part.name: part for part in dataset.slices}
    # A slice of the dataset comes before the names that every dataset has.
    if name in slices:
        return slices[name]
    if name == ALL_ITEMS:
        return everything(dataset)
    if name in splits:
        pairs = zip(column(dataset, "item_id"), column(dataset, "split"), strict=True)
        ids = tuple(item_id for item_id, split in pairs if (split or "test") == splits[name])
        return Slice(name, f"items of the split {splits[name]}", ids)
    raise UnknownNameError(unknown_name("slice", name, [*slices, *splits, ALL_ITEMS]))


def items_of_slices(dataset: Dataset, names: Sequence[str]) -> set[str]:
    """Ids of the items in any of these slices, which ``named`` knows.

    Raises:
        UnknownNameError: no such slice. InputError: slices without items.
    """
    ids = {item_id for name in names for item_id in named(dataset, name).item_ids}
    if not ids:
        raise InputError(f"no item is in {', '.join(map(repr, names))}; choose another --slice")
    return ids


def of_slices(dataset: Dataset, names: Sequence[str]) -> Dataset:
    """The dataset with nothing but these slices, which ``named`` knows, and their items.

    Raises:
        UnknownNameError: no such slice. InputError: slices without items.
    """
    ids = items_of_slices(dataset, names)
    slices = tuple(named(dataset, name) for name in dict.fromkeys(names))
    return replace(dataset, slices=slices, items=tuple(row for row in dataset.items if row["item_id"] in ids))


def held_back_words(dataset: Dataset) -> str | None:
    """One sentence on the items that cannot be scored here, and where they can; None where all can."""
    hidden = sum(map(frozen.is_held_back, dataset.items)) if "held_back" in dataset.facts else 0
    if not hidden:
        return None
    items = "1 item is" if hidden == 1 else f"{hidden} items is"
    return (
        f"the truth of {items} held back: score them with the dataset {dataset.facts['held_back'].get('truth_dataset')!r}, for "
        "example FOLDER-truth, which `export freeze --hold-back` wrote beside it"
    )


def open_part(dataset: Dataset) -> Dataset:
    """The items whose truth is there, with what is left of the slices; the dataset itself where that is all.

    Raises:
        InputError: the truth of every item is held back.
    """
    words = held_back_words(dataset)
    if words is None:
        return dataset
    items = tuple(row for row in dataset.items if not frozen.is_held_back(row))
    if not items:
        raise InputError(words)
    ids = {row["item_id"] for row in items}
    limited = (replace(part, item_ids=tuple(item for item in part.item_ids if item in ids)) for part in dataset.slices)
    return replace(dataset, items=items, slices=tuple(part for part in limited if part.item_ids))


def check_truths(dataset: Dataset) -> None:
    """Raise ``InputError`` unless every item has its truth."""
    if words := held_back_words(dataset):
        raise InputError(words)


_HUB_ID = re.compile(r"([\w-][\w.-]*/[\w-][\w.-]*)(?:@([\w./-]+))?")


def frozen_or_hub(text: str) -> Path:
    """The folder of a frozen dataset, as ``folder_or_hub`` finds it, or that of one at an address; raises also where what the
    Hub has is none, and what ``frozen.at_address`` raises."""
    where = place(text)
    if isinstance(where, Address):
        return frozen.at_address(where)
    if Path(text).exists():
        return Path(text)
    folder = folder_or_hub(text)
    if not (folder / frozen.MANIFEST).is_file():
        raise InputError(f"the dataset {text!r} of the Hub is not a frozen dataset (no {frozen.MANIFEST})")
    return folder


def folder_or_hub(text: str) -> Path:
    """``text`` itself, or the folder that ``OWNER/NAME`` or ``OWNER/NAME@REVISION`` was brought to, whatever it holds.

    A folder of that name comes before the Hub. What the Hub's cache holds already is not fetched again; private datasets need
    the user's token (``hf auth login``).

    Raises:
        InputError: neither a folder nor a name of the Hub.
        NetworkError: the Hub cannot be reached, or does not show such a dataset.
    """
    if Path(text).exists():
        return Path(text)
    named = _HUB_ID.fullmatch(text)
    if named is None:
        raise InputError(f"{text!r} is neither a folder nor a dataset of the Hub; give a path, or OWNER/NAME[@REVISION]")
    repository, revision = named[1], named[2]
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError, RepositoryNotFoundError, RevisionNotFoundError

    called = repository if revision is None else f"{repository}@{revision}"
    try:
        # Asked for at every call: the library itself reads its environment once, when it is imported.
        endpoint, cache = os.environ.get("HF_ENDPOINT"), os.environ.get("HF_HUB_CACHE")
        return Path(snapshot_download(repository, repo_type="dataset", revision=revision, endpoint=endpoint, cache_dir=cache))
    except (RepositoryNotFoundError, RevisionNotFoundError):
        raise NetworkError(
            f"there is no folder {called!r}, and the Hub shows no such dataset or revision; check the name, or `hf auth login`"
        ) from None
    except LocalEntryNotFoundError:
        raise NetworkError(f"there is no folder {called!r}, and the Hub cannot be reached; give the path of a copy") from None
    except (HfHubHTTPError, OSError) as error:
        # Not the server's own words: they may repeat what it was sent, the token among it.
        status = error.response.status_code if isinstance(error, HfHubHTTPError) and error.response is not None else None
        what = f"status {status}" if status else type(error).__name__
        raise NetworkError(f"the dataset {called!r} cannot be fetched from the Hub ({what})") from None
