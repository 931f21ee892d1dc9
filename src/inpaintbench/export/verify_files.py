"""What lies in the folder of a dataset: its files, and what is no file and has no business there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from inpaintbench.frozen import MANIFEST

# The Hub adds it to every repository.
_OF_THE_HUB = ".gitattributes"
# Of its library, which writes there beside what it downloads, and of git.
_FOLDERS_OF_OTHERS = (".cache", ".git")


def is_ours(name: str) -> bool:
    """Whether a file counts as part of a dataset, rather than of the Hub, its library or git."""
    return name != _OF_THE_HUB and name.partition("/")[0] not in _FOLDERS_OF_OTHERS


def there(root: Path) -> tuple[set[str], dict[str, Path]]:
    """Names of the files below ``root`` without the manifest, links to files among them; all else by name, in order.

    Links to folders are not followed, so that what lies behind them is missing.
    """
    found = {name: path for path in root.rglob("*") if is_ours(name := path.relative_to(root).as_posix())}
    files = {name for name, path in found.items() if path.is_file()}
    return files - {MANIFEST}, {name: found[name] for name in sorted(set(found) - files)}


def needless(others: Mapping[str, Path], *, files: Iterable[str]) -> Iterator[str]:
    """What is wrong with that which is no file: only real folders belong to a dataset, each for a file in it.

    Args:
        others: as ``there`` found them.
        files: names of the files that are there or ought to be.
    """
    holding = {folder.as_posix() for name in files for folder in PurePosixPath(name).parents}
    for name, path in others.items():
        if path.is_symlink():
            yield f"{name}: a link to {'a folder' if path.is_dir() else 'nothing'}, not in the manifest"
        elif not path.is_dir():
            yield f"{name}: neither file nor folder, not in the manifest"
        elif name not in holding:
            yield f"{name}: a folder without files, not in the manifest"
