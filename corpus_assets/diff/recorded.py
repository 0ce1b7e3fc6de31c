"""Numbers from commit records, which are enough for them: no configuration and no data is read."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from corpus_assets import dataset_names as names
from corpus_assets.corpus.opened import Records
from corpus_assets.diff.numbers import Asset, Measures, Numbers, flattened
from corpus_assets.raw.format_options import RULES
from corpus_assets.tokenize.counts.statistics import H5_DATASET_STATS
from resources.hashing import content_digest
from resources.ledger.records import Record
from resources.planning.planner import Planner

RAW, READ, MIXED = "raw_source", "normalized_documents", "mixed_pass1"
SPLITS = ("train", "holdout", "validation", "test", "decontaminated_train")
_ELSEWHERE = {"holdout", "validation", "test"}
"""Splits that count what is in another split as dropped."""

_WHOLE = {"configuration", "stages"}
"""Parameters that repeat what the others say."""


def numbers_of(planner: Planner) -> Numbers:
    """Returns the numbers of the partitions that a corpus has now."""
    assets = {stage.name: stage for stage in planner.graph}
    name = planner.settings.values.get("name", "corpus")
    present = {asset: set(planner.partitions(stage)) for asset, stage in assets.items()}

    def records(asset: str) -> Records:
        return {key: one for key, one in planner.records(asset).items() if key in present[asset]}

    return recorded(str(name), assets, records)


def recorded(name: str, assets: Iterable[str], records_of: Callable[[str], Records]) -> Numbers:
    """Returns the numbers of all records of some assets."""
    found = Numbers(name, "records")
    for asset in assets:
        records = records_of(asset)
        if not records:
            continue
        found.assets[asset] = _asset(records)
        found.made = max(found.made, *(record.created for record in records.values()))
        found.configuration |= dict(_configuration(asset, records))
        _add_sources(found, asset, records)
        if asset not in _ELSEWHERE:
            _add_dropped(found, asset, records)
        if asset in SPLITS:
            found.splits[asset] = _sums(records, documents="rows_out", text_bytes="text_bytes")
        if asset == "components":
            found.duplicates = _sums(records, clusters="clusters", removed="duplicates", largest="largest")
        for suffix, named in (("_tokens", names.tokens), ("_texts", names.texts)):
            if asset == named(dataset := asset.removesuffix(suffix)):
                found.datasets[dataset] = _dataset(records)
    for dataset, measures in found.datasets.items():
        if (params := names.params(dataset)) in found.assets:
            measures.update(_sums(records_of(params), documents="documents", tokens="tokens"))
        if (manifest := names.manifest(dataset)) in found.assets:
            measures.update(_sums(records_of(manifest), documents="documents"))
    return found


def _asset(records: Records) -> Asset:
    digests = sorted(f"{key} {record.digest}" for key, record in records.items())
    versions = sorted({record.code_version for record in records.values()})
    return Asset(" and ".join(versions), len(records), content_digest(*(line.encode() for line in digests)))


def source_of(key: str | None) -> str | None:
    """Returns the source in the key of a shard; None for other keys."""
    source, dashes, _ = (key or "").partition("--")
    return source if dashes else None


def _configuration(asset: str, records: Records) -> Iterator[tuple[str, Any]]:
    """Yields the parameters with which the newest partition of each source was made, by dotted key.

    A dataset's own tokenizer records its section under the key that the tokenizer of the corpus has, too.
    """
    dataset = asset.removesuffix(f"_{names.SHARED_TOKENIZER}")
    own = f"datasets.{dataset}." if asset == names.tokenizer(dataset) else ""
    newest: dict[str | None, Record] = {}
    for key, record in records.items():
        known = newest.get(source_of(key))
        if known is None or record.created > known.created:
            newest[source_of(key)] = record
    for source, record in newest.items():
        for key, value in record.parameters.items():
            if key in _WHOLE:
                continue
            yield from flattened(value, _shown(key, source) if key.startswith("source.") else f"{own}{key}").items()


def _shown(key: str, source: str | None) -> str:
    option = key.removeprefix("source.")
    return f"sources.{source}: {RULES[option]}" if option in RULES else f"sources.{source}.{option}"


def _sums(records: Records, **numbers: str) -> Measures:
    """Returns sums of statistics, each under a name; those that no record has are left out."""
    found: Measures = {}
    for ours, theirs in numbers.items():
        counted = [record.statistics.get(theirs) for record in records.values()]
        if any(one is not None for one in counted):
            found[ours] = sum(one or 0 for one in counted)
    return found


def _add_sources(found: Numbers, asset: str, records: Records) -> None:
    wanted = {
        RAW: {"raw_bytes": "bytes"},
        READ: {"documents": "rows_out", "text_bytes": "text_bytes"},
        MIXED: {"mixed": "documents"},
    }.get(asset)
    for source, ours in _by_source(records).items() if wanted else ():
        if source is not None:
            counted = {"raw_files": len(ours)} if asset == RAW else {}
            found.sources.setdefault(source, {}).update({**counted, **_sums(ours, **wanted or {})})


def _by_source(records: Records) -> dict[str | None, dict[str | None, Record]]:
    found: dict[str | None, dict[str | None, Record]] = {}
    for key, record in records.items():
        found.setdefault(source_of(key), {})[key] = record
    return found


def _add_dropped(found: Numbers, asset: str, records: Records) -> None:
    for key, record in records.items():
        for reason, count in record.statistics.get("dropped", {}).items():
            if not count:
                continue
            of_reason = found.dropped.setdefault(asset, {}).setdefault(reason, {})
            own = record.statistics.get("dropped_by_source", {}).get(reason) or {source_of(key) or "": count}
            for source, number in own.items():
                of_reason[source] = of_reason.get(source, 0) + number


def _dataset(records: Records) -> Measures:
    """Returns rows and tokens of a dataset."""
    found: Measures = _sums(records, rows="rows_out")
    counted = [record.numbers.get(H5_DATASET_STATS) for record in records.values()]
    keys = {"tokens": "non_pad_tokens", "loss_tokens": "loss_valid_tokens"}
    if counted and all(one is not None for one in counted):
        found |= {ours: sum(int(one[theirs]) for one in counted if one) for ours, theirs in keys.items()}
        return found
    totals = [record.numbers.get("totals") for record in records.values()]
    if totals and all(one is not None for one in totals):
        wanted = {"rows": "units", "tokens": "ids", "documents": "documents"}
        found |= {ours: sum(int(one.get(theirs, 0)) for one in totals if one) for ours, theirs in wanted.items()}
        found["tokens"] -= sum(lost["ids"] for one in totals if one for lost in one.get("dropped", {}).values())
    return found
