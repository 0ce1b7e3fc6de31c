"""Stages of contamination: an index of benchmark items, the documents that share n-grams with them, and a report."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from typing_extensions import override

from corpus_assets import dataset_names
from corpus_assets.config.selection.contamination import Contamination
from corpus_assets.contamination import compiled
from corpus_assets.contamination.benchmark_hits import COUNTS, benchmark_hits, boilerplate_ngrams
from corpus_assets.contamination.benchmark_ngrams import FEWEST, NGRAMS, SETS, benchmark_ngrams
from corpus_assets.contamination.contamination_attributes import contamination_attributes
from corpus_assets.contamination.folding import FOLDING
from corpus_assets.contamination.report import contamination_report, report_notes
from resources.formats.row_tables import NAMES, TEXTS
from resources.stage.declaration import Partitioning, Stage, every, same
from resources.stage.hooks import Hooks, Values
from resources.stage.partition import Partition

GROUP = "contamination"
ATTRIBUTE_COLUMNS = {
    "id": "string: of the document in the same row",
    "attributes": "json: name of each attribute to its spans, [start, end, value] in code points",
    "source": "string: of the document",
    "items": "json: benchmark items that it holds, and the share of each",
}


class SearchedHooks(Hooks):
    """The hooks of a stage that reads all benchmarks: it depends on their configured order."""

    @override
    def derived_parameters(self, settings: Values) -> Values:
        return {SETS: [entry["name"] for entry in settings["benchmarks"]]}


class IndexHooks(SearchedHooks):
    """The hooks of the index: the definitions of n-grams and words are parameters."""

    @override
    def derived_parameters(self, settings: Values) -> Values:
        rules = Contamination.model_construct(None, **settings["contamination"])
        return {
            "contamination.words": rules.ngram,
            "contamination.shortest_item": rules.piece,
            "contamination.punctuation": rules.punctuation,
            "contamination.item_limit": rules.item_limit,
            "contamination.item_share": rules.item_share,
            FEWEST: rules.fewest,
            "contamination.numbers": rules.numbers,
            "folding": FOLDING,
            **super().derived_parameters(settings),
        }

    @override
    def kernels(self, settings: Values) -> Sequence[str]:
        return compiled.of_index(settings)


class HitsHooks(Hooks):
    """The hooks of the search."""

    @override
    def kernels(self, settings: Values) -> Sequence[str]:
        return compiled.of_search(settings)


class ReportHooks(SearchedHooks):
    """The hooks of the report."""

    @override
    def notes(self, partitions: Sequence[Partition], settings: Values) -> Iterable[str]:
        return report_notes(partitions, settings)


def contamination_stages(benchmarks: Sequence[Mapping[str, Any]]) -> Iterator[Stage]:
    """Yields the stages that search for benchmark items; none without benchmarks."""
    if not benchmarks:
        return
    stage = partial(Stage, group=GROUP, code_version="1")
    yield stage(
        name="benchmark_ngrams",
        code_version="2",  # N-grams of half a short item; very short ones as a whole; forms of small sets.
        unit_in="items",
        unit_out="items",
        description="Index of the n-grams of all benchmark items, in which documents look theirs up.",
        partitioning=Partitioning.NONE,
        compute=benchmark_ngrams,
        io="arrays",
        inputs=tuple(every(dataset_names.items(entry["name"])) for entry in benchmarks),
        hooks=IndexHooks(),
        columns={
            "key": "uint64: hash of the words of the n-gram",
            "length": "uint8: how many words it has",
            "first": "uint32: first item that has it",
        },
        kinds=("numba",),
    )
    yield stage(
        name="benchmark_hits",
        unit_in="documents",
        unit_out="documents",
        description="Where the documents of a shard have n-grams of benchmark items, and how many documents have each.",
        partitioning=Partitioning.SHARD,
        compute=benchmark_hits,
        io="arrays",
        inputs=(same("normalized_documents", segment=TEXTS), same("benchmark_ngrams", segment=NGRAMS)),
        hooks=HitsHooks(),
        columns={
            "row": "uint32: row of the document",
            "start": "uint32: where the n-gram begins, in code points",
            "end": "uint32: where it ends",
            "ngram": "uint32: its row in benchmark_ngrams",
        },
        kinds=("numba",),
    )
    yield stage(
        name="boilerplate_ngrams",
        code_version="2",  # Very short items have a limit of their own.
        unit_in="n-grams",
        unit_out="n-grams",
        description="N-grams of benchmark items that occur in so many documents that they do not count.",
        partitioning=Partitioning.NONE,
        compute=boilerplate_ngrams,
        io="arrays",
        inputs=(every("benchmark_hits", segment=COUNTS), same("benchmark_ngrams", segment=NGRAMS)),
        parameters=("contamination.document_limit", "contamination.short_item_documents"),
        columns={"ngram": "uint32: its row in benchmark_ngrams"},
        kinds=("numpy",),
    )
    yield stage(
        name="contamination_attributes",
        unit_in="documents",
        unit_out="documents",
        description="Spans of every document that it shares with benchmark items, and the share of each item.",
        partitioning=Partitioning.SHARD,
        compute=contamination_attributes,
        io="documents",
        inputs=(
            same("normalized_documents", segment=NAMES),
            same("benchmark_hits"),
            same("benchmark_ngrams"),
            same("boilerplate_ngrams"),
        ),
        hooks=SearchedHooks(),
        columns=ATTRIBUTE_COLUMNS,
        kinds=("jsonl", "dolma"),
    )
    yield stage(
        name="contamination_report",
        code_version="2",  # It counts the items that are alike.
        unit_in="documents",
        unit_out="benchmarks",
        description="How much of each benchmark is in the corpus: items, worst documents, and what was not looked for.",
        partitioning=Partitioning.NONE,
        compute=contamination_report,
        io="records",
        inputs=(every("contamination_attributes"), same("benchmark_ngrams"), same("boilerplate_ngrams")),
        parameters=("contamination.share",),
        hooks=ReportHooks(),
        columns={
            "benchmark": "string: its name",
            "items": "int: items looked for",
            "touched": "int: items of which any n-gram is in a document",
            "held": "int: items of which a document has at least contamination.share",
        },
        kinds=("json",),
    )
