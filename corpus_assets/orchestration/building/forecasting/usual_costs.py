"""What stages usually cost, for builds without records of their own; `python -m benchmarks.usual_costs` measures it.

Rounded, of generated text on one core: they need not be exact, since a build corrects them by what it sees.
"""

from collections.abc import Mapping
from typing import Final

PER_PARTITION: Final = 0.004
"""Seconds of a partition, whatever it holds."""

OF_OTHERS: Final = 10.0
"""Nanoseconds per byte of the corpus' text of a stage that is not in the table, such as one of a user's own."""

USUAL: Final[Mapping[str, float]] = {
    "raw.assets:inventory": 0.0,
    "raw.assets:raw_source": 0.3,
    "normalize.assets:normalized_documents": 16.0,
    "normalize.assets:short_documents": 0.1,
    "attributes.assets:attributes": 40.0,
    "attributes.dedupers.hashes:hashes": 9.0,
    "attributes.dedupers.earlier:seen": 0.3,
    "attributes.dedupers.marks:marks": 1.7,
    "attributes.substrings.passages:passages": 22.0,
    "attributes.substrings.repeated:repeated": 6.0,
    "attributes.substrings.windows:windows": 50.0,
    "attributes.substrings.marks:marks": 6.0,
    "attributes.semantic.vectors:vectors": 150.0,
    "attributes.semantic.centers:centers": 0.2,
    "attributes.semantic.members:members": 4.0,
    "attributes.semantic.alike:alike": 30.0,
    "attributes.semantic.marks:marks": 5.0,
    "filter.filtered_documents:filtered_documents": 10.0,
    "streams.assets:stream_documents": 22.0,
    "dedup.templates.stages:template_buckets": 25.0,
    "dedup.templates.stages:template_candidates": 0.1,
    "dedup.templates.stages:template_counts": 10.0,
    "dedup.templates.stages:templates": 0.1,
    "dedup.minhashes:minhashes": 8.0,
    "dedup.band_keys:band_keys": 0.1,
    "dedup.exact_duplicates:exact_duplicates": 0.0,
    "dedup.duplicate_pairs:duplicate_pairs": 0.0,
    "dedup.candidate_pairs:candidate_pairs": 0.1,
    "dedup.verified_pairs:verified_pairs": 2.0,
    "dedup.containment.shingle_samples:shingle_samples": 20.0,
    "dedup.containment.containment_candidates:containment_candidates": 20.0,
    "dedup.containment.contained_pairs:contained_pairs": 30.0,
    "dedup.by_range.roots:cluster_roots": 0.0,
    "dedup.by_range.members:cluster_members": 0.1,
    "dedup.by_range.guarded:guarded_clusters": 0.2,
    "dedup.by_range.merged:components_of_ranges": 0.0,
    "dedup.components:components": 1.6,
    "dedup.duplicates:duplicates": 0.2,
    "mix.assets:mixed_pass1": 6.0,
    "mix.assets:mixed_pass2": 3.9,
    "split.assets:holdout_selection": 0.0,
    "split.assets:train": 2.8,
    "split.assets:holdout": 0.6,
    "split.assets:validation": 0.1,
    "split.assets:test": 0.1,
    "split.assets:holdout_hashes": 0.0,
    "split.assets:decontaminated_train": 2.0,
    "tokenize.assets:_tokens": 42.0,
    "export.assets:_stream": 45.0,
    "export.assets:_files": 1.1,
    "export.texts.assets:_texts": 7.8,
}
"""Nanoseconds of work per byte of the corpus' text, by the function that computes a stage."""

FIXED: Final[Mapping[str, float]] = {
    "tokenize.tokenizer:tokenizer": 3.0,
    "tokenize.assets:_params": 0.05,
    "export.assets:_manifest": 0.01,
    "export.texts.assets:_manifest": 0.01,
    "report.report:report": 0.5,
}
"""Seconds of a partition of stages that take about as long for any corpus: they read a sample, or records."""
