"""Agreement of metrics with people, as `eval align` left it in a run folder, beside the values of each metric."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from inpaintbench.eval.alignment.bootstrap import Estimate, rate_words
from inpaintbench.eval.report.labels import quantity_label
from inpaintbench.eval.report.quantity import Quantity
from inpaintbench.pages.words import count

# Below a run folder.
FOLDER = Path("alignment")
_FILE = "alignment.json"


class Agreement:
    """What an alignment says of the scores of one fingerprint.

    Args:
        dimensions: those of ``alignment.json``; none where nobody has compared these scores with people's answers.
    """

    def __init__(self, dimensions: Sequence[Mapping[str, Any]] = ()) -> None:
        self._dimensions = dimensions

    @classmethod
    def of_run(cls, run: Path, fingerprint: str) -> Agreement:
        """The alignment in a run folder, where it is of scores with this fingerprint."""
        try:
            found = json.loads((run / FOLDER / _FILE).read_bytes())
            return cls(found["dimensions"]) if found.get("fingerprint") == fingerprint else cls()
        except (OSError, ValueError, KeyError, AttributeError):
            return cls()

    def sentences(self, quantity: Quantity) -> list[str]:
        """One for each question that people answered; of a model's answers one in any case."""
        said = [
            sentence
            for of in self._dimensions
            for line in of["metrics"]
            if line["metric"] == "/".join(quantity)
            for sentence in [_sentence(quantity, of, line)]
        ]
        if not said and quantity.metric == "judge":
            return [
                "These are answers of a model. How often they agree with people's is not known here: "
                "`inpaintbench eval align DATASET ANSWERS.csv --run RUN` tells it from votes, and the next report shows it."
            ]
        return said


def _sentence(quantity: Quantity, of: Mapping[str, Any], line: Mapping[str, Any]) -> str:
    rate = Estimate(**line["rate"])
    ceiling = of.get("ceiling")
    others = Estimate(**ceiling["rater_against_others"]) if ceiling else None
    beside = f"; a rater agrees with the others in {rate_words(others)}" if others and others.value is not None else ""
    few = f" ({rate.few})" if rate.few else ""
    return (
        f"{quantity_label(quantity)} agrees with people in {rate_words(rate)} of {count(rate.n, 'answer')} to “{of['name']}”"
        f"{few}{beside}."
    )
