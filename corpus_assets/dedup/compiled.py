"""The kernels that the assets call under a configuration; a build compiles exactly these ahead."""

from collections.abc import Mapping
from typing import Any

from resources.formats.texts import DOCUMENT_TEXTS

KERNELS = "corpus_assets.dedup.kernels"
FOREST = (f"{KERNELS}.forest.merge", f"{KERNELS}.forest.flatten")
COMPARE = (f"{KERNELS}.compare.agreeing",)
EXACT = (f"{KERNELS}.cleaning.clean", f"{KERNELS}.polynomial.hash_windows", f"{KERNELS}.compare.common")
AMONG = tuple(f"{KERNELS}.among.{name}" for name in ("near", "candidates", "hold"))
TEMPLATES = (
    DOCUMENT_TEXTS,
    f"{KERNELS}.cleaning.clean",
    *(f"{KERNELS}.template.{name}" for name in ("count_buckets", "of_buckets")),
)
HOLDING = (f"{KERNELS}.holding.keep", *EXACT)
SIGNING = {
    "oph": (),
    "affine32": (f"{KERNELS}.lanes.hash_shingles", f"{KERNELS}.minhash.smallest_affine"),
    "legacy": (f"{KERNELS}.lanes.hash_shingles", f"{KERNELS}.minhash.smallest_legacy"),
}


def of_minhashes(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the kernels that sign and sketch cleaned texts."""
    return (
        DOCUMENT_TEXTS,
        f"{KERNELS}.cleaning.clean",
        f"{KERNELS}.oph.sign_and_sketch",
        *SIGNING[settings["minhash"]["family"]],
        *_without_template(settings),
    )


def of_samples(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the kernels that draw samples of the shingles of cleaned texts."""
    return (DOCUMENT_TEXTS, f"{KERNELS}.cleaning.clean", f"{KERNELS}.samples.sample", *_without_template(settings))


def _without_template(settings: Mapping[str, Any]) -> tuple[str, ...]:
    return () if settings["dedup"]["template_share"] is None else (f"{KERNELS}.template.fill",)


def of_verified_pairs(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the kernels that compare two documents."""
    by_text = (*COMPARE, *EXACT)
    return {"none": (), "signature": COMPARE, "two_sided": by_text, "exact": by_text}[settings["dedup"]["verify"]]


def of_guarded(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the kernels that join documents to clusters and examine these."""
    guard = {"off": (), "report": COMPARE, "split": (*COMPARE, f"{KERNELS}.growth.grow")}
    action = settings["dedup"]["guard"]["action"]
    texts = (*EXACT, *AMONG) if action == "split" and settings["dedup"]["verify"] in ("two_sided", "exact") else ()
    return (*FOREST, *guard[action], *texts)


def of_components(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the kernels that find clusters where this is not done by ranges."""
    guard = of_guarded(settings)
    return {"similar": (), "contained": (*FOREST, *HOLDING), "either": (*HOLDING, *guard)}[settings["dedup"]["rule"]]
