"""Methods: each fills the holes of one clip and sees nothing but the corrupted input."""

from inpaintbench.catalogue import Catalogue

METHODS = Catalogue(
    "method",
    {
        "blank": "inpaintbench.eval.methods.blank:Blank",
        "telea": "inpaintbench.eval.methods.telea:Telea",
        "navier_stokes": "inpaintbench.eval.methods.navier_stokes:NavierStokes",
        "temporal_median": "inpaintbench.eval.methods.temporal_median:TemporalMedian",
        "affine_propagation": "inpaintbench.eval.methods.affine_propagation:AffinePropagation",
        "gaussian": "inpaintbench.eval.methods.gaussian:Gaussian",
        "median": "inpaintbench.eval.methods.median:Median",
        "oriented_gabor": "inpaintbench.eval.methods.oriented_gabor:OrientedGabor",
        "saved_folder": "inpaintbench.eval.methods.saved_folder:SavedFolder",
        "command": "inpaintbench.eval.methods.command:Command",
    },
)
