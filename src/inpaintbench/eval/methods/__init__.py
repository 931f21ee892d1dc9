"""Methods: each fills the holes of one clip and sees nothing but the corrupted input."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inpaintbench.catalogue import Catalogue

if TYPE_CHECKING:
    from inpaintbench.eval.methods.base import Method

METHODS: Catalogue[type[Method]] = Catalogue(
    "method",
    {
        "blank": "inpaintbench.eval.methods.each_frame:Blank",
        "telea": "inpaintbench.eval.methods.each_frame:Telea",
        "navier_stokes": "inpaintbench.eval.methods.each_frame:NavierStokes",
        "biharmonic": "inpaintbench.eval.methods.each_frame:Biharmonic",
        "exemplar": "inpaintbench.eval.methods.each_frame:Exemplar",
        "temporal_median": "inpaintbench.eval.methods.borrowing:TemporalMedian",
        "affine_propagation": "inpaintbench.eval.methods.borrowing:AffinePropagation",
        "gaussian": "inpaintbench.eval.methods.each_frame:Gaussian",
        "median": "inpaintbench.eval.methods.each_frame:Median",
        "lama": "inpaintbench.eval.methods.networks:Lama",
        "stable_diffusion": "inpaintbench.eval.methods.networks:StableDiffusion",
        "edit_recolour": "inpaintbench.eval.methods.edits:EditRecolour",
        "edit_style": "inpaintbench.eval.methods.edits:EditStyle",
        "edit_shift": "inpaintbench.eval.methods.edits:EditShift",
        "edit_flicker": "inpaintbench.eval.methods.edits:EditFlicker",
        "saved_folder": "inpaintbench.eval.methods.brought:SavedFolder",
        "python_callable": "inpaintbench.eval.methods.brought:PythonCallable",
        "command": "inpaintbench.eval.methods.command:Command",
        "http_endpoint": "inpaintbench.eval.methods.brought:HttpEndpoint",
    },
    base="inpaintbench.eval.methods.base:Method",
)
