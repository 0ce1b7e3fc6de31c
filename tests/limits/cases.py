"""For every limit an input that measures exactly so much, and what reads it.

Most limits are large, so a test sets them to the measure of a small input, and to one less.
"""

import ast
import gzip
import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np
import pyarrow as pa

from corpus_assets.attributes import lists
from corpus_assets.attributes.files.values import BadValueError, Keys
from corpus_assets.audit import sheet
from corpus_assets.classifiers import model
from corpus_assets.classifiers.files import ExampleFile
from corpus_assets.config.reading.changes import with_changes
from corpus_assets.config.reading.extending import read_values
from corpus_assets.config.reading.strict_yaml import load_yaml
from corpus_assets.export.amber import check
from corpus_assets.importer.datatrove.script import read_pipelines
from corpus_assets.importer.shell.commands import read_commands
from corpus_assets.raw.readers import BadRow, Limits, RawFile, RowRules, read_documents
from corpus_assets.raw.web.headers import HeaderError, read_headers
from corpus_assets.token_files import npy, raw_ids
from corpus_assets.token_files.indexed import read_index
from corpus_assets.token_files.pieces import TokenFile
from corpus_assets.tokenize.modes.chat.dialogues import Dialogue, TemplateFault
from corpus_assets.tokenize.modes.chat.template import ChatTemplate
from corpus_assets.tokenize.template_files import template_source
from corpus_assets.tokenize.tokenizers.files import chat_template, needed
from corpus_assets.tokenize.tokenizers.ids_alone import IdsAlone
from corpus_assets.viewer.query import Query, RefusedError
from resources.config_files import read_outside
from resources.endpoint.client import Address, Client
from resources.errors import CorpusError
from resources.formats.hdf5.reader import read_hdf5
from resources.outside_files import OutsideFile, outside_digest
from resources.raw_places import web
from resources.raw_places.connection import get
from tests.attributes.endpoint_server import endpoint
from tests.web_server import serving

TEN = "0123456789"


class RefusedRowError(Exception):
    """What was read is a bad row or line."""


REFUSALS = (CorpusError, BadValueError, HeaderError, TemplateFault, RefusedError, RefusedRowError)


@dataclass(frozen=True)
class Case:
    """An input and what reads it in a folder, with a limit. measure: the least limit within which it is read.

    also: further names under which the code has the limit.
    """

    measure: int
    read: Callable[[Path, int], object]
    also: tuple[str, ...] = ()


def documents(content: bytes, name: str = "a.jsonl", **limits: int) -> None:
    """Reads a raw file; `RefusedRowError` if its row is bad."""
    for one in read_documents(RawFile(name, lambda: io.BytesIO(content)), RowRules("s"), Limits(**limits)):
        if isinstance(one, BadRow):
            raise RefusedRowError(one)


def written(folder: Path, content: bytes, name: str = "file") -> Path:
    (folder / name).write_bytes(content)
    return folder / name


def extended(folder: Path, _: int) -> object:
    (folder / "0.yaml").write_text("sources: []\n")
    for number in range(1, 4):
        (folder / f"{number}.yaml").write_text(f"extends: {number - 1}.yaml\n")
    return read_values(folder / "3.yaml")


def redirected(folder: Path, _: int) -> None:
    written(folder, b"x", "3")
    with serving(folder) as site:
        site.redirects = {str(number): f"{site.url}/{number + 1}" for number in range(3)}
        get(f"{site.url}/0", "a").close()


def sent_again(folder: Path, _: int) -> None:
    written(folder, b"x", "a")
    with serving(folder) as site:
        site.fault = lambda _, number: 503 if number <= 2 else None
        get(f"{site.url}/a", "a").close()


def listed(content: bytes, folder: Path) -> object:
    written(folder, content, "list.txt")
    with serving(folder) as site:
        return list(web._lines(f"{site.url}/list.txt", "list"))


def answered(folder: Path, _: int) -> object:
    with endpoint(lambda *_: (200, b'"' + b"a" * 98 + b'"')) as served:
        return Client(Address(served.url, "m", retries=0), folder).ask("/x", {})


def npy_header(*_: object) -> object:
    stream = io.BytesIO()
    np.save(stream, np.arange(3))
    stream.seek(0)
    return npy.integers(TokenFile(stream, "a.npy"))


def olmo_number(*_: object) -> object:
    if raw_ids._id_number("7" * 12) < 0:
        raise RefusedRowError
    return None


def hdf5(*_: object) -> object:
    stream = io.BytesIO()
    with h5py.File(stream, "w") as file:
        file.create_dataset("data", data=np.zeros((4, 3, 8), "<i4"), chunks=(2, 3, 8))
        file.attrs["n_examples"] = 4
    return read_hdf5(stream)


def arrow_stream() -> bytes:
    stream = io.BytesIO()
    with pa.ipc.new_stream(stream, pa.schema([("text", pa.string())])) as sink:
        sink.write_batch(pa.record_batch({"text": ["one row"]}))
    return stream.getvalue()


def longest_message(content: bytes) -> int:
    """Returns the bytes of the longer one of two descriptions, of the schema and of a batch: each after 8 bytes."""
    first = int.from_bytes(content[4:8], "little")
    return max(first, int.from_bytes(content[first + 12 : first + 16], "little"))


def rendered(*_: object) -> object:
    dialogue = Dialogue([{"role": "user", "content": TEN}])
    return ChatTemplate("{{ messages[0].content }}").render(dialogue, {})


def labels(*_: object) -> object:
    keys = Keys("e")
    return [keys.label("k", name) for name in ("a", "b", "c")]


def all_keys(*_: object) -> object:
    keys = Keys("e")
    return [keys.name(name) for name in ("a", "b", "c")]


def classifier(*_: object) -> object:
    content = model.MAGIC + b" " * 50 + b"{}\n"
    try:
        return model.decoded("a", content)
    except CorpusError as error:
        if "missing required field" not in str(error):
            raise
        return None


def windows(*_: object) -> None:
    if None in check._lines(io.BytesIO(TEN.encode() + b"\n")):
        raise RefusedRowError


def folder_of(folder: Path, _: int) -> object:
    for name in "abc":
        written(folder, b"x", name)
    return outside_digest("key", [str(folder)])


def outside(folder: Path, most: int) -> object:
    return read_outside("key", str(written(folder, b"x" * 30)), most)


def nodes(folder: Path, _: int) -> object:
    return read_pipelines(written(folder, SCRIPT.encode(), "a.py"))


def judged(folder: Path, _: int) -> object:
    row = "judgement,removed_shard,removed_row,build\n,a,1,b\n"
    return sheet.judgements(written(folder, row.encode()), "b")


PACKED = gzip.compress(b"a" * 10_000, mtime=0)
ARROW = arrow_stream()
SCRIPT = "pipeline = [JsonlReader('a'), JsonlWriter('b')]\n"
NESTED = b'{"text": "a", "metadata": {"a": ' + b"[" * 5 + b"]" * 5 + b"}}\n"
YAML = "sources: []  # " + "x" * 100

CASES: Mapping[str, Case] = {
    "corpus_assets.config.reading.strict_yaml:MAX_CONFIG_BYTES": Case(
        len(YAML),
        lambda folder, _: read_values(written(folder, YAML.encode())),
        ("corpus_assets.config.reading.extending:MAX_CONFIG_BYTES",),
    ),
    "corpus_assets.config.reading.strict_yaml:MAX_VALUES": Case(6, lambda *_: load_yaml("[1, 2, 3, 4, 5]", "a")),
    "corpus_assets.config.reading.extending:MOST_FILES": Case(4, extended),
    "corpus_assets.config.reading.changes:MOST": Case(3, lambda *_: with_changes({"a": 1}, ["a=1"] * 3)),
    "corpus_assets.importer.datatrove.script:_MOST_NODES": Case(sum(1 for _ in ast.walk(ast.parse(SCRIPT))), nodes),
    "corpus_assets.importer.shell.commands:MOST_COMMANDS": Case(3, lambda *_: read_commands("a\nb\nc\n", "a.sh")),
    "corpus_assets.importer.shell.commands:LONGEST_LINE": Case(10, lambda *_: read_commands(TEN, "a.sh")),
    "corpus_assets.raw.rows.rules:Limits.line_bytes": Case(
        21, lambda _, most: documents(b'{"text": "' + b"a" * 9 + b'"}\n', line_bytes=most)
    ),
    "corpus_assets.raw.rows.rules:Limits.nesting": Case(6, lambda _, most: documents(NESTED, nesting=most)),
    "corpus_assets.raw.rows.rules:Limits.ratio": Case(
        -(-10_000 // len(PACKED)), lambda _, most: documents(PACKED, "a.txt.gz", free_bytes=0, ratio=most)
    ),
    "corpus_assets.raw.rows.rules:Limits.free_bytes": Case(
        10_000, lambda _, most: documents(PACKED, "a.txt.gz", free_bytes=most, ratio=0)
    ),
    "corpus_assets.raw.formats.arrow_messages:_MOST_METADATA": Case(
        longest_message(ARROW), lambda *_: documents(ARROW, "a.arrow")
    ),
    "corpus_assets.raw.web.headers:HEADER_BYTES": Case(
        15, lambda *_: read_headers(io.BytesIO(b"one\r\ntwo: 3\r\n\r\nmore"))
    ),
    "resources.raw_places.web:LIST_BYTES": Case(
        30, lambda folder, _: listed(b"a.jsonl\nb.jsonl\nlonger.jsonl.gz\n"[:30], folder)
    ),
    "resources.raw_places.web:LIST_LINES": Case(2, lambda folder, _: listed(b"a\nb\n", folder)),
    "resources.raw_places.web:LINE_BYTES": Case(9, lambda folder, _: listed(b"a\nlonger.x\n", folder)),
    "resources.raw_places.connection:_REDIRECTS": Case(3, redirected),
    "resources.raw_places.connection:TRIES": Case(2, sent_again),
    "resources.endpoint.client:_MOST_BYTES": Case(100, answered),
    "corpus_assets.token_files.npy:_LONGEST_HEADER": Case(118, npy_header),
    "corpus_assets.token_files.indexed:_LONGEST": Case(
        9, lambda *_: read_index(TokenFile(io.BytesIO(b'{"a": 12}'), "index.json"), dict[str, int])
    ),
    "corpus_assets.token_files.raw_ids:_MOST_DIGITS": Case(12, olmo_number),
    "resources.formats.hdf5.reader:MAX_CHUNK_BYTES": Case(2 * 3 * 8 * 4, hdf5),
    "corpus_assets.tokenize.tokenizers.files:MAX_FILE_BYTES": Case(10, lambda *_: needed({"a": TEN.encode()}, "a")),
    "corpus_assets.tokenize.tokenizers.files:MAX_VOCABULARY": Case(
        7, lambda *_: IdsAlone.of({"vocabulary": 7}), ("corpus_assets.tokenize.tokenizers.ids_alone:MAX_VOCABULARY",)
    ),
    "corpus_assets.tokenize.tokenizers.files:MAX_TEMPLATE_CHARACTERS": Case(
        10, lambda *_: chat_template({}, {"chat_template": TEN})
    ),
    "corpus_assets.tokenize.template_files:MAX_TEMPLATE_BYTES": Case(
        10, lambda folder, _: template_source(str(written(folder, TEN.encode(), "a.jinja")), "key")
    ),
    "corpus_assets.tokenize.modes.chat.template:MAX_TEMPLATE": Case(10, lambda *_: ChatTemplate(TEN)),
    "corpus_assets.tokenize.modes.chat.template:MAX_OUTPUT": Case(10, rendered),
    "corpus_assets.takedown.lists:LIST_BYTES": Case(30, outside),
    "corpus_assets.attributes.lists:LONGEST_LINE": Case(
        11, lambda folder, _: list(lists.lines_of(OutsideFile(str(written(folder, b"a\n" + TEN.encode())))))
    ),
    "corpus_assets.attributes.lists:LARGEST_JSON": Case(
        8, lambda folder, _: list(lists.sites_in([OutsideFile(str(written(folder, b"[      ]")))]))
    ),
    "resources.outside_files:_MAX_FILES": Case(3, folder_of),
    "corpus_assets.attributes.files.values:MOST_LABELS": Case(3, labels),
    "corpus_assets.attributes.files.values:LONGEST_LABEL": Case(10, lambda *_: Keys("e").label("k", TEN)),
    "corpus_assets.attributes.files.values:MOST_KEYS": Case(3, all_keys),
    "corpus_assets.classifiers.files:_LONGEST": Case(
        16, lambda folder, _: list(ExampleFile(OutsideFile(str(written(folder, b'{"text": "abc"}'))), "x", []).texts())
    ),
    "corpus_assets.classifiers.model:_LONGEST_HEAD": Case(53, classifier),
    "corpus_assets.export.hooks:MAX_WEIGHTS_BYTES": Case(30, outside),
    "corpus_assets.audit.sheet:_MOST_BYTES": Case(49, judged),
    "corpus_assets.export.amber.check:LONGEST_LINE": Case(11, windows),
    "corpus_assets.viewer.query:MOST_NAME": Case(10, lambda _, most: Query({"a": TEN}).text("a", most)),
    "corpus_assets.viewer.query:MOST_TEXT": Case(10, lambda _, most: Query({"a": TEN}).text("a", most)),
}
