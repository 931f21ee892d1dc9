"""Words of each recipe about its benchmarks, apart from what builds them: importing it imports nothing that builds."""

from __future__ import annotations

from inpaintbench.benchmarks import Benchmark, Paper

# Of the challenges that three recipes re-create.
CHALEARN = Paper(
    "chalearn_inpainting",
    "incollection",
    "ChaLearn Looking at People: Inpainting and Denoising challenges",
    {
        "author": "Sergio Escalera and Marti Soler and Stephane Ayache and Umut Guclu and Jun Wan and Meysam Madadi and "
        "Xavier Bar{\\'o} and Hugo Jair Escalante and Isabelle Guyon",
        "booktitle": "Inpainting and Denoising Challenges",
        "series": "The Springer Series on Challenges in Machine Learning",
        "publisher": "Springer, Cham",
        "eprint": "2106.13071",
        "archiveprefix": "arXiv",
    },
)

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
REINPAINT = Benchmark(
    use="Scoring inpainting without a reference, by inpainting results again, and against the truth by area.",
    limits=(
        "Consistency is not correctness: a method can repeat itself and be wrong.",
        "The paper states neither its patch size nor the ranges of its strokes: those of the recipe are a choice.",
    ),
    paper=Paper(
        "reinpainting",
        "misc",
        "Assessing Image Inpainting via Re-Inpainting Self-Consistency Evaluation",
        {"author": "Tianyi Chen and Jianfu Zhang and Yan Hong and Yiyi Zhang and Liqing Zhang", "year": "2024"},
    ),
    protocol="reinpaint/corrected",
    inpainted_again=True,
    generated={"embedded_photographs": "the few photographs that come with the program"},
)
HUMANS = Benchmark(
    use="Recovering parts of people under blocks; and whether a pose estimator finds the joints again.",
    limits=(
        "Joints come from the annotations or drawings, whose errors are in the scores. Blocks lie around joints, keep away from"
        " the edges and say nothing about holes elsewhere.",
    ),
    paper=CHALEARN,
    protocol="humans/corrected",
    generated={"drawn_people": "people drawn over photographs"},
    extends=("people",),
)
DECAPTION = Benchmark(
    use="Removing subtitles from clips without being told where they are.",
    limits=(
        "Subtitles are painted by a program: fonts, places and styles of real broadcasts vary more, and real ones are compressed"
        " together with the film.",
        "The hole is where anything was painted, however transparent.",
    ),
    paper=CHALEARN,
    protocol="decaption/corrected",
    baseline="decaption_median",
    generated={"embedded": "made by a virtual camera over pictures, and by drawing water"},
)
FINGERPRINT = Benchmark(
    use="Cleaning degraded fingerprints without being told what was done to them.",
    limits=(
        "Prints and degradations are drawn by a program; that a method does well here does not show that it does on real prints,"
        " or that it keeps what identifies a person.",
    ),
    paper=CHALEARN,
    protocol="fingerprint/corrected",
    baseline="oriented_gabor",
    generated={"fingerprints": "prints of fingers that nobody has"},
)
EDITING = Benchmark(
    use="Scoring edits by prompt in four tasks: success, faithfulness to the clip, steadiness.",
    limits=(
        "The videos and prompts of the paper were never released; footage and prompts are those of whoever built this.",
        "Nobody made the edits that are asked for: there is no truth to compare with, and scores are of networks that have their"
        " own errors.",
    ),
    paper=Paper(
        "editboard",
        "inproceedings",
        "EditBoard: Towards a Comprehensive Evaluation Benchmark for Text-Based Video Editing Models",
        {"booktitle": "AAAI", "year": "2025", "url": "https://github.com/Samchen2003/EditBoard"},
    ),
    protocol="editboard/corrected",
    baseline="edit_recolour",
    generated={"embedded_edits": "made by a virtual camera over pictures"},
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
