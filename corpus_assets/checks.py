"""All asset checks in one list, folder by folder."""

import dagster as dg

from corpus_assets.corpus import Corpus
from corpus_assets.dedup.checks import retention_of_sources
from corpus_assets.normalize.checks import row_alignment
from corpus_assets.split.checks import conservation_of_rows, no_holdout_text_in_train
from corpus_assets.tokenize.checks import data_params_sums, token_files


def corpus_checks(corpus: Corpus) -> list[dg.AssetChecksDefinition]:
    """Every check of the corpus."""
    of_documents = [
        row_alignment(corpus, "short_documents"),
        retention_of_sources(corpus),
        row_alignment(corpus, "duplicates"),
        conservation_of_rows(corpus),
        no_holdout_text_in_train(corpus),
    ]
    return [
        *(of_documents if corpus.config.sources else ()),
        *(
            check(corpus, dataset.name)
            for dataset in corpus.config.datasets
            for check in (token_files, data_params_sums)
        ),
    ]
