"""Agreement of metrics with people, as `eval align` left it in a run folder, beside the values of each metric."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from inpaintbench.eval.results.quantity import Quantity, metric_leaf, quantity_label
from inpaintbench.eval.results.tables import Results
from inpaintbench.pages.words import count
from inpaintbench.types import Score, SliceScore
from inpaintbench.wings.align.bootstrap import Estimate, rate_words
from inpaintbench.wings.align.reading import digests, measure_name, values_of

# Below a run folder.
FOLDER = Path("alignment")
_FILE = "alignment.json"
Digests = Mapping[str, Mapping[str, str]]


class Agreement:
    """What an alignment says of the scores of one fingerprint.

    Args:
        dimensions: those of ``alignment.json``; none where nobody has compared these scores with people's answers.
        compared: metric -> method -> hash of the values that were compared.
        values: metric -> method -> hash of the values that are shown.
    """

    def __init__(
        self, dimensions: Sequence[Mapping[str, Any]] = (), compared: Digests | None = None, values: Digests | None = None
    ) -> None:
        self._dimensions, self._compared, self._values = dimensions, compared or {}, values or {}

    @classmethod
    def of_run(
        cls, run: Path, fingerprint: str, scores: Sequence[Score] = (), *, compared: Iterable[SliceScore] = ()
    ) -> Agreement:
        """The alignment in a run folder, where it is of scores with this fingerprint.

        Args:
            run: the folder.
            fingerprint: of the scores.
            scores: that are shown.
            compared: of the metrics that compare sets of items.
        """
        try:
            found = json.loads((run / FOLDER / _FILE).read_bytes())
            if found.get("fingerprint") != fingerprint:
                return cls()
            values, _ = values_of(scores, compared=compared)
            return cls(found["dimensions"], found.get("digests", {}), {name: digests(of) for name, of in values.items()})
        except (OSError, ValueError, KeyError, AttributeError):
            return cls()

    def sentences(self, quantity: Quantity) -> list[str]:
        """One for each question that people answered, or one where values have changed since; of a judge one in any case."""
        name = measure_name(*quantity)
        was = self._compared.get(name, {})
        if was and any(self._values.get(name, {}).get(method) != digest for method, digest in was.items()):
            return [
                "These are not the values that were compared with people's answers, but another judge's, or of other "
                "predictions or items. `inpaintbench eval align DATASET ANSWERS.csv --run RUN` compares these."
            ]
        said = []
        for of in self._dimensions if was else ():
            for line in of["metrics"]:
                if line["metric"] != name:
                    continue
                rate, ceiling = Estimate(**line["rate"]), of.get("ceiling")
                others = Estimate(**ceiling["rater_against_others"]) if ceiling else None
                beside = (
                    f"; a rater agrees with the others in {rate_words(others)}" if others and others.value is not None else ""
                )
                few = f" ({rate.few})" if rate.few else ""
                answers = f"{rate_words(rate)} of {count(rate.n, 'answer')} to “{of['name']}”"
                said.append(f"{quantity_label(quantity)} agrees with people in {answers}{few}{beside}.")
        if not said and metric_leaf(quantity.metric).by_judge:
            return [
                "These are answers of a model. How often they agree with people's is not known here: "
                "`inpaintbench eval align DATASET ANSWERS.csv --run RUN` tells it from votes, and the next report shows it."
            ]
        return said


def of_results(results: Results) -> Callable[[Quantity], list[str]]:
    """What an alignment in the run folder says of each quantity of results."""
    if not results.run:
        return Agreement().sentences
    return Agreement.of_run(results.run, results.fingerprint, results.scores, compared=results.slice_scores).sentences
