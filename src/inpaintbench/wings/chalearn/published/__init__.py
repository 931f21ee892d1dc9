"""Result tables that others published, as data, digit for digit."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from typing import Any

from pydantic import BaseModel

from inpaintbench.catalogue import known_name, unknown_name
from inpaintbench.errors import UnknownNameError
from inpaintbench.eval.comparing.ranking import Column, MeanPlaces, Standing, standings, standings_of_places
from inpaintbench.eval.metrics import METRICS

_FILE, _PAPERS = "chalearn.toml", "papers.toml"
# Tables that say how metrics agree with people: there more is better whatever the metric.
_OF_PEOPLE = {"editboard": (2, 3)}
_HIGHER_IS_BETTER = {"psnr": True, "ssim": True, "mse": False, "dssim": False, "wnjd": False}


class PrintedRow(BaseModel, frozen=True):
    """One participant."""

    name: str
    values: tuple[str, ...]
    """Values as printed, one for each metric."""
    places: tuple[int, ...] | None = None
    """The ranks in brackets; None where none are printed."""
    mean_place: str | None = None


class PrintedTable(BaseModel, frozen=True):
    """One table of results."""

    number: int
    ours: str
    """What is measured here in the same way."""
    title: str
    source: str
    metrics: tuple[str, ...]
    """Names of our metrics for what is in the columns; of the same metric once a picture in a table of pictures."""
    labels: tuple[str, ...]
    """Heads of the columns as printed."""
    ranked_upwards: tuple[str, ...] = ()
    """Metrics of which less is better but the print ranks the most first."""
    mean_places: MeanPlaces = "rounded"
    rows: tuple[PrintedRow, ...]
    """Rows in the order of the print."""
    notes: tuple[str, ...]
    """Notes on what does not fit together."""

    def columns(self, *, as_printed: bool) -> list[Column]:
        """The columns with their directions: those of the metrics, or those that the print ranks by."""
        return [
            Column(label, _HIGHER_IS_BETTER[metric] or (as_printed and metric in self.ranked_upwards))
            for label, metric in zip(self.labels, self.metrics, strict=True)
        ]

    def from_values(self, *, as_printed: bool) -> list[Standing]:
        """Standings made from the printed values, which may tie where more digits would not."""
        values = {row.name: [float(value) for value in row.values] for row in self.rows}
        return standings(self.columns(as_printed=as_printed), values)

    def from_places(self) -> list[Standing]:
        """Standings made from the printed ranks; of rows that have any."""
        places = {row.name: row.places for row in self.rows if row.places is not None}
        return standings_of_places(self.columns(as_printed=True), places)

    def readings(self) -> list[tuple[str, list[Column], list[Standing]]]:
        """Ways to order the rows, in words, with the columns and standings of each: as printed, and from the printed values."""
        printed, corrected = self.columns(as_printed=True), self.columns(as_printed=False)
        readings = [("ranks as printed", printed, self.from_places())] if self.rows[0].places else []
        if printed != corrected:
            readings.append(("ranked from the values, in the printed direction", printed, self.from_values(as_printed=True)))
        return [*readings, ("ranked from the values", corrected, self.from_values(as_printed=False))]

    def plain(self) -> dict[str, object]:
        """Every reading, for scripts."""
        printed = {row.name: row.values for row in self.rows}
        readings = [
            {
                "how": how, "metrics": [column._asdict() for column in columns],
                "methods": [one.plain(columns, printed[one.method]) for one in placed],
            }
            for how, columns, placed in self.readings()
        ]  # fmt: skip
        return {"table": self.number, "title": self.title, "ours": self.ours, "readings": readings, "notes": self.notes}


class PaperTable(BaseModel, frozen=True):
    """One table of a paper that orders nobody."""

    paper: str
    source: str
    number: int
    ours: str
    """What is measured here in the same way."""
    part: str = ""
    """Part of the table, such as a task; empty where it is whole."""
    title: str
    columns: tuple[str, ...]
    """Names of our metrics where a column is of one; others end with an arrow where more or less is better."""
    rows: Mapping[str, tuple[str, ...]]
    """Name -> values as printed, one for each column."""
    notes: tuple[str, ...]

    @property
    def heads(self) -> tuple[str, ...]:
        """The columns; those of agreement with people say nothing of the metric's own direction."""
        if self.number in _OF_PEOPLE.get(self.paper, ()):
            return self.columns
        ways = {True: " ↑", False: " ↓"}
        return tuple(name + (ways[METRICS.get(name).higher_is_better] if name in METRICS else "") for name in self.columns)


def paper_tables(paper: str) -> list[PaperTable]:
    """The tables that are kept of a paper, in the order of the print: ``editboard`` (1 to 3) or ``reinpaint`` (4 and 5).

    Raises:
        UnknownNameError: none is kept of it.
    """
    tables = [PaperTable(**entry) for entry in _data(_PAPERS)["tables"]]
    known_name("paper", paper, tuple(dict.fromkeys(table.paper for table in tables)))
    return [table for table in tables if table.paper == paper]


def chalearn_tables() -> dict[int, PrintedTable]:
    """Number -> table of the ChaLearn LAP inpainting and denoising challenges (WCCI and ECCV 2018): 3, 4, 8, 9, 10 and 11."""
    data = _data(_FILE)
    return {entry["number"]: PrintedTable(source=data["source"], **entry) for entry in data["tables"]}


def chalearn_table(number: int) -> PrintedTable:
    """One of ``chalearn_tables``.

    Raises:
        UnknownNameError: no table of that number is kept.
    """
    tables = chalearn_tables()
    if number not in tables:
        raise UnknownNameError(unknown_name("table of the challenge", str(number), [str(one) for one in tables]))
    return tables[number]


def chalearn_joints() -> dict[str, dict[str, float]]:
    """Participant -> joint with its side -> mean WNJD (the challenge's Table 7, track 1, test)."""
    joints = _data(_FILE)["joints"]
    return {name: dict(zip(joints["names"], map(float, row), strict=True)) for name, row in joints["rows"].items()}


@lru_cache(maxsize=2)
def _data(file: str) -> dict[str, Any]:
    return tomllib.loads(resources.files(__package__).joinpath(file).read_text(encoding="utf-8"))
