"""Stages of takedown: the list, the keys of each shard's documents, and the rows of each shard that the list names."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import islice

import numpy as np
from typing_extensions import override

from corpus_assets import dataset_names
from corpus_assets.normalize.reading import READING, DocumentHooks, documents_of, normalizer_of
from corpus_assets.raw.assets import ReadingHooks, examples_of
from corpus_assets.raw.bad_rows import write_good_rows
from corpus_assets.raw.takedown import KEYS, NOTHING, NUMBER, ROWS, TAKEDOWN, obeying
from corpus_assets.takedown.keys import keys_of
from corpus_assets.takedown.lists import LIST_BYTES, all_keys, entries
from corpus_assets.takedown.named import BY_KIND, ENTRIES, MET, count_urls, entry_numbers, looked_for_urls
from corpus_assets.takedown.rows import ROW_KEY, named, packed
from resources.config_files import matching, read_outside
from resources.documents.looked_for import numbers_of
from resources.errors import CorpusError
from resources.formats.documents import Document
from resources.formats.examples import Example
from resources.hashing import content_digest
from resources.raw_places.addresses import scheme_of
from resources.raw_places.named import NamedFile, named_files
from resources.stage.declaration import Partitioning, Stage, same
from resources.stage.hooks import Hooks, Values
from resources.stage.task import Task
from resources.storage.s3.client import S3Settings

LIST = "takedown_list"
_LOCATION, _LISTS = "remove.location", "remove.lists"
_BLOCK = 1 << 14


def takedown_list(task: Task) -> None:
    """Writes the keys of all documents that the lists name; `CorpusError` if the lists changed since the plan."""
    if _digest(task.local_files.values()) != task[_LISTS]:
        raise CorpusError(f"{_LOCATION}: the lists changed since the build began; build again")
    keys = all_keys(entries(task.local_files, None))
    task.save_array("takedown/list.npy", packed(keys))
    task.save_array(f"takedown/list{ENTRIES}", entry_numbers(keys), derived=True)
    kinds = Counter(entry.kind for entry in {entry.where: entry for entry in keys.values()}.values())
    task.count(rows_out=len(keys), lists=len(task.local_files), **{BY_KIND: dict(sorted(kinds.items()))})


def document_keys(task: Task) -> None:
    """Writes the keys that can name the documents of one raw file."""
    fix = normalizer_of(task.parameters)

    def write(documents: Iterator[Document]) -> None:
        _write_keys(task, ((document, (document.text, fix(document.text))) for document in documents))

    write_good_rows(task, documents_of(task), task["source.on_bad_file"], write)


def example_keys(task: Task) -> None:
    """Writes the keys that can name the examples of one file of a dataset's own."""

    def write(examples: Iterator[Example]) -> None:
        _write_keys(task, ((_as_document(one), [one.text] if one.text else []) for one in examples))

    on_bad_file = task[f"datasets.{task.shard.source}.input.on_bad_file"]
    write_good_rows(task, examples_of(task), on_bad_file, write)


def _as_document(example: Example) -> Document:
    return Document(example.id, example.text or "", example.source, metadata=example.metadata)


def _write_keys(task: Task, documents: Iterator[tuple[Document, Sequence[str]]]) -> None:
    """Writes the keys of documents, with digests of every form of their texts."""
    url_keys = task["remove.url_keys"]
    looked_for = looked_for_urls(url_keys)
    rows = 0

    def keys() -> Iterator[bytes]:
        nonlocal rows
        for number, (document, texts) in enumerate(documents):
            place = number.to_bytes(4, "little")
            count_urls(looked_for, document, url_keys)
            yield from (place + key for key in keys_of(document, texts, url_keys))
            rows += 1

    with task.array(f"takedown/keys/{task.shard.source}/{task.shard.name}.npy", ROW_KEY) as out:
        found = keys()
        while block := b"".join(islice(found, _BLOCK)):
            out.append(np.frombuffer(block, dtype=ROW_KEY))
    task.save_counters(NUMBER, {"rows": rows})
    task.count(rows_out=rows, **numbers_of(looked_for))


def takedown(task: Task, keys_asset: str) -> None:
    """Writes the rows of one raw file that the lists name, in ascending order."""
    keys = task.input(keys_asset)
    rows, met = named(keys.array(".npy"), task.input(LIST).array(".npy"))
    path = f"takedown/rows/{task.shard.source}/{task.shard.name}"
    task.save_array(f"{path}.npy", rows)
    if len(met):
        task.save_array(f"{path}{MET}", met, derived=True)
    task.segments[ROWS] = content_digest(rows.tobytes()) if len(rows) else NOTHING
    task.save_counters(NUMBER, keys.counters(NUMBER))
    task.count(rows_out=len(rows))


def lists_of(settings: Values) -> dict[str, bytes]:
    """Returns the contents of all lists by file name; `ConfigError` if there is none, or one cannot be read."""
    if elsewhere := _elsewhere(settings):
        return {name: file.read(LIST_BYTES) for name, file in elsewhere.items()}
    files = matching(_LOCATION, settings["remove"]["location"])
    return {name: read_outside(_LOCATION, path, LIST_BYTES) for name, path in files.items()}


def _elsewhere(settings: Values) -> dict[str, NamedFile]:
    """Returns the lists by file name, if they are not on this machine."""
    section = settings["remove"]
    if not scheme_of(section["location"]):
        return {}
    return named_files(_LOCATION, section["location"], S3Settings(**(section.get("s3") or {})))


@lru_cache(maxsize=4)
def _remembered_digest(lists: tuple[NamedFile, ...]) -> str:
    """Returns the digest of remote lists, which are read once per process as long as their versions stay."""
    return _digest(file.read(LIST_BYTES) for file in lists)


def _digest(lists: Iterable[bytes]) -> str:
    return content_digest(*sorted(lists))


class ListHooks(Hooks):
    """The hooks of the list: its content, and a check that each of its lines names something."""

    @override
    def derived_parameters(self, settings: Values) -> Values:
        elsewhere = tuple(_elsewhere(settings).values())
        return {_LISTS: _remembered_digest(elsewhere) if elsewhere else _digest(lists_of(settings).values())}

    @override
    def local_files(self, settings: Values) -> Mapping[str, bytes]:
        return lists_of(settings)

    @override
    def check_before(self, settings: Values) -> None:
        own = (dataset["name"] for dataset in settings["datasets"] if isinstance(dataset["input"], Mapping))
        for _ in entries(lists_of(settings), [*(source["name"] for source in settings["sources"]), *own]):
            pass


def _dots(settings: Values) -> Values:
    """Returns a parameter of keys with dots, for records from before these led into objects."""
    with_dots = any("." in key for key in settings["remove"]["url_keys"])
    return {"remove.dots": 1} if with_dots else {}


class KeysHooks(DocumentHooks):
    """The hooks of the keys of documents."""

    @override
    def derived_parameters(self, settings: Values) -> Values:
        return {**super().derived_parameters(settings), **_dots(settings)}


class ExampleKeysHooks(ReadingHooks):
    """The hooks of the keys of examples."""

    @override
    def derived_parameters(self, settings: Values) -> Values:
        return {**super().derived_parameters(settings), **_dots(settings)}


LIST_STAGE, _KEYS, _TAKEDOWN = (
    Stage(
        name=LIST,
        group="takedown",
        unit_in="keys",
        unit_out="keys",
        description="Keys of all documents that the lists in remove name.",
        partitioning=Partitioning.NONE,
        compute=takedown_list,
        code_version="2",
        io="arrays",
        hooks=ListHooks(),
        kinds=("numpy",),
    ),
    Stage(
        name=KEYS,
        group="takedown",
        unit_in="raw rows",
        unit_out="documents",
        description="Keys that can name the documents of one raw file: id, source and id, URLs, text digests.",
        partitioning=Partitioning.SHARD,
        compute=document_keys,
        code_version="2",
        io="arrays",
        inputs=(same("raw_source"),),
        parameters=(*READING, "remove.url_keys"),
        hooks=KeysHooks(),
        kinds=("numpy",),
    ),
    Stage(
        name=TAKEDOWN,
        group="takedown",
        unit_in="documents",
        unit_out="raw rows",
        description="Rows of one raw file that the lists in remove name; they give no document.",
        partitioning=Partitioning.SHARD,
        compute=partial(takedown, keys_asset=KEYS),
        code_version="1",
        io="arrays",
        inputs=(same(KEYS), same(LIST)),
        kinds=("numpy",),
    ),
)


def with_takedown(normalized: Stage) -> Iterator[Stage]:
    """Yields the takedown stages of sources, and the stage of normalized documents, which leaves out the named rows."""
    yield from (_KEYS, _TAKEDOWN, obeying(normalized, TAKEDOWN))


def examples_with_takedown(stages: Iterable[Stage]) -> Iterator[Stage]:
    """Yields the stages that read datasets' own files without named rows, and their takedown stages."""
    for stage in stages:
        name = stage.shard_set
        if name is None or stage.name != dataset_names.examples(name):
            yield stage
            continue
        keys, rows = dataset_names.document_keys(name), dataset_names.takedown(name)
        yield replace(
            _KEYS,
            name=keys,
            group=stage.group,
            compute=example_keys,
            unit_out="examples",
            inputs=stage.inputs,
            parameters=("remove.url_keys",),
            hooks=ExampleKeysHooks(name),
            shard_set=name,
        )
        compute = partial(takedown, keys_asset=keys)
        yield replace(
            _TAKEDOWN, name=rows, group=stage.group, compute=compute, inputs=(same(keys), same(LIST)), shard_set=name
        )
        yield obeying(stage, rows)
