"""Labels of blobs, which their presets promise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa

from inpaintbench.executors.base import Outcome
from inpaintbench.lazily import lazily
from inpaintbench.masks import render
from inpaintbench.masks.blob_motion import PRESETS
from inpaintbench.masks.measure import labels_of
from inpaintbench.tables import flat, last_places, schema_of
from inpaintbench.types import Attribute

pc = lazily("pyarrow.compute")


def promised_levels(corruptions: Outcome, measured: Outcome) -> Iterator[pa.Table]:
    """The labels that each mask's preset promises, and which of them its measurements do not confirm: rows of ``Attribute``."""
    yield schema_of(Attribute).empty_table()
    ids = flat(corruptions.columns("corruption_id")["corruption_id"])
    known = pa.array(sorted(PRESETS), pa.string())
    asked = (flat(rows["parameters"]) for rows in corruptions.batches("parameters"))
    named = (pc.struct_field(pc.extract_regex(given, r'"preset":"(?P<preset>[^"]*)"'), "preset") for given in asked)
    presets = pa.chunked_array([pc.index_in(some, value_set=known) for some in named], pa.int32()).combine_chunks()
    labels = [labels_of(preset) for preset in known.to_pylist()]
    names, doubts = list(labels[0]), np.zeros(len(ids), np.int8)
    promised = {name: pa.array([own[name] for own in labels]) for name in names}
    for bit, name in enumerate(names):
        rows = measured.columns("subject_id", "value_text", where=("name", [f"{name}_level_measured"]))
        places = last_places(flat(rows["subject_id"]), ids)
        values = flat(rows["value_text"]).take(pa.array(places, mask=places < 0))
        agrees = pc.fill_null(pc.equal(values, promised[name].take(presets)), False).to_numpy(zero_copy_only=False)
        doubts |= (~agrees).astype(np.int8) << bit
        del rows, places, values, agrees
    chosen = ([f"{name}_level" for bit, name in enumerate(names) if code >> bit & 1] for code in range(1 << len(names)))
    told = pa.array([", ".join(some) or "none" for some in chosen])
    for begin in range(0, len(ids), 1 << 16):
        own, own_presets = ids.slice(begin, 1 << 16), presets.slice(begin, 1 << 16)
        columns = {"preset": known.take(own_presets)}
        columns |= {f"{name}_level": values.take(own_presets) for name, values in promised.items()}
        columns["label_doubts"] = told.take(pa.array(doubts[begin : begin + len(own)]))
        yield _facts(own, columns)


def _facts(subjects: pa.Array, columns: Mapping[str, pa.Array]) -> pa.Table:
    """Rows of ``Attribute``: of one subject after the other all ``columns``, which are texts that presets promise."""
    count, turns = len(subjects), np.arange(len(subjects) * len(columns)).reshape(len(columns), -1).T.ravel()
    nothing, text = pa.nulls(len(turns)), pa.string()
    facts = pa.array(list(columns)).take(pa.array(np.tile(np.arange(len(columns)), count)))
    values = pa.chunked_array(list(columns.values()), text).combine_chunks().take(pa.array(turns))
    repeated = subjects.take(pa.array(np.repeat(np.arange(count), len(columns))))
    version = pa.repeat(render.VERSION, len(turns))
    cells = [repeated, facts, nothing.cast(pa.float64()), values, nothing.cast(text), pa.repeat("preset", len(turns)), version,
             nothing.cast(text)]  # fmt: skip
    return pa.Table.from_arrays(cells, schema=schema_of(Attribute))
