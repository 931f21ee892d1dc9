"""Fields of Croissant for responsible AI: how the data came about, what it is for, and what it should not be used for.

Vocabulary: Croissant RAI 1.0, https://docs.mlcommons.org/croissant/docs/croissant-rai-spec.html. What the manifest knows is told
from it; what only people know comes from the builder's table ``[rai]``, and is left out where they said nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from inpaintbench.benchmarks import benchmark_of
from inpaintbench.export.card.words import counted, listed, sources, things
from inpaintbench.export.layout import different
from inpaintbench.pages.words import span
from inpaintbench.types import Dataset

CONFORMS_TO = "http://mlcommons.org/croissant/RAI/1.0"
# Entry of the table [rai] -> its field.
STATED: Mapping[str, str] = {
    "limitations": "rai:dataLimitations",
    "biases": "rai:dataBiases",
    "personal_information": "rai:personalSensitiveInformation",
    "use_cases": "rai:dataUseCases",
    "social_impact": "rai:dataSocialImpact",
    "collection_timeframe": "rai:dataCollectionTimeframe",
    "annotator_demographics": "rai:annotatorDemographics",
    "maintenance": "rai:dataReleaseMaintenancePlan",
}


def rai_fields(dataset: Dataset) -> dict[str, Any]:
    """Field -> its text, or a list of texts; of the fields that the manifest or the builder says something of."""
    words = benchmark_of(dataset)
    stated = {STATED[name]: text for name, text in dataset.facts.get("rai", {}).items()}
    limits = [*words.limits, *([stated.pop("rai:dataLimitations")] if "rai:dataLimitations" in stated else [])]
    uses = [words.use, *([stated.pop("rai:dataUseCases")] if "rai:dataUseCases" in stated else [])]
    raters = dataset.facts.get("raters", ())
    return {
        "rai:dataCollection": _collection(dataset),
        "rai:dataCollectionType": _kinds(dataset),
        "rai:dataPreprocessingProtocol": _preparation(dataset),
        "rai:dataUseCases": uses,
        **({"rai:dataLimitations": limits} if limits else {}),
        **_annotation(raters),
        "rai:machineAnnotationTools": [
            f"{kind} {name} {version}"
            for kind in ("attribute", "mask generator")
            for name, version in sorted(dataset.recipe.get("leaves", {}).get(kind, {}).items())
        ],
        **stated,
    }


def unstated(dataset: Dataset) -> list[str]:
    """Entries of the table ``[rai]`` whose fields nobody and nothing says anything of."""
    told = rai_fields(dataset)
    return [name for name, field in STATED.items() if field not in told]


def _origins(dataset: Dataset) -> Counter[str]:
    """Scheme of the addresses of sources -> how many; "" where they have none."""
    addresses = (str(row.get("source_uri") or "") for row in sources(dataset.items).values())
    return Counter(address.partition(":")[0] if ":" in address else "" for address in addresses)


def _collection(dataset: Dataset) -> str:
    origins = _origins(dataset)
    named = listed([f"{name or 'files of the builder'} ({count:,})" for name, count in sorted(origins.items())])
    licences = Counter(str(row["licence"] or "not stated") for row in sources(dataset.items).values())
    stated = listed([f"{name} ({count:,})" for name, count in sorted(licences.items())])
    generated = benchmark_of(dataset).generated
    made = "".join(f" {text}" for name, text in generated.items() if name in dataset.recipe.get("leaves", {}).get("source", {}))
    return f"{counted(sum(origins.values()), 'source')} from {named}. Licences: {stated}.{made}"


def _kinds(dataset: Dataset) -> list[str]:
    leaves = dataset.recipe.get("leaves", {}).get("source", {})
    generated = set(leaves) & set(benchmark_of(dataset).generated)
    kinds = (["Software Collection"] if generated else []) + (["Secondary Data Analysis"] if set(leaves) - generated else [])
    return kinds or ["Secondary Data Analysis"]


def _preparation(dataset: Dataset) -> list[str]:
    normalised = Counter(
        row["attributes"].get("normalised") for row in different(dataset.items, "clip_id", "attributes") if row.get("attributes")
    )
    steps = [f"{things(dataset.items)} brought to {how}" for how, _ in sorted(normalised.items(), key=str) if how]
    selection = dataset.facts.get("selection", {})
    steps += [f"selected by: {rule['rule']}, which dropped {rule['dropped']:,}" for rule in selection.get("rules", ())]
    leaves = dataset.recipe.get("leaves", {})
    steps += [f"{kind} {name} {version}" for kind in ("splitter", "normalizer") for name, version in leaves.get(kind, {}).items()]
    return steps[:50] or [f"recipe {dataset.recipe.get('recipe')}"]


def _annotation(raters: Any) -> dict[str, Any]:
    if not raters:
        return {"rai:dataAnnotationProtocol": "No person annotated items; labels are measured or drawn by programs."}
    asked = listed([str(rating["question"]) for rating in raters])
    votes = [rating["votes"] / rating["clips"] for rating in raters if rating.get("clips")]
    return {
        "rai:dataAnnotationProtocol": f"People answered {asked} in the app of inpaintbench; the card tells the agreement.",
        "rai:dataAnnotationPlatform": ["inpaintbench annotate"],
        **(
            {"rai:annotationsPerItem": f"{span(f'{min(votes):.1f}', f'{max(votes):.1f}')} votes a clip, on average"}
            if votes
            else {}
        ),
        "rai:annotatorDemographics": "not collected",
    }
