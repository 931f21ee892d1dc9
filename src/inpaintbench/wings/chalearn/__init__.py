"""ChaLearn LAP inpainting (2018): people with hidden joints, subtitles to be removed, fingerprints, and baselines to train."""

from __future__ import annotations

from collections.abc import Mapping

JOINS: Mapping[str, Mapping[str, str]] = {
    "source": {
        "fingerprints": "inpaintbench.wings.chalearn.fingerprints.source:FingerprintSource",
        "people": "inpaintbench.wings.chalearn.annotated_people.source:PeopleSource",
    },
    "mask generator": {
        "joint_blocks": "inpaintbench.wings.chalearn.joint_blocks:JointBlocks",
        "fingerprint_degradation": "inpaintbench.wings.chalearn.degradations.generator:FingerprintDegradation",
    },
    "method": {
        "decaption_median": "inpaintbench.wings.chalearn.methods.decaption_median:DecaptionMedian",
        "oriented_gabor": "inpaintbench.wings.chalearn.methods.oriented_gabor:OrientedGabor",
        "frame_autoencoder": "inpaintbench.wings.chalearn.methods.trained:FrameAutoencoder",
        "patch_autoencoder": "inpaintbench.wings.chalearn.methods.trained:PatchAutoencoder",
        "residual_encoder": "inpaintbench.wings.chalearn.methods.trained:ResidualEncoder",
        "context_encoder": "inpaintbench.wings.chalearn.methods.trained:ContextEncoder",
        "semantic_inpainting": "inpaintbench.wings.chalearn.methods.trained:SemanticInpainting",
        "neural_patches": "inpaintbench.wings.chalearn.methods.neural_patches:NeuralPatches",
    },
    "metric": {
        "wnjd": "inpaintbench.wings.chalearn.metrics.wnjd:Wnjd",
        "residual_text": "inpaintbench.wings.chalearn.metrics.residual_text:ResidualText",
        "minutiae": "inpaintbench.wings.chalearn.metrics.minutiae:Minutiae",
        "minutiae_precision": "inpaintbench.wings.chalearn.metrics.minutiae:MinutiaePrecision",
        "minutiae_recall": "inpaintbench.wings.chalearn.metrics.minutiae:MinutiaeRecall",
        "orientation_rmsd": "inpaintbench.wings.chalearn.metrics.ridges:OrientationRmsd",
        "ridge_frequency_error": "inpaintbench.wings.chalearn.metrics.ridges:RidgeFrequencyError",
    },
    "protocol": {
        "humans/as-published": "inpaintbench.wings.chalearn:protocols.toml",
        "humans/corrected": "inpaintbench.wings.chalearn:protocols.toml",
        "decaption/as-published": "inpaintbench.wings.chalearn:protocols.toml",
        "decaption/corrected": "inpaintbench.wings.chalearn:protocols.toml",
        "decaption/text": "inpaintbench.wings.chalearn:protocols.toml",
        "fingerprint/as-published": "inpaintbench.wings.chalearn:protocols.toml",
        "fingerprint/corrected": "inpaintbench.wings.chalearn:protocols.toml",
        "fingerprint/ridges": "inpaintbench.wings.chalearn:protocols.toml",
        "judge/decaption": "inpaintbench.wings.chalearn:protocols.toml",
    },
    "layout": {
        "chalearn": "inpaintbench.wings.chalearn.layout:Chalearn",
    },
    "command of eval": {
        "train": "inpaintbench.wings.chalearn.commands:train",
        "table --for ranks": "inpaintbench.wings.chalearn.commands:rank",
    },
    "former command of eval": {"rank": "eval table --for ranks"},
    "recipe": {
        "humans": "inpaintbench.wings.chalearn.humans:HumansRecipe",
        "decaption": "inpaintbench.wings.chalearn.decaption:DecaptionRecipe",
        "fingerprint": "inpaintbench.wings.chalearn.fingerprint:FingerprintRecipe",
    },
    "benchmark": {
        "humans": "inpaintbench.wings.chalearn:about.toml",
        "decaption": "inpaintbench.wings.chalearn:about.toml",
        "fingerprint": "inpaintbench.wings.chalearn:about.toml",
    },
    "command of build": {
        "humans": "inpaintbench.wings.chalearn.commands:build_humans",
        "decaption": "inpaintbench.wings.chalearn.commands:build_decaption",
        "fingerprint": "inpaintbench.wings.chalearn.commands:build_fingerprint",
    },
    "kind of leaf": {
        "pose reader": "inpaintbench.wings.chalearn.annotated_people:POSE_READERS",
        "pose estimator": "inpaintbench.wings.chalearn.poses:POSES",
    },
    "contract": {
        "pose reader": "inpaintbench.wings.chalearn.annotated_people.contract:CHECKS",
        "pose estimator": "inpaintbench.wings.chalearn.contract:CHECKS",
    },
    "identity of a choice": {"pose": "inpaintbench.wings.chalearn.poses:identity"},
    "drawn footage": {"fingerprints": "inpaintbench.wings.chalearn:about.toml"},
    "protocol of whole frames": {"usual": "fingerprint/corrected"},
    "look of a method": {
        "decaption_median": "7 2",
        "frame_autoencoder": "5 0",
        "patch_autoencoder": "6 3",
        "residual_encoder": "7 4",
        "context_encoder": "4 0",
        "semantic_inpainting": "6 2",
        "neural_patches": "0 5",
        "oriented_gabor": "3 5",
    },
    "questions of a judge": {"decaption": "inpaintbench.wings.chalearn:questions.toml"},
    "backdrop": {
        "print": "inpaintbench.wings.chalearn.fingerprints.source:PRINTS",
        "undistorted": "inpaintbench.wings.chalearn.fingerprints.source:PRINTS",
    },
}
