"""Diagnostic benchmarks for inpainting, video decaptioning, fingerprint denoising and video editing.

``import inpaintbench as ib`` costs nothing: ``ib.load``, ``ib.run``, ``ib.compare``, ``ib.report`` and ``ib.metrics`` are
imported when one of them is first asked for, and PyTorch by metrics and methods that need it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inpaintbench.api.comparing import Plot, Versus, WrittenReport, compare, report
    from inpaintbench.api.runs import LoadedDataset, LoadedItem, LoadedSlice, Run, load, run
    from inpaintbench.eval.scoring.score_arrays import ArrayMetric, OverBatches, metrics

__version__ = "0.3.0"

__all__ = [
    "ArrayMetric", "LoadedDataset", "LoadedItem", "LoadedSlice", "OverBatches", "Plot", "Run", "Versus", "WrittenReport",
    "compare", "load", "metrics", "report", "run",
]  # fmt: skip

if not TYPE_CHECKING:  # a checker would take every name for one that is there
    _AT = {
        "inpaintbench.api.runs": ("LoadedDataset", "LoadedItem", "LoadedSlice", "Run", "load", "run"),
        "inpaintbench.api.comparing": ("Plot", "Versus", "WrittenReport", "compare", "report"),
        "inpaintbench.eval.scoring.score_arrays": ("ArrayMetric", "OverBatches", "metrics"),
    }

    def __getattr__(name: str) -> object:
        """A name of ``__all__``, kept once it is imported (PEP 562)."""
        import importlib

        for module, names in _AT.items():
            if name in names:
                globals()[name] = found = getattr(importlib.import_module(module), name)
                return found
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
