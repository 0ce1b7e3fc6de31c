"""Files of OLMo-core, read as it reads them: raw ids, and a table of where documents lie."""

import csv
import gzip
import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.export.formats import olmo
from corpus_assets.export.hooks import export_parameters
from corpus_assets.tokenize.tokenizers.training import train_bpe
from resources.errors import ConfigError
from tests.build.small import prose, write_raw
from tests.export.exported import encoded, exported, folder_of, manifest_of, partitions, tokenizer_of
from tests.export.memory import EOS, written

OLMO = {"name": "olmo", "format": "olmo"}
lists = st.lists(st.lists(st.integers(3, 299), max_size=9), max_size=12)


def table(content: bytes) -> list[list[str]]:
    """The rows of a `.csv.gz`."""
    return [*csv.reader(io.StringIO(gzip.decompress(content).decode(), newline=""))]


def test_options_that_came_later_are_in_no_recipe_while_they_are_unset(tmp_path: Path) -> None:
    corpus = exported(tmp_path, OLMO, {**OLMO, "name": "first", "bos_token": "<|endoftext|>"})
    plain, first = (export_parameters(corpus.settings.values, name) for name in ("olmo", "first"))
    assert not {"datasets.olmo.bos_token", "datasets.olmo.compat"} & plain.keys()
    assert first["datasets.first.bos_token"] == "<|endoftext|>"
    assert "datasets.first.compat" not in first


def documents(ids: list[int], rows: list[list[str]]) -> list[list[int]]:
    """The documents of a file by the first two columns of its table, which cover all of it."""
    bounds = [(int(start), int(end)) for start, end, *_ in rows]
    assert [start for start, _ in bounds] == [0, *(end for _, end in bounds)][: len(bounds)]
    assert bounds[-1][1] == len(ids)
    return [ids[start:end] for start, end in bounds]


def test_a_table_says_where_documents_lie_and_come_from(tmp_path: Path) -> None:
    corpus = exported(tmp_path, OLMO)
    eos = tokenizer_of(corpus).eos_id
    expected, splits = encoded(corpus), partitions(corpus, "decontaminated_train")
    for split in splits:
        stem = folder_of(tmp_path, "olmo") / f"{split.key}-00000"
        ids = np.fromfile(f"{stem}.npy", np.uint16).tolist()
        rows = table(Path(f"{stem}.csv.gz").read_bytes())
        kept = [(n, list_) for n, list_ in enumerate(expected[split.key]) if list_]
        assert documents(ids, rows) == [[*list_, eos] for _, list_ in kept]
        held = [*split.documents()]
        assert [row[2] for row in rows] == [held[n].id for n, _ in kept]
        assert [row[3:] for row in rows] == [[held[n].source, ""] for n, _ in kept]
    assert manifest_of(corpus, "olmo")["units"] == sum(bool(ids) for found in expected.values() for ids in found)


def test_rows_of_files_of_its_own_are_counted_from_one(tmp_path: Path) -> None:
    write_raw(tmp_path, "own/a.jsonl", [{"id": f'a,"{n}"\n', "text": prose(f"own {n}")} for n in range(3)])
    exported(tmp_path, {**OLMO, "input": {"location": "raw/own"}})
    content = (folder_of(tmp_path, "olmo") / "olmo--a-00000.csv.gz").read_bytes()
    assert [row[2:] for row in table(content)] == [[f'a,"{n}"\n', "olmo--a", str(n + 1)] for n in range(3)]
    assert gzip.decompress(content).endswith(b",olmo--a,3\r\n")
    assert content[4:8] == bytes(4)  # No time: equal tables give equal bytes.


def test_documents_may_stand_between_two_tokens(tmp_path: Path) -> None:
    corpus = exported(tmp_path, {**OLMO, "bos_token": "a"})
    tokenizer = tokenizer_of(corpus)
    first, last = tokenizer.token_id("a"), tokenizer.eos_id
    expected = [[first, *ids, last] for found in encoded(corpus).values() for ids in found if ids]
    assert own_documents(tmp_path) == expected
    assert manifest_of(corpus, "olmo")["separator"] == {"where": "around", "before": [first], "after": [last]}


def own_documents(folder: Path) -> list[list[int]]:
    """The documents of all files of the dataset."""
    found = []
    for file in sorted(folder_of(folder, "olmo").glob("*.npy")):
        rows = table(file.with_suffix(".csv.gz").read_bytes())
        found += documents(np.fromfile(file, np.uint16).tolist(), rows)
    return found


def test_documents_as_dolma_makes_them(tmp_path: Path) -> None:
    texts = [" one\u3000\n", "<|endoftext|>", "", "\x1c\t", "a b<|endoftext|> ", "<|endoftext|><|endoftext|>", "a"]
    write_raw(tmp_path, "own/a.jsonl", [{"id": str(n), "text": text} for n, text in enumerate(texts)])
    dataset = {**OLMO, "compat": "dolma", "bos_token": "a", "input": {"location": "raw/own"}}
    (tmp_path / "tokenizer.json").write_bytes(train_bpe([prose(n) for n in range(40)], 300))
    chosen = {"kind": "tokenizer_json", "path": "tokenizer.json", "eos": "<|endoftext|>"}
    corpus = exported(tmp_path, dataset, tokenizer=chosen | {"special_tokens_in_text": True})
    tokenizer = tokenizer_of(corpus)
    a, eos = tokenizer.token_id("a"), tokenizer.eos_id
    one, b = (tokenizer.encode_plain([text]).ids.tolist() for text in ("one", " b"))
    assert own_documents(tmp_path) == [[a, *one, eos], [a, eos], [a, *b, eos], [a, eos, eos], [a, eos]]
    (file,) = folder_of(tmp_path, "olmo").glob("*.csv.gz")
    assert [row[4] for row in table(file.read_bytes())] == ["1", "2", "5", "6", "7"]
    assert manifest_of(corpus, "olmo")["dropped"] == {"no_ids": {"documents": 2, "ids": 0}}


def test_a_document_that_is_its_own_separator_on_both_sides(tmp_path: Path) -> None:
    """What `dolma tokens` makes of a document of one id, where one id begins and ends all documents."""
    texts = ["<|endoftext|>", "<|endoftext|><|endoftext|>", "a", "<|endoftext|>a<|endoftext|>"]
    write_raw(tmp_path, "own/a.jsonl", [{"id": str(n), "text": text} for n, text in enumerate(texts)])
    dataset = {**OLMO, "compat": "dolma", "bos_token": "<|endoftext|>", "input": {"location": "raw/own"}}
    (tmp_path / "tokenizer.json").write_bytes(train_bpe([prose(n) for n in range(40)], 300))
    chosen = {"kind": "tokenizer_json", "path": "tokenizer.json", "eos": "<|endoftext|>"}
    tokenizer = tokenizer_of(exported(tmp_path, dataset, tokenizer=chosen | {"special_tokens_in_text": True}))
    a, eos = tokenizer.token_id("a"), tokenizer.eos_id
    assert own_documents(tmp_path) == [[eos], [eos, eos], [eos, a, eos], [eos, a, eos]]


def test_texts_of_a_split_without_white_space_have_a_stream_of_their_own(tmp_path: Path) -> None:
    corpus = exported(tmp_path, {**OLMO, "compat": "dolma"}, {**OLMO, "name": "plain"})
    streams = [stage.name for stage in corpus.graph if stage.name.endswith("token_stream")]
    assert len(streams) == 2
    assert "decontaminated_train_token_stream" in streams


def test_a_token_before_documents_goes_with_one_after_them(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="bos_token goes with `separator: after`, received 'before'"):
        exported(tmp_path, {**OLMO, "bos_token": "a", "separator": "before"})
    with pytest.raises(ConfigError, match=r"datasets\.made\.bos_token: 'nowhere' is no token of the vocabulary"):
        written("olmo", {"bos_token": "nowhere"}, {})


@given(lists=lists, file_ids=st.integers(1, 25), at_once=st.integers(1, 5))
def test_documents_never_span_files(lists: list[list[int]], file_ids: int, at_once: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(olmo, "ROWS_AT_ONCE", at_once)
        found, files = written("olmo", {"file_ids": file_ids}, {"chunk-0000": lists})
    stems = sorted({name.partition(".")[0] for name in found})
    assert stems == [f"chunk-0000-{number:05d}" for number in range(len(stems))]
    every: list[list[int]] = []
    for stem, place in zip(stems, files.places, strict=True):
        ids, rows = np.frombuffer(found[f"{stem}.npy"], np.uint16).tolist(), table(found[f"{stem}.csv.gz"])
        assert len(ids) <= file_ids or len(rows) == 1
        assert (place.path, place.units, place.ids) == (f"exports/made/{stem}.npy", len(rows), len(ids))
        assert rows[0][2] == f"chunk-0000,{place.document}"
        assert place.id == sum(map(len, every))
        every += documents(ids, rows)
    assert every == [[*ids, EOS] for ids in lists if ids]
    assert files.totals["ids"] == sum(map(len, every))


@pytest.mark.parametrize(("vocabulary", "width"), [(256, 1), (257, 2), (65_536, 2), (65_537, 4)])
def test_ids_have_the_smallest_type_that_holds_the_vocabulary(vocabulary: int, width: int) -> None:
    found, _ = written("olmo", {"separator": "none"}, {"chunk-0000": [[vocabulary - 1]]}, vocabulary)
    assert np.frombuffer(found["chunk-0000-00000.npy"], f"<u{width}").tolist() == [vocabulary - 1]
