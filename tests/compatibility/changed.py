"""The stages whose recipes are other ones than those of a kept store, each in a sentence that says what to do."""

from corpus_assets.corpus.corpus import Corpus
from resources.planning.decisions import Status

_TO_DO = (
    "Stores of that version would be computed again from here on. If this is meant, add the stage to RAISED of "
    "tests/compatibility/changed.py and to CHANGELOG.md; if not, give it the recipe that it had "
    "(docs/compatibility.md)"
)
_BY_RANGE = ("cluster_roots", "cluster_members", "guarded_clusters", "components")
_CONTAMINATION = ("benchmark_ngrams", "boilerplate_ngrams")
_OF_PRE_TOKENIZE = "decontaminated_train_8cd2e5ed_token_stream"
"""The stream that ragged arrays with `compat: pre_tokenize` have of their own."""
_OF_PARTS = tuple(f"parts{name}_{files}" for name in ("", "-weighted") for files in ("masked_token_stream", "tokens"))
_AS_DOLMA = ("dolma_attributes", "quality_attributes", "dolma-parts_attributes", "olmo-dolma_tokens")
"""Gopher's required words after a NUL, marks of paragraphs, documents of one id: as the toolkit has them."""
_OF_PREFERENCES = ("dpo_tokens", "dpo_token_params", "dpo-kept_sequences")
RAISED = dict.fromkeys(
    (
        *("report", "data_card", *_BY_RANGE, *_CONTAMINATION, "search_index", _OF_PRE_TOKENIZE, *_OF_PARTS, *_AS_DOLMA),
        *("takedown_list", *_OF_PREFERENCES),
    ),
    "0.3.0",
)
"""The stages that later versions compute again on purpose, each with the first version that does so."""
_KEYS = "document_keys"
"""The end of the names of such stages too, since 0.3.0: one for sources, and one for each dataset with own files."""


def changed_recipes(corpus: Corpus) -> list[str]:
    """Returns a sentence for each stage that is stale or missing by itself, and is not in `RAISED`.

    What only waits for such a stage is not named. The raw files of a kept store are new files with the old bytes: the
    plan reads them once, and finds them fresh.
    """
    reasons: dict[str, str] = {}
    for decision in corpus.planner().plan().decisions:
        is_raised = decision.asset in RAISED or decision.asset.endswith(_KEYS)
        if decision.status in (Status.STALE, Status.MISSING) and not is_raised:
            reasons.setdefault(decision.asset, decision.reason)
    return [f"{asset} of corpus {corpus.config.name}: {reason}. {_TO_DO}" for asset, reason in reasons.items()]
