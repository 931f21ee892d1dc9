"""Scores as a list of records, and as a table of pandas: alone, or beside what is known of their items."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from inpaintbench import frozen
from inpaintbench.types import Dataset

if TYPE_CHECKING:
    import pandas as pd

RecordT = TypeVar("RecordT")


class Scores(list[RecordT]):
    """Scores in the order in which they were measured: ``ItemScore`` of arrays and folders, ``Score`` of a run folder."""

    def to_pandas(self, dataset: Dataset | None = None) -> pd.DataFrame:
        """Return a table with a row for each score and a column for each of its fields.

        A missing value is NaN, and ``reason`` says why it is missing.

        Args:
            dataset: that the scores are on; with it every row has the ``source`` of its item by which means cluster, its
                ``source_id`` (the file), its slices (names, with ``;`` between) and ``attribute.NAME`` for each attribute that is
                a number or a word.
        """
        import pandas as pd  # takes half a second, and most commands make no table

        table = pd.DataFrame(list(self))
        if "value" in table:
            table = table.astype({"value": "float64"})  # of objects where all are missing
        if dataset is None or table.empty:
            return table
        items = pd.DataFrame(list(_items(dataset, set(table["item_id"]))))
        return table.merge(items, on="item_id", how="left", validate="many_to_one")


def _items(dataset: Dataset, wanted: Collection[str]) -> Iterator[dict[str, Any]]:
    slices: dict[str, list[str]] = {}
    for part in dataset.slices:
        for item_id in part.item_ids:
            slices.setdefault(item_id, []).append(part.name)
    for row in dataset.items:
        if row["item_id"] in wanted:
            named = ";".join(slices.get(row["item_id"], ()))
            facts = {"source": frozen.source_of(row), "source_id": row["source_id"], "slices": named}
            attributes = {
                f"attribute.{name}": value
                for name, value in row.get("attributes", {}).items()
                if value is None or isinstance(value, str | int | float)
            }
            yield {"item_id": row["item_id"], **facts, **attributes}
