"""`corpus packing`: the table, the plot, and where the lengths of documents come from."""

import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import dagster as dg
import msgspec
import numpy as np
import pytest

from corpus_assets.cli.questions import packing_plot
from corpus_assets.cli.questions.packing import Asked, Comparison, compared
from corpus_assets.document_lengths import lengths_of, measured
from corpus_assets.orchestration.shown.metadata import partition_metadata
from corpus_assets.packing.methods import CHEAP, METHODS
from corpus_assets.tokenize.counts.lengths import SUFFIX
from corpus_assets.tokenize.tokenizer import load_tokenizer_of
from resources.errors import ConfigError
from resources.ledger.ledger import Record
from resources.stage.partition import Partition
from tests.build.small import Work, drive, live_records, opened, raw_rows, write_raw, write_small
from tests.export.exported import encoded, exported, manifest_of, partitions
from tests.faults.command import last_json
from tests.forked import run

DATASETS: list[dict[str, Any]] = [
    {"name": "train", "input": "decontaminated_train", "sequence_length": 64},
    {"name": "validation", "input": "validation", "sequence_length": 64},
    {"name": "shuffled", "input": "decontaminated_train", "sequence_length": 64, "shuffle": True},
    {"name": "apart", "mode": "lm_vsl", "input": "decontaminated_train", "sequence_length": 48, "packing_depth": 2},
]


def silence(words: str) -> None:
    raise AssertionError(words)


def texts_of(work: Work, asset: str) -> list[str]:
    corpus = opened(work.folder)
    records = [record for (name, _), record in live_records(corpus).items() if name == asset]
    return [document.text for record in records for document in Partition(corpus.storage, record).documents()]


def plain_lengths(work: Work, asset: str) -> Counter[int]:
    """Ids of each text, with the end-of-text id."""
    corpus = opened(work.folder)
    record = corpus.ledger.read("tokenizer", None)
    assert record is not None
    tokenizer = load_tokenizer_of(Partition(corpus.storage, record))
    assert tokenizer.eos_id is not None
    return Counter(size + 1 for size in tokenizer.encode_batch(texts_of(work, asset)).lengths.tolist())


def forget_lengths(work: Work, asset: str) -> int:
    """Make the records of an asset what they were before there were tables of lengths; returns how many had one."""
    corpus = opened(work.folder)
    changed = 0
    for record in corpus.ledger.records(asset).values():
        files = [file for file in record.files if not file.path.endswith(SUFFIX)]
        changed += len(files) < len(record.files)
        corpus.ledger.write(msgspec.structs.replace(record, files=files))
    return changed


def test_lengths_are_those_of_the_documents(work: Work) -> None:
    work.config(datasets=DATASETS)
    work.rebuild()
    corpus = opened(work.folder)
    wanted = plain_lengths(work, "decontaminated_train")
    for name in ("train", "shuffled", "apart"):
        found = lengths_of(corpus, measured(corpus, name), silence)
        assert found.lengths == wanted
        assert (found.partitions, found.stale, found.counted, found.absent) == (3, 0, 0, 0)


def test_lengths_are_derived_and_recipes_do_not_ask_for_them(work: Work) -> None:
    before = live_records(opened(work.folder))
    assert forget_lengths(work, "train_tokens") == 3
    plan = opened(work.folder).planner().plan()
    assert {one.status for one in plan.decisions if one.asset.startswith("train_token")} == {"fresh"}
    assert live_records(opened(work.folder)).keys() == before.keys()


def test_what_keeps_no_lengths_is_tokenized_and_that_is_said(work: Work) -> None:
    assert forget_lengths(work, "train_tokens") == 3
    corpus, said = opened(work.folder), list[str]()
    found = lengths_of(corpus, measured(corpus, "train"), said.append)
    assert found.lengths == plain_lengths(work, "decontaminated_train")
    assert (found.counted, found.absent) == (3, 0)
    assert said == ["3 of 3 partitions of train_tokens hold no lengths: tokenizing their documents"]


def test_a_dataset_that_is_not_built_is_counted_from_its_split(work: Work) -> None:
    work.config(datasets=DATASETS)
    corpus, said = opened(work.folder), list[str]()
    found = lengths_of(corpus, measured(corpus, "apart"), said.append)
    assert found.lengths == plain_lengths(work, "decontaminated_train")
    assert (found.counted, len(said)) == (3, 1)
    assert corpus.ledger.records("apart_tokens") == {}


def test_stale_partitions_are_counted_as_built(work: Work) -> None:
    work.config(datasets__0__sequence_length=32)
    corpus = opened(work.folder)
    found = lengths_of(corpus, measured(corpus, "train"), silence)
    assert (found.stale, found.counted) == (3, 0)
    assert found.lengths == plain_lengths(work, "decontaminated_train")


def test_a_token_stream_says_its_lengths(tmp_path: Path) -> None:
    """Formats of trainers: the documents of the stream, with the separator that the format puts between them."""
    apart = {"name": "apart", "format": "megatron", "input": "decontaminated_train"}
    joined = {"name": "joined", "format": "megatron", "input": "decontaminated_train", "separator": "none"}
    corpus = exported(tmp_path, apart, joined)
    plain = Counter(len(ids) for texts in encoded(corpus).values() for ids in texts)
    assert lengths_of(corpus, measured(corpus, "joined"), silence).lengths == plain
    with_end = Counter({length + 1: count for length, count in plain.items()})
    found = lengths_of(corpus, measured(corpus, "apart"), silence)
    assert found.lengths == with_end
    assert (found.partitions, found.stale, found.counted, found.absent) == (3, 0, 0, 0)
    corpus.ledger.forget("decontaminated_train_token_stream", "chunk-0001")
    found = lengths_of(opened(tmp_path), measured(corpus, "apart"), silence)
    assert (found.absent, found.lengths < with_end) == (1, True)
    with pytest.raises(ConfigError, match="dataset apart holds whole documents; --length says how many ids a row has"):
        compared(corpus, Asked("apart"), ["lpfhp"])


def test_pieces_and_repeated_documents_are_counted_as_the_files_hold_them(tmp_path: Path) -> None:
    pieces = {"name": "pieces", "format": "ragged", "context_length": 20, "bos_id": 1}
    weights = {"tokens": {"books": 2000}, "on_excess": "cap"}
    weighted = {"name": "weighted", "format": "megatron", "separator": "none", "weights": weights}
    corpus = exported(tmp_path, pieces, weighted)
    written = [np.load(file) for file in (tmp_path / "corpus" / "exports" / "pieces").glob("*.len.npy")]
    found = lengths_of(corpus, measured(corpus, "pieces"), silence)
    assert found.lengths == Counter(length for lengths in written for length in lengths.tolist())
    assert max(found.lengths) == measured(corpus, "pieces").length == 20
    manifest, found = manifest_of(corpus, "weighted"), lengths_of(corpus, measured(corpus, "weighted"), silence)
    assert found.lengths.total() == manifest["documents"]
    assert sum(length * count for length, count in found.lengths.items()) == manifest["ids"]


def test_separators_of_documents_without_text_count(tmp_path: Path) -> None:
    write_raw(tmp_path, "own/a.jsonl", [{"text": ""}, {"text": "Some words."}])
    files = {"location": "raw/own", "ids": "derived"}
    corpus = exported(tmp_path, {"name": "own", "format": "amber", "window": 2, "input": files})
    found = lengths_of(corpus, measured(corpus, "own"), silence)
    assert found.lengths[1] == 1
    assert sum(length * count for length, count in found.lengths.items()) == manifest_of(corpus, "own")["ids"]


@pytest.mark.parametrize("shuffle", [False, True])
def test_files_that_are_packed_as_one_stream_keep_one_table(tmp_path: Path, shuffle: bool) -> None:
    own = {"name": "own", "input": {"location": "raw/books"}, "sequence_length": 64, "pack_over_files": True}
    write_small(tmp_path, {"datasets": [{**own, "shuffle": shuffle}]})
    corpus = opened(tmp_path)
    assert not drive(corpus).failed
    texts = [row["text"] for path, rows in raw_rows().items() if path.startswith("books/") for row in rows]
    tokenizer = load_tokenizer_of(partitions(corpus, "tokenizer")[0])
    found = lengths_of(corpus, measured(corpus, "own"), silence)
    assert found.lengths == Counter(size + 1 for size in tokenizer.encode_batch(texts).lengths.tolist())
    assert (found.partitions, found.stale, found.counted, found.absent) == (1, 0, 0, 0)


def test_nothing_built_is_an_error_that_says_what_to_do(work: Work) -> None:
    corpus = opened(work.folder)
    for asset in ("train_tokens", "decontaminated_train"):
        for key in list(corpus.ledger.records(asset)):
            corpus.ledger.forget(asset, key)
    code, _, err = run(work.folder, "packing", "train")
    assert code == 2
    assert "nothing of train_tokens is built; `corpus build --select +train_tokens` builds it" in err


def test_the_table_follows_the_options(work: Work) -> None:
    work.config(datasets=DATASETS)
    corpus = opened(work.folder)
    wanted = plain_lengths(work, "decontaminated_train")
    total = sum(length * count for length, count in wanted.items())

    def asked(*given: Any) -> Comparison:
        return compared(corpus, Asked(*given), ["best_fit", "stream_cut"])

    own = asked("apart")
    assert (own.sequence_length, own.depth, own.long_documents) == (48, 2, "fold")
    assert (own.documents, own.ids, own.truncated_tokens) == (wanted.total(), total, 0)
    assert own.long == sum(count for length, count in wanted.items() if length > 48)
    cut = asked("apart", 16, 4, "cut")
    assert (cut.sequence_length, cut.depth, cut.sequences) == (16, 4, wanted.total())
    assert cut.truncated_tokens == total - sum(min(length, 16) * count for length, count in wanted.items()) > 0
    assert cut.ids == total
    assert cut.methods[0]["truncated_tokens"] == cut.truncated_tokens
    whole = asked("train", 4096)
    assert (whole.depth, whole.long, whole.sequences) == (None, 0, wanted.total())


def test_the_command_prints_a_table_and_json(work: Work) -> None:
    code, out, err = run(work.folder, "packing", "train", "--length", "2048")
    assert (code, err) == (0, "")
    assert "no method needs fewer than" in out
    for method in METHODS.values():
        assert method.words in out
    assert "NNLSHP, depth 3: left out: its matrix for rows of 2,048 ids" in out
    code, out, _ = run(work.folder, "packing", "train", "--json", "--methods", "lpfhp,stream_cut", "--methods", "spfhp")
    assert code == 0
    found = last_json(out)
    assert [row["method"] for row in found["methods"]] == ["stream_cut", "spfhp", "lpfhp"]
    assert found["sequence_length"] == 64
    assert found["partitions"] == {"all": 3, "stale": 0, "counted": 0, "absent": 0}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["tarin"], "no dataset 'tarin' (did you mean 'train'?); valid: train, validation"),
        (["train", "--methods", "bfd"], "--methods 'bfd'; valid: stream_cut"),
        (["train", "--long", "split"], "rule for long documents is 'split'; valid: fold, cut, drop"),
        (["train", "--plot", "plot.pdf"], "--plot plot.pdf: valid: a name that ends in .svg or .png"),
    ],
)
def test_what_cannot_be_asked_is_named(work: Work, arguments: list[str], words: str) -> None:
    code, out, err = run(work.folder, "packing", *arguments)
    assert (code, out) == (2, "")
    assert words in err


def test_metadata_of_the_parameters_has_the_cheap_methods(work: Work) -> None:
    corpus = opened(work.folder)
    record = corpus.ledger.read("train_token_params", None)
    assert record is not None
    stage = corpus.graph["train_token_params"]
    table = partition_metadata(stage, record, [], place="store", why="")["packing"]
    assert isinstance(table, dg.TableMetadataValue)
    rows = [dict(one.data) for one in table.records]
    assert [row["method"] for row in rows] == list(CHEAP)
    assert rows == compared(corpus, Asked("train"), list(CHEAP)).methods
    assert "packing" not in partition_metadata(stage, without_table(record), [], place="store", why="")


def without_table(record: Record) -> Record:
    return msgspec.structs.replace(record, statistics={"rows_out": 1})


def test_partitions_without_lengths_give_no_table(work: Work) -> None:
    forget_lengths(work, "train_tokens")
    corpus = opened(work.folder)
    corpus.ledger.forget("train_token_params", None)
    assert not drive(corpus, [corpus.graph["train_token_params"]]).failed
    record = corpus.ledger.read("train_token_params", None)
    assert record is not None and "packing" not in record.statistics


class TestPlot:
    ROWS: tuple[dict[str, Any], ...] = (
        {"method": "best_fit", "fill": 0.5, "sequences_per_row": 2.0, "truncated_tokens": 0, "padded_tokens": 12_345},
        {"method": "nnlshp", "left_out": "too large"},
    )

    def drawn(self, suffix: str) -> bytes:
        return packing_plot.drawn(self.ROWS, ["best fit", "NNLSHP"], "rows of 64 ids", suffix)

    def test_svg_shows_every_number(self) -> None:
        text = re.sub(r"<[^>]+>", " ", self.drawn(".svg").decode())
        for words in ("best fit", "NNLSHP", "rows of 64 ids", "12,345", "left out", "sequences per row", "fill (%)"):
            assert words in text

    def test_equal_tables_give_equal_files(self) -> None:
        assert self.drawn(".svg") == self.drawn(".svg")

    def test_png_is_a_picture(self) -> None:
        assert self.drawn(".png").startswith(b"\x89PNG\r\n")

    def test_a_file_is_written_whole_or_not_at_all(self, tmp_path: Path) -> None:
        packing_plot.save(tmp_path / "plot.svg", b"content")
        assert [file.name for file in tmp_path.iterdir()] == ["plot.svg"]
        with pytest.raises(ConfigError, match="No such file or directory"):
            packing_plot.save(tmp_path / "absent" / "plot.svg", b"content")

    def test_the_extra_is_named_where_matplotlib_is_absent(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
        with pytest.raises(ConfigError, match=r"pip install 'corpus-assets\[plots\]'"):
            packing_plot.require_drawable(Path("plot.svg"))


def test_the_command_draws(work: Work) -> None:
    code, _, err = run(work.folder, "packing", "train", "--plot", "plot.svg", "--methods", "lpfhp")
    assert (code, err) == (0, "")
    assert b"LPFHP" in (work.folder / "plot.svg").read_bytes()
