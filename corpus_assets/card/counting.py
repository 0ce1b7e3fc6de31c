"""Reads the facts of a corpus from the records of its splits, pass 1 and token datasets."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from posixpath import commonpath, commonprefix
from typing import Any

from corpus_assets.card.facts import Domains, Facts, FileFacts, SourceFacts
from corpus_assets.licences.documents import NONE
from corpus_assets.licences.names import folded
from resources.formats.jsonl.compressions import JSONL, endings
from resources.hashing import content_digest
from resources.stage.partition import Partition
from resources.stage.task import Task
from resources.version import VERSION

SPLITS = {"decontaminated_train": "train", "validation": "validation", "test": "test"}
PASS_1 = "mixed_pass1"
ORIGINS, ORIGINS_FOUND = "origins", "origins.json"
CARD, GRAPH, STEPS = "card", "card.graph", "card.steps"


def facts_of(task: Task) -> Facts:
    """Returns the facts. Numbers that the version which made a partition did not count are left out."""
    graph = task[GRAPH]
    read = [partition for name in graph["reads"] for partition in task.inputs(name)]
    return Facts(
        name=graph["name"],
        digest=content_digest(*(f"{one.name} {one.record.digest}".encode() for one in read))[:32],
        sources=list(_sources(task)),
        files=[*_splits(task), *_datasets(task)],
        steps=task[STEPS],
        tokenizer=_tokenizer(task),
        versions={"corpus-assets": VERSION},
        card=_card(task),
    )


def _card(task: Task) -> dict[str, Any]:
    """Returns what people said; the title of a sample says that it is one."""
    said: dict[str, Any] = task[CARD]
    if not task[GRAPH]["is_sample"]:
        return said
    return {**said, "title": f"{said['title'] or task[GRAPH]['name']} (a sample)"}


def _sources(task: Task) -> Iterator[SourceFacts]:
    used, tokens = _used(task), _tokens(task)
    licences, domains = _licences(task), _domains(task)
    for source in task[GRAPH]["sources"]:
        name, text_bytes = source["name"], used[source["name"]]["text_bytes"]
        stated = licences.get(name) or {folded(source["licence"] or "") or NONE: 1}
        total = sum(stated.values())
        shared = {licence: text_bytes * part // total for licence, part in stated.items()} if total else {}
        counted = tokens.get(name, 0) if tokens else None
        yield SourceFacts(name, used[name]["documents"], text_bytes, counted, shared, domains.get(name))
    for files in task[GRAPH]["files"]:
        made = [one.record.statistics for one in task.inputs(files["examples"])]
        size = sum(one.get("text_bytes", 0) for one in made)
        documents = sum(one.get("rows_out") or 0 for one in made)
        counted = _sum(_by_source(task.inputs(files["tokens"])), "tokens") or None
        yield SourceFacts(files["name"], documents, size, counted, {folded(files["licence"] or "") or NONE: size})


def _used(task: Task) -> Mapping[str, Mapping[str, int]]:
    """Returns documents and bytes by source in all splits; by pass 1, where splits did not count sources."""
    found: dict[str, Counter[str]] = {source["name"]: Counter() for source in task[GRAPH]["sources"]}
    splits = [one for name in SPLITS if task.reads(name) for one in task.inputs(name)]
    counted = all("by_source" in one.record.statistics for one in splits)
    pairs = (
        (pair for one in splits for pair in one.record.statistics["by_source"].items())
        if counted
        else ((_source_of(one), one.record.statistics) for one in task.inputs(PASS_1))
        if task.reads(PASS_1)
        else ()
    )
    for source, numbers in pairs:
        if source in found:
            found[source].update({key: numbers.get(key, 0) for key in ("documents", "text_bytes")})
    return found


def _tokens(task: Task) -> Mapping[str, int]:
    """Returns tokens by source of the first dataset made of train that counted them."""
    for name in task[GRAPH]["trains"]:
        found: Counter[str] = Counter()
        for source, numbers in _by_source(task.inputs(name)):
            found[source] += numbers.get("tokens", 0)
        if found:
            return found
    return {}


def _by_source(partitions: Iterable[Partition]) -> Iterator[tuple[str, Mapping[str, int]]]:
    for one in partitions:
        yield from (one.record.numbers.get("by_source") or {}).items()


def _sum(pairs: Iterable[tuple[str, Mapping[str, int]]], key: str) -> int:
    return sum(numbers.get(key, 0) for _, numbers in pairs)


def _licences(task: Task) -> dict[str, Counter[str]]:
    """Returns bytes by licence of each source whose documents state their own, as pass 1 counted them."""
    found: dict[str, Counter[str]] = {}
    for one in task.inputs(PASS_1) if task.reads(PASS_1) else ():
        for licence, numbers in (one.record.statistics.get("licences") or {}).items():
            found.setdefault(_source_of(one), Counter())[licence] += numbers["text_bytes"]
    return {source: Counter(dict(count.most_common())) for source, count in found.items()}


def _domains(task: Task) -> dict[str, Domains]:
    """Returns the domains of each source, if they are counted."""
    if not task.reads(ORIGINS):
        return {}
    found = task.input(ORIGINS).json(ORIGINS_FOUND)
    measure = "tokens" if found["tokens"] else "text_bytes"
    return {name: _domains_of(held, measure) for name, held in found["sources"].items()}


def _domains_of(held: Mapping[str, Any], measure: str) -> Domains:
    whole, documents = held[measure] or 1, held["documents"] or 1
    largest = {one["name"]: one[measure] / whole for one in held["domains"]["largest"]}
    without = held["without_url"]["documents"] / documents
    return Domains(largest, held["domains"]["different"], without, "tokens" if measure == "tokens" else "text")


def _source_of(partition: Partition) -> str:
    return (partition.key or "").partition("--")[0]


def _splits(task: Task) -> Iterator[FileFacts]:
    for asset, split in SPLITS.items():
        if task.reads(asset):
            yield from _files(f"{split}_documents", "documents", split, task.inputs(asset), JSONL)


def _datasets(task: Task) -> Iterator[FileFacts]:
    for dataset in task[GRAPH]["datasets"]:
        made = task.inputs(dataset["tokens"])
        tokens = sum(_token_count(one) for one in made) or None
        split = SPLITS.get(dataset["input"], "")
        for files in _files(dataset["name"], dataset["format"], split, made):
            yield replace(files, tokens=tokens)


def _token_count(partition: Partition) -> int:
    """Returns the tokens in the files of a partition: without padding, and without what was dropped."""
    counters = partition.record.counters
    rows, totals = counters.get("h5_dataset_stats") or {}, counters.get("totals") or {}
    in_rows = (counters.get("counters") or rows).get("non_pad_tokens")
    dropped = sum(lost["ids"] for lost in totals.get("dropped", {}).values())
    return int(in_rows or totals.get("ids", 0) - dropped)


def _files(name: str, kind: str, split: str, made: Sequence[Partition], suffix: str = "") -> Iterator[FileFacts]:
    """Yields the set of the content files of partitions, if they have any.

    suffix: of those that count, in any compression. Of a trainer's format those count that hold ids; what lies beside
    them is not theirs, or an index.
    """
    places = [one.record.counters.get("places", {}).get("files", ()) for one in made]
    with_ids = {place["path"] for of_partition in places for place in of_partition}
    files = [one for partition in made for one in partition.record.files if not one.derived]
    files = [one for one in files if one.path.endswith(endings(suffix)) and (not with_ids or one.path in with_ids)]
    if files:
        folders = {one.path.rpartition("/")[0] for one in files}
        ending = f"{suffix}.*" if suffix else _ending([one.path.rpartition("/")[2] for one in files])
        pattern = f"{commonpath(folders)}/{'*' if len(folders) == 1 else '**/*'}{ending}"
        rows = sum(one.record.statistics.get("rows_out") or 0 for one in made)
        yield FileFacts(name, kind, split, pattern, len(files), rows)


def _ending(names: Sequence[str]) -> str:
    """Returns what names have in common at their ends, from a dot on."""
    common = commonprefix([name[::-1] for name in names])[::-1]
    return common[common.find(".") :] if "." in common else ""


def _tokenizer(task: Task) -> str:
    name = task[GRAPH]["tokenizer"]
    if not name:
        return ""
    numbers = task.input(name).record.statistics
    size = numbers.get("vocabulary")
    return f"a tokenizer of {size:,} tokens ({task[GRAPH]['tokenizer_kind']})" if size else "the corpus's tokenizer"
