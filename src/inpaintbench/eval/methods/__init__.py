"""Methods: each fills the holes of one clip and sees nothing but the corrupted input."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inpaintbench.catalogue import Catalogue

if TYPE_CHECKING:
    from inpaintbench.eval.methods.base import Method

METHODS: Catalogue[type[Method]] = Catalogue(
    "method",
    {
        "blank": "inpaintbench.eval.methods.blank:Blank",
        "telea": "inpaintbench.eval.methods.telea:Telea",
        "navier_stokes": "inpaintbench.eval.methods.navier_stokes:NavierStokes",
        "biharmonic": "inpaintbench.eval.methods.biharmonic:Biharmonic",
        "exemplar": "inpaintbench.eval.methods.exemplar:Exemplar",
        "temporal_median": "inpaintbench.eval.methods.temporal_median:TemporalMedian",
        "affine_propagation": "inpaintbench.eval.methods.affine_propagation:AffinePropagation",
        "gaussian": "inpaintbench.eval.methods.gaussian:Gaussian",
        "median": "inpaintbench.eval.methods.median:Median",
        "lama": "inpaintbench.eval.methods.lama:Lama",
        "stable_diffusion": "inpaintbench.eval.methods.stable_diffusion:StableDiffusion",
        "edit_recolour": "inpaintbench.eval.methods.edit_recolour:EditRecolour",
        "edit_style": "inpaintbench.eval.methods.edit_style:EditStyle",
        "edit_shift": "inpaintbench.eval.methods.edit_shift:EditShift",
        "edit_flicker": "inpaintbench.eval.methods.edit_flicker:EditFlicker",
        "saved_folder": "inpaintbench.eval.methods.saved_folder:SavedFolder",
        "python_callable": "inpaintbench.eval.methods.python_callable:PythonCallable",
        "command": "inpaintbench.eval.methods.command:Command",
        "http_endpoint": "inpaintbench.eval.methods.http_endpoint:HttpEndpoint",
    },
    base="inpaintbench.eval.methods.base:Method",
)
