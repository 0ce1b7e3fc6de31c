"""Profiles: the values that `compat` sets; corpus.yaml can override each of them."""

from typing import Any

PROFILES: dict[str, dict[str, dict[str, Any]]] = {
    "slimpajama": {
        "normalize": {"method": "ftfy", "texts": "slimpajama"},
        "short_documents": {"threshold": 200},
        "minhash": {"family": "legacy", "permutations": 128, "seed": 1, "width": 13, "bands": 9, "rows": 13},
        "dedup": {
            "short_documents": "include",
            "exact_first": False,
            "verify": "none",
            "keep": ["first"],
            "guard": {"action": "off"},
            "max_loss": 1.0,
        },
        "mix": {"seed": 42, "order": "slimpajama"},
        "split": {"holdout": 0.0017, "method": "slimpajama"},
    },
}
