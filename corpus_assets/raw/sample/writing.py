"""Writes the sample corpus: raw shards in every input format, made of texts that any Python installation has.

It serves a first run without a download (`corpus sample`), and is not a stage: this folder alone of
those in `raw/` works on paths.
"""

import gc
import gzip
import io
import shutil
import tarfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import zstandard
from pyarrow.json import ParseOptions, ReadOptions, read_json

from corpus_assets.raw.sample import sources as texts
from corpus_assets.raw.sample.installed import Installation, installation
from resources.errors import ConfigError, StorageError
from resources.formats.documents import Document, encode_document
from resources.hashing import content_digest
from resources.outside.looking import files_below, is_folder, is_there

VERSION = 4  # version of the sample's recipe: raised whenever the same installation would give other shards
MANIFEST = "sample.json"
MIN_MEGABYTES = 0.5
MAX_MEGABYTES = 64.0
LARGEST_SHARE = 6  # no document takes more than this fraction (one sixth) of its source
MEMBERS_PER_TAR = 3
CONVERSATIONS = "questions"
CONVERSATIONS_PER_MEGABYTE = 50
CONVERSATION_FILES = 2
EXAM = "exam"
EXAM_PASSAGES = 12
PASSAGE_WORDS = 40
ROWS_PER_GROUP = 200
METADATA_FIELDS = ("path", "package", "version", "license")
PARQUET_SCHEMA = pa.schema(
    [(name, pa.string()) for name in ("id", "text", "source", "added", "created")]
    + [("metadata", pa.struct([(name, pa.string()) for name in METADATA_FIELDS]))]
)


@dataclass(frozen=True)
class SourceSummary:
    """Counts of one written source; `pattern` matches its shards below the sample's root."""

    pattern: str
    text_key: str
    documents: int
    text_bytes: int
    shards: int


@dataclass(frozen=True)
class SampleSummary:
    """Counts over all sources; `text_bytes` is the UTF-8 size of the texts alone."""

    documents: int
    text_bytes: int
    shards: int
    sources: dict[str, SourceSummary]


@dataclass(frozen=True)
class _Manifest:
    recipe: str
    summary: SampleSummary
    files: dict[str, int]


ShardWriter = Callable[[Path, Sequence[Document]], None]


@dataclass(frozen=True)
class _Source:
    name: str
    texts: texts.SourceTexts
    share: int  # of the whole text, in parts
    shards: int
    shard_name: str  # with "{}" for the shard's number
    write: ShardWriter
    text_key: str = "text"
    elsewhere: bool = False  # its texts are made in other processes, so this one can write another source


def write_sample(root: Path, *, megabytes: float = 24) -> SampleSummary:
    """Writes about `megabytes` (10^6 bytes) of text to `root/<source>/`, unless the same sample is there already.

    The same interpreter with the same packages gives the same bytes; an installation that has little of some
    kind of text gives a smaller source. All files are written next to `root` and renamed at the end, so `root` is
    complete or absent. A sample of another installation or size is replaced, unless files were added or altered.

    Raises ConfigError for a size out of range, and StorageError if `root` has files that are not of a sample.
    """
    if not MIN_MEGABYTES <= megabytes <= MAX_MEGABYTES:
        raise ConfigError(f"sample: received {megabytes} MB; valid: {MIN_MEGABYTES} to {MAX_MEGABYTES} MB of text")
    root = root.resolve()
    installed = installation()
    recipe = content_digest(*(part.encode() for part in (f"{VERSION} {megabytes:g}", *installed.versions())))
    present = _read_manifest(root)
    if present is not None and present.recipe == recipe:
        return present.summary
    _require_replaceable(root, present)
    partial = root.with_name(f".{root.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    with _without_collector():
        summary = _write_sources(partial, installed, int(megabytes * 1_000_000))
    manifest = _Manifest(recipe, summary, _file_sizes(partial))
    (partial / MANIFEST).write_bytes(msgspec.json.format(msgspec.json.encode(manifest)) + b"\n")
    _replace(root, partial)
    return summary


@contextmanager
def _without_collector() -> Iterator[None]:
    """Pauses the collector: syntax trees hold no cycles, but millions of objects that it would visit repeatedly."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _read_manifest(root: Path) -> _Manifest | None:
    try:
        return msgspec.json.decode((root / MANIFEST).read_bytes(), type=_Manifest)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise StorageError(f"{root / MANIFEST}: not the manifest of a sample corpus ({error})") from error


def _require_replaceable(root: Path, present: _Manifest | None) -> None:
    expected = present.files if present is not None else {}
    found = _file_sizes(root) if is_folder(root) else {root.name: 0} if is_there(root) else {}
    altered = sorted(name for name, size in found.items() if name != MANIFEST and expected.get(name) != size)
    if altered:
        raise StorageError(
            f"{root}: would replace {len(altered)} files that are not the sample's own, {altered[0]} first; "
            "remove the folder or give another one"
        )


def _file_sizes(root: Path) -> dict[str, int]:
    return {path.relative_to(root).as_posix(): path.lstat().st_size for path in files_below(root)}


def _replace(root: Path, partial: Path) -> None:
    old = root.with_name(f".{root.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    if is_there(root):
        root.rename(old)
    partial.rename(root)
    shutil.rmtree(old, ignore_errors=True)


def _write_sources(root: Path, installed: Installation, size: int) -> SampleSummary:
    parts = sum(source.share for source in SOURCES)

    def write(source: _Source) -> SourceSummary:
        return _write_source(root / source.name, source, installed, size * source.share // parts)

    with ThreadPoolExecutor(1) as waiting:
        pending = {source.name: waiting.submit(write, source) for source in SOURCES if source.elsewhere}
        written = {source.name: write(source) for source in SOURCES if not source.elsewhere}
        _write_conversations(root / CONVERSATIONS, installed, size * CONVERSATIONS_PER_MEGABYTE // 1_000_000)
        _write_exam(root / EXAM, installed)
        written |= {name: future.result() for name, future in pending.items()}
    summaries = {source.name: written[source.name] for source in SOURCES}
    return SampleSummary(
        documents=sum(summary.documents for summary in summaries.values()),
        text_bytes=sum(summary.text_bytes for summary in summaries.values()),
        shards=sum(summary.shards for summary in summaries.values()),
        sources=summaries,
    )


def _write_conversations(folder: Path, installed: Installation, count: int) -> None:
    """Writes files for a dataset; they are not a source of the corpus, so the summary does not count them."""
    usable = (turns for turns in texts.conversations(installed) if all(_encoded_size(text) for _, text in turns))
    rows: list[dict[str, object]] = [
        {"messages": [{"role": r, "content": text} for r, text in turns]} for turns in islice(usable, count)
    ]
    folder.mkdir(parents=True)
    for number in range(CONVERSATION_FILES):
        (folder / f"part-{number:02d}.jsonl").write_bytes(_lines(rows[number::CONVERSATION_FILES]))


def _write_exam(folder: Path, installed: Installation) -> None:
    """Writes a tiny benchmark: passages of the corpus, and each again with its words reversed."""
    split = (document.text.split() for document in texts.package_texts(installed))
    found = (words[100:][:PASSAGE_WORDS] for words in split if 200 < len(words) < 2000)
    passages = list(islice(found, EXAM_PASSAGES))
    rows: list[dict[str, object]] = []
    for number, words in enumerate(passages):
        rows.append({"id": f"planted-{number:02d}", "question": " ".join(words)})
        rows.append({"id": f"new-{number:02d}", "question": " ".join(words[::-1])})
    folder.mkdir(parents=True)
    (folder / "items.jsonl").write_bytes(_lines(rows))


def _write_source(folder: Path, source: _Source, installed: Installation, budget: int) -> SourceSummary:
    documents = [msgspec.structs.replace(row, source=source.name) for row in take(source.texts(installed), budget)]
    folder.mkdir(parents=True)
    for number in range(source.shards):
        # Documents go to the shards in turn: no shard is empty at any size, and near-duplicates are in several shards.
        source.write(folder / source.shard_name.format(f"{number:02d}"), documents[number :: source.shards])
    return SourceSummary(
        pattern=f"{source.name}/{source.shard_name.format('*')}",
        text_key=source.text_key,
        documents=len(documents),
        text_bytes=sum(len(document.text.encode()) for document in documents),
        shards=source.shards,
    )


def take(documents: Iterable[Document], budget: int) -> Iterator[Document]:
    """Yields documents until they have `budget` bytes; skips blank, oversized and unencodable texts."""
    left = budget
    for document in documents:
        size = _encoded_size(document.text)
        if document.text.strip() and size is not None and size <= budget // LARGEST_SHARE:
            yield document
            left -= size
        if left <= 0:
            return


def _encoded_size(text: str) -> int | None:
    """Returns the number of UTF-8 bytes; None for a text with lone surrogates, as escapes in a docstring can give."""
    try:
        return len(text.encode())
    except UnicodeEncodeError:
        return None


def _write_dolma_gzip(path: Path, documents: Sequence[Document]) -> None:
    path.write_bytes(gzip.compress(b"".join(map(encode_document, documents)), compresslevel=6, mtime=0))


def _write_meta_gzip(path: Path, documents: Sequence[Document]) -> None:
    path.write_bytes(gzip.compress(_meta_rows(documents), compresslevel=6, mtime=0))


def _write_meta_zstd(path: Path, documents: Sequence[Document]) -> None:
    path.write_bytes(zstandard.compress(_meta_rows(documents)))


def _write_meta_tar(path: Path, documents: Sequence[Document]) -> None:
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as archive:
        for number in range(MEMBERS_PER_TAR):
            content = zstandard.compress(_meta_rows(documents[number::MEMBERS_PER_TAR]))
            member = tarfile.TarInfo(f"part-{number}.jsonl.zst")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


def _meta_rows(documents: Iterable[Document]) -> bytes:
    """Returns rows as in RedPajama, `{"text", "meta"}` without an id (docs/formats/slimpajama.md "Input rows")."""
    return _lines({"text": document.text, "meta": document.metadata} for document in documents)


def _write_body_rows(path: Path, documents: Sequence[Document]) -> None:
    rows = ({"id": row.id, "body": row.text, **msgspec.json.decode(row.metadata)} for row in documents)
    path.write_bytes(_lines(rows))


def _lines(rows: Iterable[dict[str, object]]) -> bytes:
    return b"".join(msgspec.json.encode(row) + b"\n" for row in rows)


def _write_parquet(path: Path, documents: Sequence[Document]) -> None:
    rows = b"".join(map(encode_document, documents))
    # Not `Table.from_pylist`: that loads pandas.
    whole, fields = ReadOptions(block_size=len(rows) + 1), ParseOptions(explicit_schema=PARQUET_SCHEMA)
    table = read_json(io.BytesIO(rows), whole, fields)
    pq.write_table(table, path, compression="zstd", row_group_size=ROWS_PER_GROUP)


def _write_text_list(path: Path, documents: Sequence[Document]) -> None:
    """Writes one `.txt` file per document, and the list of paths (docs/formats/cerebras-hdf5.md "Reading input")."""
    names = [f"texts/{document.id}.txt" for document in documents]
    for name, document in zip(names, documents, strict=True):
        file = path.parent / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(document.text.encode())
    path.write_bytes("".join(f"{name}\n" for name in names).encode())


SOURCES = (
    _Source("code", texts.standard_code, 6, 5, "part-{}.jsonl.gz", _write_dolma_gzip),
    _Source("modules", texts.package_code, 6, 5, "part-{}.parquet", _write_parquet),
    _Source("native", texts.native_code, 3, 3, "part-{}.jsonl.zst", _write_meta_zstd),
    _Source("docstrings", texts.docstrings, 4, 3, "part-{}.jsonl.zst.tar", _write_meta_tar, elsewhere=True),
    _Source("packages", texts.package_texts, 2, 2, "part-{}.jsonl", _write_body_rows, text_key="body"),
    _Source("licenses", texts.licences, 2, 2, "list-{}.txt", _write_text_list),
    _Source("reference", texts.reference, 2, 2, "part-{}.json.gz", _write_meta_gzip),
)
