"""A small corpus of several sources and formats, and what the tests ask of one: build it, look at it, compare it."""

import gzip
import io
import json
import random
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq
import yaml
import zstandard
from typing_extensions import override

from corpus_assets.config.reading.loading import parse_config
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.corpus.loop import Follower, Loop
from corpus_assets.corpus.replaced import replaced_files
from corpus_assets.corpus.restamping import restamp
from corpus_assets.report.assets import NAME as REPORT
from resources.formats.hdf5.reader import read_hdf5
from resources.formats.jsonl.compressions import ENDINGS, JSONL, without_suffix
from resources.formats.jsonl.members import TABLE
from resources.hashing import content_digest
from resources.ledger.ledger import Record
from resources.planning.frontier import Frontier
from resources.planning.planner import Plan, Status
from resources.stage.declaration import Input, Reads, Stage
from resources.stage.graph import Graph
from resources.stage.jobs.job import Outcome
from resources.stage.partition import Partition

Key = tuple[str, str | None]
Rows = list[dict[str, Any]]

SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "el", "or", "is", "ut")]
CONFIG: dict[str, Any] = {
    "name": "small",
    "sources": [
        {"name": "books", "location": "raw/books"},
        {"name": "web", "location": "raw/web", "epochs": 1.5},
        {"name": "notes", "location": "raw/notes", "text_key": "body"},
    ],
    "short_documents": {"threshold": 60},
    "minhash": {"permutations": 64, "width": 5, "bands": 3, "rows": 8},
    "dedup": {"ranges": 2},
    "mix": {"chunks": 3},
    "split": {"holdout": 0.2},
    "tokenizer": {"kind": "train", "vocabulary": 300, "sample": 20000},
    "datasets": [
        {"name": "train", "input": "decontaminated_train", "sequence_length": 64},
        {"name": "validation", "input": "validation", "sequence_length": 64},
    ],
    "engine": {"workers": 0},
    "storage": {"sync": False},
}


def prose(seed: int | str, words: int = 40) -> str:
    """Made-up sentences; the same for the same seed."""
    chance = random.Random(f"prose {seed}")
    return " ".join("".join(chance.choices(SYLLABLES, k=3)) for _ in range(words)) + "."


def near(text: str) -> str:
    """A near-duplicate: the last word is another."""
    return text.rpartition(" ")[0] + " ending."


def raw_rows() -> dict[str, Rows]:
    """Rows of every raw file by path: duplicates within and across shards and sources, short and empty ones."""
    rows: dict[str, Rows] = {}
    for shard, source, count in _SHARDS:
        rows[shard] = [{"id": f"{source}-{shard[-12:-6]}-{n}", "text": prose(f"{shard} {n}")} for n in range(count)]
    rows["books/one.jsonl"][1]["text"] = "Too short."
    rows["books/two.jsonl.gz"][0]["text"] = rows["books/one.jsonl"][0]["text"]
    rows["books/two.jsonl.gz"][2]["text"] = near(rows["books/one.jsonl"][2]["text"])
    rows["web/deep/a.parquet"][3]["text"] = near(rows["books/one.jsonl"][2]["text"])
    rows["web/b.jsonl.zst"][1]["text"] = rows["web/deep/a.parquet"][1]["text"]
    rows["notes/list.jsonl"][0]["text"] = rows["books/two.jsonl.gz"][4]["text"]
    rows["notes/list.jsonl"][1]["text"] = ""
    return rows


_SHARDS = (
    ("books/one.jsonl", "books", 9),
    ("books/two.jsonl.gz", "books", 8),
    ("books/three.jsonl", "books", 6),
    ("web/deep/a.parquet", "web", 8),
    ("web/b.jsonl.zst", "web", 7),
    ("notes/list.jsonl", "notes", 5),
    ("notes/single.txt", "notes", 1),
)


def write_raw(folder: Path, path: str, rows: Rows) -> None:
    """Write one raw file in the format its name says."""
    file = folder / "raw" / path
    file.parent.mkdir(parents=True, exist_ok=True)
    if path.startswith("notes/"):
        rows = [{"id": row["id"], "body": row["text"]} for row in rows]
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    if path.endswith(".parquet"):
        pq.write_table(pa.Table.from_pylist(rows), file)
    elif path.endswith(".gz"):
        file.write_bytes(gzip.compress(lines, mtime=0))
    elif path.endswith(".zst"):
        file.write_bytes(zstandard.compress(lines))
    elif path.endswith(".txt"):
        file.write_text(rows[0]["body"], encoding="utf-8")
    else:
        file.write_bytes(lines)


def write_config(folder: Path, changes: Mapping[str, Any] | None = None) -> None:
    """Write corpus.yaml: the small configuration with values replaced by dotted key."""
    config = json.loads(json.dumps(CONFIG))
    for key, value in (changes or {}).items():
        *path, last = key.split(".")
        section: Any = config
        for name in path:
            section = section[int(name)] if isinstance(section, list) else section.setdefault(name, {})
        section[last] = value
    parse_config(config)
    (folder / "corpus.yaml").write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")


def save_tokenizer(path: Path) -> None:
    """Writes a small `tokenizer.json`: unlike one that the corpus trains, it is no matter of when it was trained."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=300,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=["<|endoftext|>"],
        show_progress=False,
    )
    tokenizer.train_from_iterator([prose(number) for number in range(20)], trainer)
    tokenizer.save(str(path))


def write_small(folder: Path, changes: Mapping[str, Any] | None = None) -> Path:
    """Write the raw files and the configuration of the small corpus."""
    for path, rows in raw_rows().items():
        write_raw(folder, path, rows)
    write_config(folder, changes)
    return folder


@dataclass
class Built:
    """The results of a build without Dagster."""

    recomputed: set[Key] = field(default_factory=set)
    failed: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)

    def of(self, asset: str) -> set[str | None]:
        """Recomputed partitions of one asset."""
        return {key for name, key in self.recomputed if name == asset}

    def assets(self) -> set[str]:
        """Assets of which anything was recomputed."""
        return {name for name, _ in self.recomputed}


@dataclass
class _Noting(Follower):
    """Notes what a loop computes."""

    built: Built

    @override
    def done(self, outcome: Outcome, why: str) -> None:
        if outcome.error is None:
            self.built.recomputed.add((outcome.asset, outcome.partition))
        else:
            self.built.failed.append(f"{outcome.name}: {outcome.error}")


def drive(corpus: Corpus, stages: Sequence[Stage] | None = None) -> Built:
    """Bring a corpus up to date as `corpus build` does, without Dagster around it and without the report."""
    built, planner, stages = Built(), corpus.planner(), stages or reported_on(corpus.graph)
    with corpus.building(), replaced_files(corpus) as replaced:
        for stage in stages:
            restamp(planner, planner.decisions(stage).values(), corpus.builder)
        loop = Loop(corpus, planner, Frontier(planner, stages), _Noting(built), replaced)
        loop.settle()
        loop.run()
    corpus.engine.close()
    planner = corpus.planner()
    decisions = (decision for stage in stages for decision in planner.decisions(stage).values())
    built.waiting += [f"{one.asset}/{one.partition}: {one.blocked}" for one in decisions if one.blocked]
    return built


def reported_on(stages: Iterable[Stage]) -> list[Stage]:
    """All stages but the report, which reads every other and changes with each of them: tests/report is about it."""
    return [stage for stage in stages if stage.name != REPORT]


def opened(folder: Path) -> Corpus:
    """The corpus of a folder, as a new process would open it."""
    return Corpus.open(folder / "corpus.yaml")


def live_records(corpus: Corpus) -> dict[Key, Record]:
    """Every record of a partition that the corpus has now, in the order in which partitions are read."""
    planner = corpus.planner()
    wanted = [(stage, key) for stage in reported_on(corpus.graph) for key in planner.partitions(stage)]
    found = ((stage.name, key, planner.records(stage.name).get(key)) for stage, key in wanted)
    return {(asset, key): record for asset, key, record in found if record is not None}


def digests(corpus: Corpus) -> dict[Key, str]:
    """Content digest of every live partition, as its record says."""
    return {name: record.digest for name, record in live_records(corpus).items()}


def built_here(folder: Path, changes: Mapping[str, Any] | None = None) -> dict[str, str]:
    """Contents of the small corpus as a build in this process makes it."""
    corpus = opened(write_small(folder, changes))
    assert drive(corpus).failed == []
    return contents(corpus)


def contents(corpus: Corpus) -> dict[str, str]:
    """Digest of the decompressed bytes of every live file, by path: looks at the files, not at what is recorded."""
    found = {}
    for record in live_records(corpus).values():
        partition = Partition(corpus.storage, record)
        for file in record.files:
            if not file.path.endswith(TABLE):  # It says how the file beside it is compressed.
                with partition.open(file.path) as raw:
                    found[uncompressed(file.path)] = content_digest(*decompressed(raw, file.path))
    return found


def uncompressed(path: str) -> str:
    """The path of a file, of one of rows without the suffix of its compression."""
    return f"{without_suffix(path)}{JSONL}" if path.endswith(ENDINGS) else path


def decompressed(raw: BinaryIO, path: str) -> Iterator[bytes]:
    """Bytes of a stored file before it was compressed: isal does not always compress the same bytes alike."""
    if path.endswith(".h5"):
        with read_hdf5(raw, path) as rows:
            yield from (block.tobytes() for block in rows.blocks())
            yield repr(sorted((name, str(value)) for name, value in rows.attributes.items())).encode()
        return
    stored = raw.read()
    if path.endswith(".gz"):
        yield gzip.decompress(stored)
    elif path.endswith(".zst"):
        with zstandard.ZstdDecompressor().stream_reader(io.BytesIO(stored), read_across_frames=True) as stream:
            yield stream.read()
    elif path.endswith(".lz4"):
        with pa.CompressedInputStream(pa.BufferReader(stored), "lz4") as stream:
            yield stream.read()
    else:
        yield stored


def statuses(plan: Plan) -> dict[Key, tuple[str, str]]:
    """Status and reason of every partition that is not fresh; the report is left out."""
    decisions = [one for one in plan.decisions if one.asset != REPORT and one.status is not Status.FRESH]
    return {(one.asset, one.partition): (str(one.status), one.reason) for one in decisions}


def entitled(graph: Graph, before: Mapping[Key, Record], after: Mapping[Key, Record]) -> set[Key]:
    """Partitions that had a right to be recomputed: new, other parameters or version, or other content to read."""
    return {name for name, record in after.items() if _may_change(graph[name[0]], name[1], before, after, record)}


def _may_change(
    stage: Stage, key: str | None, before: Mapping[Key, Record], after: Mapping[Key, Record], record: Record
) -> bool:
    old = before.get((stage.name, key))
    if old is None or (old.code_version, old.parameters) != (record.code_version, record.parameters):
        return True
    if stage.looks_outside:
        return list(old.inputs.items()) != list(record.inputs.items())
    return any(_read(edge, key, before) != _read(edge, key, after) for edge in stage.inputs if edge.tracked)


def _read(edge: Input, key: str | None, records: Mapping[Key, Record]) -> list[tuple[Key, str]]:
    """Content of an upstream asset as one partition sees it, in the order in which it is read."""
    found = {name: record for name, record in records.items() if name[0] == edge.asset}
    if edge.mapping is Reads.SAME:
        found = {name: record for name, record in found.items() if name[1] in (key, None)}
    if edge.mapping is Reads.OWN_SEGMENT:
        return [(name, record.segments.get(key or "", "")) for name, record in found.items()]
    if edge.segment is not None:
        return [(name, record.segments.get(edge.segment, "")) for name, record in found.items()]
    return [(name, record.digest) for name, record in found.items()]


class Work:
    """A built small corpus that a test changes and builds again; remembers the records it began with."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.look()

    def look(self) -> None:
        """Remember what is there, as the state that the next build begins with."""
        self.before = live_records(opened(self.folder))

    def rows(self, path: str, rows: Rows) -> None:
        """Replace a raw file."""
        write_raw(self.folder, path, rows)

    def config(self, **changes: Any) -> None:
        """Replace values of corpus.yaml; `__` in a key stands for a dot."""
        write_config(self.folder, {key.replace("__", "."): value for key, value in changes.items()})

    def plan(self) -> dict[Key, tuple[str, str]]:
        """The partitions that are not fresh, with the reasons."""
        return statuses(opened(self.folder).planner().plan())

    def rebuild(self) -> Built:
        """Build again; whatever was recomputed had to be, and the whole equals a build from nothing."""
        corpus = opened(self.folder)
        built = drive(corpus)
        assert not built.failed
        assert not built.waiting
        after = live_records(corpus)
        assert built.recomputed <= entitled(corpus.graph, self.before, after)
        found, anew = contents(corpus), contents(self.from_nothing())
        assert {path for path in found.keys() | anew.keys() if found.get(path) != anew.get(path)} == set()
        self.before = after
        return built

    def from_nothing(self) -> Corpus:
        """The same raw files, configuration and tokenizer (which is kept once it is trained), in an empty store."""
        folder = self.folder.parent / "scratch"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.folder, folder, ignore=shutil.ignore_patterns("corpus"))
        for kept in ("tokenizer", "ledger/tokenizer"):
            shutil.copytree(self.folder / "corpus" / kept, folder / "corpus" / kept)
        corpus = opened(folder)
        assert not drive(corpus).failed
        return corpus
