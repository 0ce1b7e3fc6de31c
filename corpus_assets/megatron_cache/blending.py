"""Which prefix each sample of a blend is drawn from, compiled."""

import numpy as np
from numpy.typing import NDArray

from resources.kernels.jit import kernel


@kernel
def blend(
    weights: NDArray[np.float64],
    first: int,
    drawn: NDArray[np.int64],
    datasets: NDArray[np.int16],
    samples: NDArray[np.int64],
) -> None:
    """Writes the prefix and its sample for samples of a blend: the prefix that is most behind its weight comes next.

    The rule of `build_blending_indices` in megatron-core, with its floating-point operations. first: the number of the
    first sample written. drawn: samples of each prefix so far, (prefixes,); moved on.
    """
    for place in range(datasets.size):
        number = float(max(first + place, 1))
        chosen, most = 0, weights[0] * number - float(drawn[0])
        for dataset in range(1, weights.size):
            behind = weights[dataset] * number - float(drawn[dataset])
            if behind > most:
                chosen, most = dataset, behind
        datasets[place] = chosen
        samples[place] = drawn[chosen]
        drawn[chosen] += 1
