"""Arguments and options that several `eval` commands share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, get_args

from inpaintbench.cli import completing
from inpaintbench.cli.method_options import label_of
from inpaintbench.cli.options import argument, bundle, option
from inpaintbench.cli.words import check_name
from inpaintbench.compute import Compute, Device, Precision
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.protocols import PROTOCOLS


def dataset_argument(default: str | None = None) -> Any:
    """The metadata of the argument that is a dataset; ``default`` says when none is needed."""
    words = "A frozen dataset: the folder with dataset.json, or OWNER/NAME[@REVISION] of the Hub."
    return argument(words, default=default, parser=completing.dataset, metavar="DATASET")


InDataset = Annotated[Path, dataset_argument()]
Run = Annotated[Path, option("Folder for predictions, scores and report.")]
Scored = Annotated[Path, option("Folder with the scores.")]
ProtocolName = Annotated[
    str | None,
    option(
        "Its metrics and constants count; `eval list protocols` names them.", default="the corrected one of the benchmark",
        among=PROTOCOLS, metavar="NAME",
    ),
]  # fmt: skip
SomeMetrics = Annotated[
    list[str] | None,
    option(
        "Only this one (`eval list metrics` names them); may be given again.", default="all of the protocol", among=METRICS,
        metavar="NAME",
    ),
]  # fmt: skip
SomeSlices = Annotated[
    list[str] | None,
    option(
        "Only items of this slice, or of a split (split-test); may be given again.", "--slice", default="all items",
        metavar="NAME", autocompletion=completing.slices,
    ),
]  # fmt: skip
Label = Annotated[str, argument("A method's label.", metavar="A", parser=label_of, autocompletion=completing.labels)]
RandomWeights = Annotated[
    int | None, option("Made-up parameters for networks, to try things out; no report takes such scores.", metavar="SEED")
]


@dataclass(frozen=True)
class Networks:
    """How the networks of metrics run."""

    device: Annotated[str, option(f"Where networks run: {', '.join(get_args(Device))}.", among=get_args(Device))] = "auto"
    precision: Annotated[str, option(f"Of networks: {', '.join(get_args(Precision))}.", among=get_args(Precision))] = "fp32"
    random_weights: RandomWeights = None

    @property
    def compute(self) -> Compute:
        """The same, checked.

        Raises:
            UnknownNameError: no such device or precision.
        """
        check_name("device", self.device, get_args(Device))
        check_name("precision", self.precision, get_args(Precision))
        return Compute(device=self.device, precision=self.precision, random_weights=self.random_weights)  # type: ignore[arg-type]


OfNetworks = Annotated[Networks, bundle(Networks)]
