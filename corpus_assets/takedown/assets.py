"""Stages of takedown: the list, the keys of each shard's documents, and the rows of each shard that the list names."""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import chain, islice
from typing import Any

import numpy as np

from corpus_assets.normalize.reading import READING, documents_of, source_parameters
from corpus_assets.normalize.takedown import NOTHING, NUMBER, ROWS, TAKEDOWN, obeying
from corpus_assets.normalize.text import normalizer
from corpus_assets.raw.bad_rows import write_good_rows
from corpus_assets.takedown.keys import keys_of
from corpus_assets.takedown.lists import LIST_BYTES, all_keys, entries
from corpus_assets.takedown.rows import ROW_KEY, named_rows, packed
from resources.config_files import matching, read_outside
from resources.formats.documents import Document
from resources.hashing import content_digest
from resources.stage.declaration import Partitioning, Stage, Values, same
from resources.stage.task import Task

LIST, KEYS = "takedown_list", "document_keys"
_BLOCK = 1 << 14


def takedown_list(task: Task) -> None:
    """Writes the keys of all documents that the lists name."""
    keys = all_keys(entries(task.local_files, None))
    task.save_array("takedown/list.npy", packed(keys))
    task.count(rows_out=len(keys), lists=len(task.local_files))


def document_keys(task: Task) -> None:
    """Writes the keys by which the documents of one raw file can be named."""
    write_good_rows(task, documents_of(task), task["source.on_bad_file"], partial(_write_keys, task))


def _write_keys(task: Task, documents: Iterator[Document]) -> None:
    fix, url_keys = normalizer(task["normalize.method"]), task["remove.url_keys"]
    rows = 0

    def keys() -> Iterator[bytes]:
        nonlocal rows
        for number, document in enumerate(documents):
            place = number.to_bytes(4, "little")
            yield from (place + key for key in keys_of(document, (document.text, fix(document.text)), url_keys))
            rows += 1

    with task.array(f"takedown/keys/{task.shard.source}/{task.shard.name}.npy", ROW_KEY) as out:
        found = keys()
        while block := b"".join(islice(found, _BLOCK)):
            out.append(np.frombuffer(block, dtype=ROW_KEY))
    task.save_counters(NUMBER, {"rows": rows})
    task.count(rows_out=rows)


def takedown(task: Task) -> None:
    """Writes the rows of one raw file that the lists name, in ascending order."""
    keys = task.input(KEYS)
    rows = named_rows(keys.array(".npy"), task.input(LIST).array(".npy"))
    task.save_array(f"takedown/rows/{task.shard.source}/{task.shard.name}.npy", rows)
    task.segments[ROWS] = content_digest(rows.tobytes()) if len(rows) else NOTHING
    task.save_counters(NUMBER, keys.counters(NUMBER))
    task.count(rows_out=len(rows))


def lists_of(settings: Values) -> dict[str, bytes]:
    """Returns the contents of all lists by file name; `ConfigError` if there is none, or one cannot be read."""
    files = matching("remove.location", settings["remove"]["location"])
    return {name: read_outside("remove.location", path, LIST_BYTES) for name, path in files.items()}


def _list_parameters(settings: Values) -> Mapping[str, Any]:
    return {"remove.lists": content_digest(*sorted(lists_of(settings).values()))}


def _check_lists(settings: Values) -> None:
    for _ in entries(lists_of(settings), [source["name"] for source in settings["sources"]]):
        pass


STAGES = (
    Stage(
        name=LIST,
        group="takedown",
        description="Keys of all documents that the lists of `remove` name.",
        partitioning=Partitioning.NONE,
        compute=takedown_list,
        code_version="1",
        io="arrays",
        derived_parameters=_list_parameters,
        local_files=lists_of,
        check_before=_check_lists,
        kinds=("numpy",),
    ),
    Stage(
        name=KEYS,
        group="takedown",
        description="Keys by which the documents of one raw file can be named: id, source and id, URLs, text digests.",
        partitioning=Partitioning.SHARD,
        compute=document_keys,
        code_version="1",
        io="arrays",
        inputs=(same("raw_source"),),
        parameters=(*READING, "remove.url_keys"),
        source_parameters=source_parameters,
        kinds=("numpy",),
    ),
    Stage(
        name=TAKEDOWN,
        group="takedown",
        description="Rows of one raw file that the lists of `remove` name; no document is made of them.",
        partitioning=Partitioning.SHARD,
        compute=takedown,
        code_version="1",
        io="arrays",
        inputs=(same(KEYS), same(LIST)),
        kinds=("numpy",),
    ),
)


def takedown_stages(normalized: Stage, *, configured: bool) -> Iterable[Stage]:
    """Returns the stages of takedown, if it is configured, and the stage of normalized documents that obeys them."""
    return chain(STAGES, [obeying(normalized)]) if configured else [normalized]
