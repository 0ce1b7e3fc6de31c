"""The number of bands and of rows per band for a similarity threshold."""


def band_layout(threshold: float, permutations: int) -> tuple[int, int]:
    """Returns (bands, rows per band) with the least false positives plus false negatives around a Jaccard threshold.

    Over all b and r with b * r <= permutations, minimises the integral of 1 - (1 - s^r)^b over [0, threshold]
    plus that of (1 - s^r)^b over [threshold, 1], with equal weights; of equal layouts, the one with the smallest b,
    then r. This is the choice of datasketch's optimiser: 0.8 and 128 give (9, 13). `ValueError` for a threshold
    outside 0 to 1.
    """
    if not 0.0 <= threshold <= 1.0:
        raise ValueError(f"threshold is {threshold}; valid: 0 to 1")
    import numpy as np  # Imported late, because reading a configuration should not load numpy.

    # Gauss-Legendre with n nodes is exact up to degree 2n - 1, and the integrands have degree b * r.
    nodes, weights = np.polynomial.legendre.leggauss(permutations // 2 + 1)
    below, above = threshold * (nodes + 1) / 2, threshold + (1 - threshold) * (nodes + 1) / 2
    layouts = [(b, r) for b in range(1, permutations + 1) for r in range(1, permutations // b + 1)]

    def error(layout: tuple[int, int]) -> float:
        bands, rows = layout
        false_positives = threshold / 2 * weights @ (1 - (1 - below**rows) ** bands)
        false_negatives = (1 - threshold) / 2 * weights @ (1 - above**rows) ** bands
        return float(false_positives + false_negatives)

    return min(layouts, key=error)
