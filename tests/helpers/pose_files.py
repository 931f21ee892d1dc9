"""Small annotation files in the layouts of the originals, written with SciPy as MATLAB would."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import io


def struct_array(rows: Sequence[Mapping[str, Any]]) -> np.ndarray:
    """A MATLAB struct array 1 x N; as in MATLAB every row has all fields, empty where a row does not say."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    array = np.zeros((1, len(rows)), dtype=[(name, object) for name in names])
    for index, row in enumerate(rows):
        for name in names:
            array[name][0, index] = row.get(name, np.zeros((0, 0)))
    return array


def mpii_file(path: Path, pictures: Sequence[tuple[str, Any]], *, train: Sequence[int], videos: Sequence[int] = ()) -> Path:
    """``pictures``: (file name, annorect: a list of rows, or anything MATLAB may hold there)."""
    rows = []
    for index, (name, people) in enumerate(pictures):
        row: dict[str, Any] = {"image": {"name": name}}
        if people is not None:
            row["annorect"] = struct_array(people) if isinstance(people, list) else people
        if videos:
            row["vidx"] = videos[index]
        rows.append(row)
    release = {"annolist": struct_array(rows), "img_train": np.array([train], np.uint8), "version": "12"}
    io.savemat(path, {"RELEASE": release}, do_compression=False)
    return path


def mpii_person(points: Sequence[tuple[Any, ...]], **fields: Any) -> dict[str, Any]:
    """A row of annorect; ``points``: (id, x, y) or (id, x, y, is_visible)."""
    rows = [dict(zip(("id", "x", "y", "is_visible"), point, strict=False)) for point in points]
    return {"x1": 11, "y1": 21, "x2": 41, "y2": 61, "scale": 1.5, "annopoints": {"point": struct_array(rows)}, **fields}


def flic_file(path: Path, examples: Sequence[Mapping[str, Any]]) -> Path:
    """Struct array ``examples``; missing fields get those of a plain example."""
    coords = np.full((2, 29), np.nan)
    coords[:, [0, 1, 2, 3, 16]] = [[101, 111, 121, 61, 81], [51, 81, 111, 51, 31]]
    plain = {
        "poselet_hit_idx": np.arange(3), "moviename": "film-a", "coords": coords, "filepath": "film-a-00001.jpg",
        "imgdims": np.array([480, 720, 3]), "currframe": 1, "torsobox": np.array([51.0, 41, 111, 141]), "istrain": 1, "istest": 0,
    }  # fmt: skip
    io.savemat(path, {"examples": struct_array([{**plain, **example} for example in examples])})
    return path


def bbc_file(path: Path, videos: Sequence[Mapping[str, Any]], *, variable: str = "shortbbcpose") -> Path:
    """Struct array; the order of fields is that of the mappings."""
    io.savemat(path, {variable: struct_array(videos)})
    return path


def lsp_file(path: Path, joints: np.ndarray) -> Path:
    io.savemat(path, {"joints": joints})
    return path
