"""Datasets by the name that they have on the Hugging Face Hub."""

from __future__ import annotations

import os
import re
from pathlib import Path

from inpaintbench import frozen
from inpaintbench.errors import InputError, NetworkError

_HUB_ID = re.compile(r"([\w-][\w.-]*/[\w-][\w.-]*)(?:@([\w./-]+))?")


def frozen_or_hub(text: str) -> Path:
    """The folder of a frozen dataset, as ``folder_or_hub`` finds it; raises also where what the Hub has is none."""
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
    return _fetched(named[1], named[2])


def _fetched(repository: str, revision: str | None) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError, RepositoryNotFoundError, RevisionNotFoundError

    called = repository if revision is None else f"{repository}@{revision}"
    try:
        # Asked for at every call: the library itself reads its environment once, when it is imported.
        endpoint, cache = os.environ.get("HF_ENDPOINT"), os.environ.get("HF_HUB_CACHE")
        return Path(snapshot_download(repository, repo_type="dataset", revision=revision, endpoint=endpoint, cache_dir=cache))
    except (RepositoryNotFoundError, RevisionNotFoundError) as error:
        raise NetworkError(
            f"there is no folder {called!r}, and the Hub shows no such dataset or revision; check the name, or `hf auth login`"
        ) from error
    except LocalEntryNotFoundError as error:
        raise NetworkError(f"there is no folder {called!r}, and the Hub cannot be reached; give the path of a copy") from error
    except (HfHubHTTPError, OSError) as error:
        # Not the server's own words: they may repeat what it was sent, the token among it.
        status = error.response.status_code if isinstance(error, HfHubHTTPError) and error.response is not None else None
        what = f"status {status}" if status else type(error).__name__
        raise NetworkError(f"the dataset {called!r} cannot be fetched from the Hub ({what})") from None
