"""Blocks as JSON: round trip, the challenge's layout, and whatever else a file may hold."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inpaintbench.errors import InputError
from inpaintbench.masks.generators.given import hole_of, read_blocks

blocks = st.lists(st.tuples(st.integers(0, 999), st.integers(0, 999), st.integers(1, 300)), max_size=10)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)
ordinary = {"a.png": [[12, 345, 67]], "b.png": []}


def read(text: str | bytes) -> dict[str, list[tuple[int, int, int]]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "maskdata.json"
        path.write_bytes(text if isinstance(text, bytes) else text.encode(errors="surrogatepass"))
        return read_blocks(path)


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(st.text(max_size=8), blocks, max_size=4))
def test_every_file_has_its_blocks_in_their_order(written: dict[str, list[tuple[int, int, int]]]) -> None:
    assert read(json.dumps(written)) == written


def test_a_byte_order_mark_does_no_harm() -> None:
    assert read(json.dumps(ordinary).encode("utf-8-sig")) == {"a.png": [(12, 345, 67)], "b.png": []}


def test_the_first_number_is_the_row() -> None:
    hole = hole_of([(2, 5, 3)], 6, 9)
    assert hole.shape == (1, 6, 9)
    assert {tuple(map(int, where)) for where in np.argwhere(hole[0])} == {(r, c) for r in (2, 3, 4) for c in (5, 6, 7)}
    assert not hole_of([], 4, 4).any()


@pytest.mark.parametrize("block", [(4, 5, 3), (2, 7, 3), (5, 2, 3), (0, 0, 10)])
def test_blocks_outside_the_image_are_errors(block: tuple[int, int, int]) -> None:
    with pytest.raises(InputError, match=r"reaches outside the image of 9x6.*rows first"):
        hole_of([block], 6, 9)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not readable as JSON"),
        ("{", "not readable as JSON"),
        ("[]", "but blocks come as"),
        ("null", "but blocks come as"),
        (b"\xff\xfe\x00", "not readable as JSON"),
        ("[" * 100_000, "not readable as JSON"),
        ('{"a": [[1, 2, %s]]}' % ("9" * 5000), "not readable as JSON"),
        ('{"a": [], "a": []}', "'a' is in it twice"),
        ('{"a": {}}', r"'a' has \{\}"),
        ('{"a": [[1, 2]]}', r"'a' has the block \[1, 2\]"),
        ('{"a": [[1, 2, 3.5]]}', "three whole numbers"),
        ('{"a": [[1, 2, 3.0]]}', "three whole numbers"),
        ('{"a": [[true, 2, 3]]}', "three whole numbers"),
        ('{"a": [[NaN, 2, 3]]}', "three whole numbers"),
        ('{"a": [["1", 2, 3]]}', "three whole numbers"),
        ('{"a": [[-1, 2, 3]]}', "count from 0"),
        ('{"a": [[1, 2, 0]]}', "a size from 1"),
    ],
)
def test_other_files_are_errors(text: str | bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(text)


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.json cannot be read"):
        read_blocks(tmp_path / "nowhere.json")


@settings(max_examples=120, deadline=None)
@given(anything.map(json.dumps) | st.binary(max_size=40) | st.text(max_size=40))
def test_a_file_gives_blocks_or_an_input_error(text: str | bytes) -> None:
    try:
        found = read(text)
    except InputError:
        return
    assert all(row >= 0 and column >= 0 and size >= 1 for of_file in found.values() for row, column, size in of_file)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.text(max_size=3), anything, max_size=3))
def test_likely_looking_json_gives_blocks_or_an_input_error(data: dict[str, object]) -> None:
    try:
        assert set(read(json.dumps(data))) == set(data)
    except InputError:
        return
