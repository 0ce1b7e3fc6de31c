"""Sections of corpus.yaml that need each other, or that exclude each other."""

from corpus_assets.config.datasets.dataset import Dataset
from corpus_assets.config.datasets.exports import mix_problems
from corpus_assets.config.datasets.masked_modes import MixedDataset, part_problems
from corpus_assets.config.datasets.text_exports import TextExport
from corpus_assets.config.datasets.token_files import TokenFiles
from corpus_assets.config.selection.dedupers import Deduper
from corpus_assets.config.tokenizers import TrainedTokenizer, Vocabulary
from corpus_assets.config.whole.schema import Schema
from resources.storage.unnamed import UNNAMED


def has_a_name_in_a_bucket(config: Schema) -> None:
    """An object store knows a corpus by its name alone."""
    if config.storage.kind == "s3" and config.name == UNNAMED:
        raise ValueError(
            f"name: received {config.name!r}, the default; valid in an object store: another name, which no other "
            "corpus in it has, since it knows a corpus by nothing else"
        )


def mixes_of_known_datasets(config: Schema) -> None:
    """A mix or part names datasets that it can read."""
    for problem in (*mix_problems(config.datasets), *part_problems(config.datasets)):
        raise ValueError(problem)


def no_raw_rows_of_a_part(config: Schema) -> None:
    """`compat: dolma` holds all raw rows, so nothing may be left out before."""
    raw = [stream.name for stream in config.streams if stream.compat == "dolma"]
    if config.remove and raw:
        raise ValueError(
            f"streams: {raw[0]!r} has `compat: dolma`, so it holds all rows of the raw files, those that `remove` "
            "names too; leave out one of the two"
        )
    if config.sample and raw:
        raise ValueError(
            f"streams: {raw[0]!r} has `compat: dolma`, so it holds all rows of the raw files, and cannot be sampled"
        )


def filters_fit_memory(config: Schema) -> None:
    """A Bloom filter fits `engine.memory`."""
    for place, entry in enumerate(config.dedupers):
        if isinstance(entry, Deduper) and entry.bloom and entry.bloom.bytes > config.engine.memory:
            raise ValueError(
                f"dedupers.{place}.bloom: the filter has {entry.bloom.bytes:,} bytes, which is over engine.memory "
                f"({config.engine.memory:,}); valid: fewer items, a larger error, or no filter"
            )


def something_to_filter(config: Schema) -> None:
    """Filters and streams have sources to read."""
    if config.filter and not config.sources:
        raise ValueError("filter: there are no sources whose documents it could filter; give a source")
    names = [source.name for source in config.sources]
    for place, stream in enumerate(config.streams):
        if not names or (unknown := sorted(set(stream.sources or ()) - set(names))):
            what = repr(unknown[0]) if names else "any"
            raise ValueError(f"streams.{place}.sources: no source named {what}; valid: {', '.join(names) or 'none'}")


def something_to_count(config: Schema) -> None:
    """`origins` has documents to count."""
    if config.origins and not config.sources:
        raise ValueError("origins: there are no sources whose documents could be counted; give a source")


def something_to_read(config: Schema) -> None:
    """Without sources, every dataset reads files of its own, and no tokenizer is trained."""
    if config.sources:
        return
    if reads := [d.name for d in config.datasets if _reads_a_split(d)]:
        raise ValueError(f"sources: none given, but dataset {reads[0]!r} reads a split of the corpus; give a source")
    chosen = [d.tokenizer or config.tokenizer for d in config.datasets if not isinstance(d, TextExport)]
    if not config.datasets or any(isinstance(tokenizer, TrainedTokenizer) for tokenizer in chosen):
        raise ValueError(
            "sources: none given, so there is nothing to train a tokenizer on; give a source or another kind"
        )


def ids_without_texts(config: Schema) -> None:
    """Files of ids have no texts to look in, and texts need a tokenizer of texts."""
    ids = [dataset for dataset in config.datasets if isinstance(dataset.input, TokenFiles)]
    if ids and config.remove:
        raise ValueError(
            f"datasets: {ids[0].name!r} reads files of ids, in which nobody can find what `remove` names; leave "
            "out one of the two"
        )
    for dataset in config.datasets:
        chosen = dataset.tokenizer or config.tokenizer
        untokenized = isinstance(dataset, TextExport) and dataset.weights is None
        if isinstance(chosen, Vocabulary) and not (untokenized or isinstance(dataset.input, TokenFiles | list)):
            raise ValueError(f"datasets: {dataset.name!r} needs a tokenizer of texts, and received `kind: ids`")


def something_to_mix(config: Schema) -> None:
    """Some source has epochs."""
    if config.sources and not any(source.epochs or source.may_be_empty for source in config.sources):
        raise ValueError(
            "sources: every source has epochs 0, so the corpus would be empty; give one another number, or "
            "`may_be_empty: true`"
        )


def templates_of_oph(config: Schema) -> None:
    """Only signatures of `oph` leave shingles out."""
    if config.dedup.template_share is not None and config.minhash.family != "oph":
        raise ValueError(
            f"dedup.template_share: signatures of minhash.family {config.minhash.family!r} leave no shingles out; "
            "valid for it: oph"
        )


def one_holdout_for_compat(config: Schema) -> None:
    """SlimPajama's split has one holdout for all."""
    own = [f"sources.{place}.holdout" for place, source in enumerate(config.sources) if source.holdout is not None]
    if config.split.method == "slimpajama" and own:
        raise ValueError(f"{', '.join(own)}: split.method slimpajama takes no holdout per source; leave it out")


def _reads_a_split(dataset: Dataset) -> bool:
    if isinstance(dataset, MixedDataset):
        return any(part.input is not None for part in dataset.parts.values())
    return isinstance(dataset.input, str)


CHECKS = (
    has_a_name_in_a_bucket,
    mixes_of_known_datasets,
    no_raw_rows_of_a_part,
    filters_fit_memory,
    something_to_filter,
    something_to_count,
    something_to_read,
    ids_without_texts,
    something_to_mix,
    templates_of_oph,
    one_holdout_for_compat,
)
