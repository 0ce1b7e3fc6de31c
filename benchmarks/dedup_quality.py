"""How many near-duplicates are found, against true similarity: `python -m benchmarks.dedup_quality [--quick] [--json]`.

Truth is the Jaccard similarity of the 13-character shingles of the cleaned texts, counted on Python sets; a pair is
positive from 0.8. A pair is found when any band agrees and the check says so. Recall is the share of positive pairs
that are found, precision the share of found pairs that are positive. Pairs: the labelled ones of the shared data
(`_pairs`) and made ones that spread evenly over 0.5 to 1 (`_made`); names without either are of all. `default` is a
corpus.yaml without settings; `removed_below_threshold` is the share of the documents that it removes whose true
similarity to the one kept instead is below the threshold. Pairs are no chains, so that share is also measured over a
build of real texts (`_real`, see `dedup_real`). `dedup_check` measures the cost of the default check and of the one by
sketches alone. A full run also draws `docs/dedup-quality.svg`. `--checks` compares ways to check candidates instead,
`--families` the families of signatures.
"""

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import dedup_check, dedup_real
from benchmarks.dedup_pairs import BINS, WIDTH, Pairs, labelled_pairs, made_pairs, pooled
from benchmarks.dedup_plot import Curve, draw
from corpus_assets.dedup.clusters.guard import GuardRules
from corpus_assets.dedup.clusters.resolve import Pairs as Joined
from corpus_assets.dedup.clusters.resolve import Scale, Settled, guard_clusters
from corpus_assets.dedup.clusters.union_find import UnionFind
from corpus_assets.dedup.documents.columns import Column
from corpus_assets.dedup.documents.numbering import Numbering
from corpus_assets.dedup.pairs.unique import unique_pairs
from corpus_assets.dedup.signatures.bands import band_keys
from corpus_assets.dedup.signatures.minhash import sign, sign_and_sketch
from corpus_assets.dedup.signatures.scheme import Family, SignatureScheme
from corpus_assets.dedup.similarity.check import Check, Verification, surely_above
from corpus_assets.dedup.similarity.jaccard import exact_similarities, occurring
from corpus_assets.dedup.similarity.sketch_join import agreements, range_rows
from resources.formats.texts import batches

PLOT = Path(__file__).resolve().parents[1] / "docs" / "dedup-quality.svg"
THRESHOLD, CERTAIN = 0.8, 0.95
DEFAULT_LAYOUT, UNVERIFIED_LAYOUT = (20, 6), (9, 13)
SKETCH_BITS = 1024
LAYOUTS = [(9, 13), (14, 9), (20, 6), (25, 5)]
FAMILIES: list[Family] = ["oph", "affine32", "legacy"]
PLOTTED: list[Check] = ["signature", "two_sided"]
PER_BIN, QUICK_PER_BIN, QUICK_EVERY = 150, 20, 8
# Family and number of slots, and how many low bits of each are compared.
CHECKS: list[tuple[Family, int, int]] = [
    ("affine32", 128, 8),
    ("oph", 128, 8),
    ("oph", 512, 2),
    ("oph", 1024, 1),
    ("oph", 2048, 1),
]
MEMORY = 1 << 30
ROUNDS = 3

Found = NDArray[np.bool_]


class Detector:
    """The pairs of a set that are found with signatures of one family."""

    def __init__(self, pairs: Pairs, family: Family) -> None:
        self._pairs = pairs
        self.scheme = SignatureScheme(family, width=WIDTH)
        signed, sketched = zip(*sign_and_sketch(batches(pairs.texts, 1024), self.scheme, SKETCH_BITS), strict=True)
        self._signatures, self._sketches = np.concatenate(signed), np.concatenate(sketched)

    def candidates(self, layout: tuple[int, int]) -> Found:
        """Pairs (n,) that agree in a band."""
        keys = band_keys(self._signatures, *layout)
        first, later = self._pairs.pairs.T
        return np.asarray((keys[:, first] == keys[:, later]).any(axis=0))

    def verified(self, candidates: Found, how: Check = "signature") -> Found:
        """The candidates that a check does not refute."""
        return self._among(self._checked(candidates, how))

    def _checked(self, candidates: Found, how: Check) -> NDArray[np.unsignedinteger]:
        check = Verification(
            total=len(self._sketches),
            bits=SKETCH_BITS,
            texts=lambda bitmap: (
                (number, self._pairs.texts[number])
                for number in np.flatnonzero(occurring(bitmap, 0, len(self._sketches))).tolist()
            ),
            scheme=self.scheme,
            threshold=THRESHOLD,
            memory=MEMORY,
            spill=TemporaryFile,
        )
        total, rows = len(self._sketches), range_rows(SKETCH_BITS)
        unique = unique_pairs([self._pairs.pairs[candidates]], total, rows, memory=MEMORY, spill=TemporaryFile)
        agreed = agreements(
            unique, lambda start, stop: self._sketches[start:stop], total, rows, memory=MEMORY, spill=TemporaryFile
        )
        return np.concatenate([*check.pairs(agreed, how), self._pairs.pairs[:0]])

    def removed(self, candidates: Found) -> NDArray[np.float64]:
        """The true similarity of each document that the defaults remove to the one that is kept instead."""
        total = len(self._sketches)
        similar = self._checked(candidates, "two_sided")
        sets = UnionFind(total)
        sets.add(similar)
        settled = Settled(sets, ["first"], {})
        guard_clusters(
            settled,
            Joined(lambda: iter(()), lambda: iter([similar])),
            guard=GuardRules(resemblance=surely_above(THRESHOLD, SKETCH_BITS), paired=True),
            sketches=Column(Numbering.of([("all", total)]), lambda _: self._sketches, self._sketches[:0]),
            scale=Scale(total, SKETCH_BITS, MEMORY, TemporaryFile),
            on_finding=lambda _: None,
        )
        gone = [
            np.stack([kept, members], axis=1)[kept != members].astype(np.uint32)
            for members, kept, _ in settled.blocks()
        ]
        texts = enumerate(self._pairs.texts)
        checked = exact_similarities(gone, texts, self.scheme, memory=MEMORY, spill=TemporaryFile)
        return np.concatenate([similarity for _, similarity in checked])

    def exact(self, candidates: Found) -> tuple[Found, float]:
        """The candidates that are similar by their texts, and the MB of text compared per CPU second."""
        rows = range_rows(SKETCH_BITS)
        unique = unique_pairs(
            [self._pairs.pairs[candidates]], len(self._pairs.texts), rows, memory=MEMORY, spill=TemporaryFile
        )
        pairs = [block for _, block in unique]
        documents = np.unique(np.concatenate(pairs)).tolist()
        texts = [(number, self._pairs.texts[number]) for number in documents]
        size = sum(len(text.encode()) for _, text in texts)
        found, seconds = [], []
        for _ in range(ROUNDS):
            start = time.process_time()
            checked = exact_similarities(pairs, texts, self.scheme, memory=MEMORY, spill=TemporaryFile)
            found = [block[similarity >= THRESHOLD] for block, similarity in checked]
            seconds.append(time.process_time() - start)
        return self._among(np.concatenate(found)), size / 1e6 / min(seconds)

    def _among(self, found: NDArray[np.unsignedinteger]) -> Found:
        """Which pairs of the set are in `found` (k, 2)."""
        return np.isin(_as_one(self._pairs.pairs), _as_one(found))


def _as_one(pairs: NDArray[np.unsignedinteger]) -> NDArray[np.uint64]:
    return pairs[:, 0].astype(np.uint64) << np.uint64(32) | pairs[:, 1]


def _sets(quick: bool) -> tuple[Pairs, Pairs]:
    """Labelled and made pairs."""
    return labelled_pairs(QUICK_EVERY if quick else 1), made_pairs(QUICK_PER_BIN if quick else PER_BIN)


def measure(quick: bool) -> tuple[dict[str, Any], list[Curve]]:
    """The figures, and a curve for each family, layout and check."""
    labelled, made = _sets(quick)
    pairs = pooled([labelled, made])
    is_labelled = np.arange(len(pairs.truth)) < len(labelled.truth)
    sets = {"": is_labelled | ~is_labelled, "_pairs": is_labelled, "_made": ~is_labelled}
    default = Detector(pairs, FAMILIES[0])
    candidates = default.candidates(DEFAULT_LAYOUT)
    exact, rate = default.exact(candidates)
    ways = {
        "default_": default.verified(candidates, "two_sided"),
        "signature_": default.verified(candidates),
        "exact_": exact,
        "unverified_9x13_": default.candidates(UNVERIFIED_LAYOUT),
    }
    figures: dict[str, Any] = {"pairs": len(labelled.truth), "made": len(made.truth)}
    for suffix, chosen in sets.items():
        truth = pairs.truth[chosen]
        for way, found in ways.items():
            recall, precision = _recall_and_precision(found[chosen], truth)
            figures |= {f"{way}recall{suffix}": recall, f"{way}precision{suffix}": precision}
        missed = (truth >= CERTAIN) & ~ways["signature_"][chosen]
        figures[f"missed_above_095{suffix}"] = int(missed.sum())
    removed = default.removed(candidates)
    below = round(float((removed < THRESHOLD).mean()), 4)
    figures |= {"removed": len(removed), "removed_below_threshold": below, **dedup_real.measure(quick, THRESHOLD)}
    figures |= {"exact_mb_per_cpu_s": round(rate, 1), **dedup_check.measure(quick)}
    return figures, list(_curves(pairs))


def _recall_and_precision(found: Found, truth: NDArray[np.float64]) -> tuple[float | None, float | None]:
    """None without a positive or a found pair."""
    positive = truth >= THRESHOLD
    both = int((found & positive).sum())
    shares = (both / count if count else None for count in (int(positive.sum()), int(found.sum())))
    recall, precision = (None if share is None else round(share, 4) for share in shares)
    return recall, precision


def _curves(pairs: Pairs) -> Iterator[Curve]:
    """The share of pairs caught in each bin of true similarity that has any."""
    places = np.searchsorted(BINS, pairs.truth, side="right") - 1
    places[pairs.truth == 1] = len(BINS) - 2
    for family in FAMILIES:
        detector = Detector(pairs, family)
        for bands, rows in LAYOUTS:
            candidates = detector.candidates((bands, rows))
            ways = {"candidates": candidates} | {how: detector.verified(candidates, how) for how in PLOTTED}
            for check, found in ways.items():
                points = [
                    (float(BINS[place] + BINS[place + 1]) / 2, float(found[places == place].mean()))
                    for place in range(len(BINS) - 1)
                    if (places == place).any()
                ]
                yield Curve(check, family, f"{bands} x {rows}", points)


def compare_checks(quick: bool) -> str:
    """Ways to check the candidates of the default, as a Markdown table with the standard error of the estimate."""
    pairs = pooled(list(_sets(quick)))
    candidates = Detector(pairs, FAMILIES[0]).candidates(DEFAULT_LAYOUT)
    lines = ["| check | bytes | standard error | recall | precision |", "| --- | ---: | ---: | ---: | ---: |"]
    for family, slots, bits in CHECKS:
        estimates = _estimates(pairs, SignatureScheme(family, slots, width=WIDTH), bits)
        recall, precision = _recall_and_precision(candidates & (estimates >= THRESHOLD), pairs.truth)
        error = float(np.sqrt(np.mean((estimates - pairs.truth) ** 2)))
        size = slots * bits // 8
        lines.append(f"| {family}, {slots} x {bits} bits | {size} | {error:.4f} | {recall:.4f} | {precision:.4f} |")
    return "\n".join(lines)


def compare_families(quick: bool) -> str:
    """What each family of signatures finds with the default layout and check, as a Markdown table."""
    pairs = pooled(list(_sets(quick)))
    lines = ["| family | recall of the candidates | recall | precision |", "| --- | ---: | ---: | ---: |"]
    for family in FAMILIES:
        detector = Detector(pairs, family)
        candidates = detector.candidates(DEFAULT_LAYOUT)
        possible, _ = _recall_and_precision(candidates, pairs.truth)
        recall, precision = _recall_and_precision(detector.verified(candidates, "two_sided"), pairs.truth)
        lines.append(f"| {family} | {possible:.4f} | {recall:.4f} | {precision:.4f} |")
    return "\n".join(lines)


def _estimates(pairs: Pairs, scheme: SignatureScheme, bits: int) -> NDArray[np.float64]:
    """Estimated similarity (n,) from the low bits of each slot, some of which agree by chance."""
    low = np.concatenate(list(sign(pairs.texts, scheme))) & np.uint32((1 << bits) - 1)
    first, later = pairs.pairs.T
    chance = 0.5**bits
    agreed = [float((low[left] == low[right]).mean()) for left, right in zip(first, later, strict=True)]
    return (np.array(agreed) - chance) / (1 - chance)


def draw_plot(curves: list[Curve]) -> None:
    """Writes the plot of the documentation."""
    PLOT.write_text(draw("Share of pairs caught, by true Jaccard similarity", curves, THRESHOLD), encoding="utf-8")


def table(curves: list[Curve]) -> str:
    """Catch probability by bin of true similarity, one line per curve."""
    head = f"{'family':10}{'bands':8}{'':16}"
    lines = [head + "".join(f"{similarity:7.3f}" for similarity, _ in curves[0].points)]
    for curve in curves:
        shares = "".join(f"{share:7.3f}" for _, share in curve.points)
        lines.append(f"{curve.column:10}{curve.name:8}{curve.row:16}{shares}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="an eighth of the pairs, and no plot")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    parser.add_argument("--checks", action="store_true", help="ways to check candidates, as a Markdown table")
    parser.add_argument("--families", action="store_true", help="families of signatures, as a Markdown table")
    given = parser.parse_args()
    if given.families:
        print(compare_families(given.quick))
        return
    if given.checks:
        print(compare_checks(given.quick))
        return
    figures, curves = measure(given.quick)
    if not given.quick:
        draw_plot(curves)
    if given.json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        print(f"{name:36}{value if value is not None else 'none':>10}")
    print(f"\ncaught, by true similarity (middle of the bin)\n{table(curves)}")


if __name__ == "__main__":
    main()
