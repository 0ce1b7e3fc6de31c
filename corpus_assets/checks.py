"""All asset checks in one list, folder by folder."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import dagster as dg

from corpus_assets.checking import Built
from corpus_assets.config.datasets.exports import is_export
from corpus_assets.config.datasets.text_exports import is_text
from corpus_assets.contamination.checks import benchmarks_in_train
from corpus_assets.dedup.checks import retention_of_sources
from corpus_assets.export import checks as export
from corpus_assets.export.texts import checks as texts
from corpus_assets.normalize.checks import row_alignment
from corpus_assets.split.checks import conservation_of_rows, no_holdout_text_in_train
from corpus_assets.tokenize.checks import data_params_sums, token_files

_OF_ROWS = (token_files, data_params_sums)
_OF_EXPORTS = (export.token_files, export.manifest_of_files)
_OF_TEXTS = (texts.text_files, texts.manifest_of_texts)
_OF_WINDOWS = (export.windows_are_valid, export.manifest_of_files)


def corpus_checks(corpus: Built) -> list[dg.AssetChecksDefinition]:
    """Returns every check of the corpus."""
    values = corpus.settings.values
    attributes = dict.fromkeys(["short_documents", "duplicates", *values["mix"]["leave_out"]])
    of_documents = [
        *(row_alignment(corpus, name) for name in attributes),
        retention_of_sources(corpus),
        conservation_of_rows(corpus),
        no_holdout_text_in_train(corpus),
    ]
    if values["benchmarks"] and values["contamination"]["allowed"] is not None:
        of_documents += benchmarks_in_train(corpus)
    return [
        *(of_documents if values["sources"] else ()),
        *(check(corpus, dataset["name"]) for dataset in values["datasets"] for check in _checks_of(dataset)),
    ]


def _checks_of(dataset: Mapping[str, Any]) -> Sequence[Callable[[Built, str], dg.AssetChecksDefinition]]:
    if is_text(dataset):
        return _OF_TEXTS
    if dataset["format"] == "amber":
        return _OF_WINDOWS
    return _OF_EXPORTS if is_export(dataset) else _OF_ROWS
