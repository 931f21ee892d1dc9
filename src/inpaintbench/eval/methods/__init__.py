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
        "decaption_median": "inpaintbench.eval.methods.decaption_median:DecaptionMedian",
        "gaussian": "inpaintbench.eval.methods.gaussian:Gaussian",
        "median": "inpaintbench.eval.methods.median:Median",
        "oriented_gabor": "inpaintbench.eval.methods.oriented_gabor:OrientedGabor",
        "frame_autoencoder": "inpaintbench.eval.methods.frame_autoencoder:FrameAutoencoder",
        "patch_autoencoder": "inpaintbench.eval.methods.patch_autoencoder:PatchAutoencoder",
        "residual_encoder": "inpaintbench.eval.methods.residual_encoder:ResidualEncoder",
        "context_encoder": "inpaintbench.eval.methods.context_encoder:ContextEncoder",
        "semantic_inpainting": "inpaintbench.eval.methods.semantic_inpainting:SemanticInpainting",
        "neural_patches": "inpaintbench.eval.methods.neural_patches:NeuralPatches",
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
