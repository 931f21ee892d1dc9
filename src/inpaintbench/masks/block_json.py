"""Holes made of square blocks as JSON: ``{file name: [[row, column, size], ...]}``, the ChaLearn challenge's ``maskdata.json``.

A block covers rows ``row .. row + size - 1`` and columns ``column .. column + size - 1``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from inpaintbench.errors import InputError
from inpaintbench.files import write_atomically
from inpaintbench.types import Hole

# (row, column, size) in pixels.
Block = tuple[int, int, int]


def read_blocks(path: Path | str) -> dict[str, list[Block]]:
    """Read the blocks of every file name in ``path``, in its order.

    Raises:
        InputError: the file is not of this format; the text names the wrong entry.
    """
    where = Path(path).name
    try:
        data = json.loads(Path(path).read_bytes().decode("utf-8-sig"), object_pairs_hook=_object)
    except OSError as error:
        raise InputError(f"{where} cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:  # also for bytes that are not UTF-8, and numbers of thousands of digits
        raise InputError(f"{where} is not readable as JSON: {error}") from error
    if not isinstance(data, dict):
        raise InputError(f"{where} holds {_shown(data)}, but blocks come as {{file name: [[row, column, size], ...]}}")
    return {name: _blocks(blocks, f"{where}: {name!r}") for name, blocks in data.items()}


def write_blocks(path: Path | str, blocks: Mapping[str, Iterable[Sequence[int]]]) -> None:
    """Write blocks in the format of ``read_blocks``, one line per file, sorted by name, atomically.

    Raises:
        InputError: a block is not three whole numbers in range.
    """
    checked = {name: _blocks([list(block) for block in blocks[name]], repr(name)) for name in sorted(blocks)}
    lines = [f"{json.dumps(name)}: {json.dumps(file_blocks)}" for name, file_blocks in checked.items()]
    write_atomically(Path(path), ("{\n" + ",\n".join(lines) + "\n}\n").encode())


def hole_of(blocks: Iterable[Sequence[int]], height: int, width: int) -> Hole:
    """Hole mask of blocks, which may overlap, ``bool[1, height, width]``.

    Raises:
        InputError: a block reaches beyond the image, or is not three whole numbers in range.
    """
    hole = np.zeros((1, height, width), np.bool_)
    for row, column, size in _blocks([list(block) for block in blocks], "hole"):
        if row + size > height or column + size > width:
            raise InputError(
                f"block (row {row}, column {column}, size {size}) reaches outside the image of {width}x{height}: blocks are "
                "(row, column, size), rows first"
            )
        hole[:, row : row + size, column : column + size] = True
    return hole


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # JSON's reader would keep the last of equal names and drop the others silently.
    entries = dict(pairs)
    if len(entries) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{max(names, key=names.count)!r} is in it twice")
    return entries


def _blocks(blocks: object, where: str) -> list[Block]:
    if not isinstance(blocks, list):
        raise InputError(f"{where} has {_shown(blocks)}, but needs a list of [row, column, size]")
    checked = []
    for block in blocks:
        numbers = [int(number) for number in block if _is_whole(number)] if isinstance(block, list) else []
        if len(numbers) != 3 or len(block) != 3:
            raise InputError(f"{where} has the block {_shown(block)}, but a block is three whole numbers [row, column, size]")
        row, column, size = numbers
        if row < 0 or column < 0 or size < 1:
            raise InputError(f"{where} has the block {_shown(block)}, but rows and columns count from 0 and a size from 1")
        checked.append((row, column, size))
    return checked


def _is_whole(number: object) -> bool:
    return isinstance(number, int | np.integer) and not isinstance(number, bool)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
