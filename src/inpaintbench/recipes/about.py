"""Words of each recipe about its benchmarks, apart from what builds them: importing it imports nothing that builds."""

from __future__ import annotations

from inpaintbench.benchmarks import Benchmark, Paper

DEVIL = Benchmark(
    use="Finding out which content a method for video inpainting fails on: each slice fixes one attribute of clip or hole.",
    limits=(
        "Camera motion is estimated from the pictures. Large moving things and water can be taken for a moving camera, and"
        " zooming in loses less of the view than turning.",
        "Low and high are ranks among the clips of this dataset: a low clip here need not be low elsewhere. Clips between them"
        " are in no slice of that attribute.",
        "Background scene motion is labelled, not measured: clips that nobody labelled are in no slice of it.",
    ),
    paper=Paper(
        "devil",
        "inproceedings",
        "The DEVIL is in the Details: A Diagnostic Evaluation Benchmark for Video Inpainting",
        {
            "author": "Ryan Szeto and Jason J. Corso",
            "booktitle": "CVPR",
            "year": "2022",
            "note": "Open Access version, provided by the Computer Vision Foundation",
            "url": "https://github.com/MichiganCOG/devil",
        },
    ),
    generated={"embedded": "made by a virtual camera over pictures, and by drawing water"},
)
REMOVAL = Benchmark(
    use="Finding out what is left of an object that was removed: of itself, of its shadow, of its reflection, of its light.",
    limits=(
        "Rendered scenes are photographs with one thing pasted into them, whose shadow, reflection and light follow simple laws:"
        " a method that does well on them need not do so on real footage.",
        "What an object changes in two films of a real place is derived from their difference; what is fainter than the light"
        " between the two films is missed.",
    ),
    protocol="removal/paired",
    unpaired_protocol="removal/unpaired",
    whole_frames=True,
    generated={"rendered_removal": "photographs filmed by a virtual camera, with a thing pasted into them"},
)
BENCHMARK = Benchmark(
    use="Comparing methods for video inpainting by the numbers that papers print.",
    limits=(
        "Where masks are of objects that the clips show, the truth still shows them: whoever puts an object back scores best."
        " For removing it see the recipe `removal`.",
        "Numbers compare with printed ones as far as clips and masks are the same; the warping error never does, since its"
        " flow is another.",
        "On the whole frame most pixels are those of the truth: small holes give high scores to every method.",
    ),
    protocol="e2fgvi",
    generated={"embedded_benchmark": "photographs filmed by a virtual camera, with silhouettes as masks"},
)
