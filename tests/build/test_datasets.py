"""Token datasets of every mode, from splits and from files of their own: what is made, what is stale, what is kept."""

import json
import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from numpy.typing import NDArray

from corpus_assets.cli.questions.show import Asked, show_partition
from corpus_assets.config.datasets.modes import LMDataset
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.document_lengths import lengths_of, measured
from corpus_assets.orchestration.building.build import build
from corpus_assets.orchestration.building.notes import build_notes
from corpus_assets.tokenize.encode.backends import Accelerated, BackendDiffers
from corpus_assets.tokenize.file_faults import faults_of, sums_of
from corpus_assets.tokenize.ragged import Ragged
from corpus_assets.tokenize.tokenizer import identity_of, load_tokenizer_of
from corpus_assets.tokenize.tokenizers.protocol import Identity
from resources.errors import ConfigError, LedgerError
from resources.formats.hdf5 import chunks as hdf5_chunks
from resources.formats.jsonl import compressions
from resources.stage.handles import TokenRows
from resources.stage.partition import Partition
from tests.build.small import Built, contents, digests, drive, live_records, opened, prose, statuses, write_small
from tests.data.building import partitions
from tests.orchestration.silent import Silent

TEMPLATE = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}"
FIM = {"prefix_token": "<|pre|>", "middle_token": "<|mid|>", "suffix_token": "<|suf|>"}
CHUNKS = {"chunk-0000", "chunk-0001", "chunk-0002"}
LENGTH = 96


def dataset(name: str, mode: str, **options: Any) -> dict[str, Any]:
    return {"name": name, "mode": mode, "sequence_length": LENGTH, **options}


DATASETS: list[dict[str, Any]] = [
    dataset("train", "LMData", max_seq_length=LENGTH) | {"sequence_length": LENGTH},
    dataset("unpacked", "lm", pack=False, minimum_length=4),
    dataset("mixed", "lm", shuffle=True, shuffle_seed=5),
    dataset("vsl", "lm_vsl", packing="lpfhp"),
    dataset("fim", "fim", **FIM),
    dataset("fim-rows", "fim", fim_level="row", **FIM),
    dataset("pairs", "summarization", input={"location": "own/pairs"}, separator="<|sep|>"),
    dataset("pairs-vsl", "summarization_vsl", input={"location": "own/pairs"}, shuffle=True, truncate="prompt_start"),
    dataset("chat", "chat", input={"location": "own/chat", "messages_key": "messages"}, chat_template="chat.jinja"),
    dataset("dpo", "dpo", input={"location": "own/dpo"}, max_prompt_length=48, chat_template="chat.jinja"),
    dataset("texts", "lm_vsl", input={"location": "own/texts", "text_key": "body"}),
]
del DATASETS[0]["max_seq_length"]
CHANGES = {
    "datasets": DATASETS,
    "tokenizer.special_tokens": ["<|pre|>", "<|mid|>", "<|suf|>", "<|user|>", "<|assistant|>", "<|end|>"],
}
CHANNELS = {"pairs": 3, "pairs-vsl": 5, "chat": 5, "dpo": 6, "texts": 5, "vsl": 5}


def message(role: str, seed: str) -> dict[str, str]:
    return {"role": role, "content": prose(seed, 5)}


def write_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def write_own(folder: Path) -> None:
    """Files of the datasets' own: two of pairs (one of them dirty), one each of the others."""
    for file in ("a", "b"):
        pairs = [{"prompt": prose(f"{file}p{n}", 6), "completion": prose(f"{file}c{n}", 4)} for n in range(9)]
        write_lines(folder / f"own/pairs/{file}.jsonl", pairs)
    with (folder / "own/pairs/b.jsonl").open("a") as dirty:
        dirty.write('{"prompt": "", "completion": "x"}\n{"prompt": "lonely"}\nno json\n')
    turns = [
        [(role, f"m{n}{role}{turn}") for turn in range(n % 3 + 1) for role in ("user", "assistant")] for n in range(8)
    ]
    chats = [{"messages": [message(*turn) for turn in chat]} for chat in turns]
    write_lines(folder / "own/chat/chats.jsonl", chats)
    choices = [
        {"prompt": prose(f"d{n}", 6), "chosen": prose(f"g{n}", 4), "rejected": prose(f"w{n}", 4)} for n in range(7)
    ]
    write_lines(folder / "own/dpo/choices.jsonl", choices)
    write_lines(folder / "own/texts/t.jsonl", [{"body": prose(f"t{n}", 30)} for n in range(6)])
    (folder / "chat.jinja").write_text(TEMPLATE)


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("datasets")
    write_own(folder)
    write_small(folder, CHANGES)
    built = drive(opened(folder))
    assert not built.failed
    assert not built.waiting
    return folder


@pytest.fixture
def folder(once: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(once, tmp_path / "work"))


def rows_of(folder: Path, name: str) -> dict[str, NDArray[np.int32]]:
    """Rows of every file, as any reader gets them."""
    files = {}
    for path in sorted((folder / f"corpus/tokens/{name}").glob("*.h5")):
        with h5py.File(path) as file:
            files[path.stem] = file["data"][:]
            assert file.attrs["n_examples"] == len(files[path.stem])
    return files


def params_of(folder: Path, name: str) -> dict[str, Any]:
    return dict(json.loads((folder / f"corpus/tokens/{name}/data_params.json").read_text()))


def rebuild(folder: Path) -> Built:
    built = drive(opened(folder))
    assert not built.failed
    return built


@pytest.mark.parametrize("name", [entry["name"] for entry in DATASETS if entry["mode"] != "dpo"])
def test_every_mode_keeps_the_lengths_of_its_documents(once: Path, name: str) -> None:
    corpus = opened(once)
    found = lengths_of(corpus, measured(corpus, name), pytest.fail)
    counted = params_of(once, name)["post-process"]
    if name != "fim-rows":  # These rows gain ids after their documents were measured.
        assert sum(length * count for length, count in found.lengths.items()) == counted["document_tokens"]
    unread = sum(counted["discarded_documents"].get(why, 0) for why in ("empty_prompt", "empty_text"))
    assert name == "fim" or found.lengths.total() == counted["processed_files"] - unread


def test_preferences_share_no_rows(once: Path) -> None:
    with pytest.raises(ConfigError, match="dataset dpo holds preferences, which share no rows"):
        measured(opened(once), "dpo")


@pytest.mark.parametrize("name", [entry["name"] for entry in DATASETS])
def test_every_mode_gives_files_that_plain_h5py_reads(once: Path, name: str) -> None:
    files = rows_of(once, name)
    rows = np.concatenate(list(files.values()))
    assert len(rows)
    assert rows.shape[1:] == (CHANNELS.get(name, 3), LENGTH)
    params = params_of(once, name)
    assert params["post-process"]["n_examples"] == params["h5_dataset_stats"]["num_sequences"] == len(rows)
    assert len(params["features"]) == rows.shape[1]
    masks = rows[:, (1, 4)] if name == "dpo" else rows[:, 1]
    assert params["post-process"]["loss_valid_tokens"] == params["h5_dataset_stats"]["loss_valid_tokens"] == masks.sum()
    assert str(once) not in json.dumps(params)


def test_files_say_what_they_are(once: Path) -> None:
    record = opened(once).ledger.read("pairs_tokens", "pairs--a")
    assert record is not None
    with h5py.File(once / "corpus/tokens/pairs/pairs--a.h5") as file:
        found = dict(file.attrs)
    assert found["recipe"] == record.recipe
    assert list(found["features"]) == ["input_ids", "attention_mask", "labels"]
    assert {"mode", "tokenizer", "eos_id", "pad_id", "vocab_size", "seed", "n_examples"} <= found.keys()


def test_dirty_rows_are_counted_where_they_are_read(once: Path) -> None:
    record = opened(once).ledger.read("pairs_examples", "pairs--b")
    assert record is not None
    dropped = record.statistics["dropped"]
    assert sum(dropped.values()) == record.statistics["rows_in"] - record.statistics["rows_out"] == 3
    assert {"empty_prompt", "no_completion"} <= dropped.keys()


def test_a_shuffled_dataset_has_the_rows_of_the_plain_one_in_another_order(once: Path) -> None:
    plain, mixed = (list(rows_of(once, name).values()) for name in ("train", "mixed"))
    as_bytes = [Counter(row.tobytes() for row in np.concatenate(rows)) for rows in (plain, mixed)]
    assert as_bytes[0] == as_bytes[1]
    assert np.concatenate(plain).tobytes() != np.concatenate(mixed).tobytes()


def test_rows_depend_neither_on_workers_nor_on_memory(once: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(once, other, ignore=shutil.ignore_patterns("corpus"))
    for kept in ("tokenizer", "ledger/tokenizer"):
        shutil.copytree(once / "corpus" / kept, other / "corpus" / kept)
    write_small(other, {**CHANGES, "engine.workers": 2, "engine.memory": "4 MiB"})
    assert not drive(opened(other)).failed
    assert contents(opened(other)) == contents(opened(once))


def test_content_does_not_depend_on_how_well_it_is_compressed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two runs of a compressor over the same bytes need not give the same."""
    before, sizes = contents(opened(folder)), stored_sizes(folder)
    tables = digests(opened(folder))
    for record in live_records(corpus := opened(folder)).values():
        if record.asset not in ("inventory", "tokenizer"):
            corpus.ledger.forget(record.asset, record.partition)
    monkeypatch.setattr(hdf5_chunks, "COMPRESSION_LEVEL", 0)
    monkeypatch.setattr(compressions, "GZIP_LEVEL", 0)
    assert not drive(opened(folder)).failed
    after = stored_sizes(folder)
    assert {path.suffix for path, size in after.items() if size != sizes[path]} >= {".h5", ".gz"}
    assert contents(opened(folder)) == before
    assert digests(opened(folder)) == tables


def stored_sizes(folder: Path) -> dict[Path, int]:
    return {file: file.stat().st_size for file in (folder / "corpus").rglob("*") if file.suffix in (".h5", ".gz")}


def test_ids_are_the_same_with_every_library(folder: Path) -> None:
    before = contents(opened(folder))
    write_small(folder, {**CHANGES, "tokenizer.backend": "tokenizers"})
    assert statuses(opened(folder).planner().plan()) == {}
    for record in live_records(corpus := opened(folder)).values():
        if record.asset.endswith(("_tokens", "_sequences")):
            corpus.ledger.forget(record.asset, record.partition)
    rebuild(folder)
    assert contents(opened(folder)) == before
    assert used_by(opened(folder), "vsl_tokens") == {"tokenizers"}


def used_by(corpus: Corpus, asset: str) -> set[str]:
    return {record.statistics["tokenizer_backend"] for record in corpus.ledger.records(asset).values()}


def test_a_shard_is_made_again_when_the_fast_library_differs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = contents(opened(folder))
    encode, calls = Accelerated.encode_batch, list[int]()

    def differs(self: Accelerated, texts: Sequence[str]) -> Ragged:
        calls.append(len(texts))
        if len(calls) == 2:
            raise BackendDiffers("gigatoken 0: id 3 of text 'x': [1], expected [2]")
        return encode(self, texts)

    monkeypatch.setattr(Accelerated, "encode_batch", differs)
    for name in ("pairs_tokens", "mixed_sequences"):
        calls.clear()
        corpus = opened(folder)
        for partition in list(corpus.ledger.records(name)):
            corpus.ledger.forget(name, partition)
        rebuild(folder)
        found = [record.statistics for record in opened(folder).ledger.records(name).values()]
        assert sum("tokenizer_fell_back" in statistics for statistics in found) == 1
        assert {s["tokenizer_backend"] for s in found if "tokenizer_fell_back" in s} == {"tokenizers"}
        if name == "pairs_tokens":
            (note,) = [one for one in build_notes(opened(folder).planner()) if "fast library differed" in one]
            assert note.startswith("dataset pairs: 1 of ") and "gives the right ids" in note
    assert contents(opened(folder)) == before


def test_another_file_recomputes_itself_alone(folder: Path) -> None:
    write_lines(folder / "own/pairs/c.jsonl", [{"prompt": "One more", "completion": "indeed, and no more than that."}])
    built = rebuild(folder)
    assert built.of("pairs_examples") == built.of("pairs_tokens") == {"pairs--c"}
    assert built.of("pairs-vsl_sequences") == {"pairs-vsl--c"}
    assert not built.assets() & {"chat_tokens", "train_tokens", "normalized_documents", "texts_tokens"}
    assert built.of("pairs_token_params") == {None}
    assert rebuild(folder).recomputed == set()


def test_a_partition_without_rows_has_no_file(folder: Path) -> None:
    """From 50 files on, Cerebras' map-style reader fails on HDF5 2.0 for every row if one of them is empty."""
    write_lines(folder / "own/pairs/c.jsonl", [{"prompt": "lonely"}])
    rebuild(folder)
    corpus = opened(folder)
    assert {path.stem for path in (folder / "corpus/tokens/pairs").glob("*.h5")} == {"pairs--a", "pairs--b"}
    for asset, key in (("pairs_tokens", "pairs--c"), ("pairs-vsl_sequences", "pairs-vsl--c")):
        record = corpus.ledger.read(asset, key)
        assert record is not None
        assert record.statistics["rows_out"] == 0
        assert not Partition(corpus.storage, record).has(".h5")
        assert '"rows_out": 0' in "\n".join(show_partition(corpus, asset, key, Asked()))
        with pytest.raises(LedgerError, match="has no rows"):
            TokenRows(Partition(corpus.storage, record)).open()
        assert list(TokenRows(Partition(corpus.storage, record)).rows()) == []
    for name in ("pairs", "pairs-vsl"):
        assert faults(corpus, name) == []
        params = params_of(folder, name)
        rows = sum(len(rows) for rows in rows_of(folder, name).values())
        assert rows == params["post-process"]["n_examples"] == params["h5_dataset_stats"]["num_sequences"]
    assert statuses(corpus.planner().plan()) == {}


def faults(corpus: Corpus, name: str) -> list[str]:
    """What the asset checks find wrong with a dataset's files and sums."""
    (entry,) = (entry for entry in corpus.settings.values["datasets"] if entry["name"] == name)
    (held,) = partitions(corpus, "tokenizer")
    tokenizer = load_tokenizer_of(held, entry.get("separator"))
    files = partitions(corpus, f"{name}_tokens")
    counted = partitions(corpus, f"{name}_sequences") if entry["shuffle"] else files
    (params,) = partitions(corpus, f"{name}_token_params")
    return [fault for file in files for fault in faults_of(file, entry, tokenizer)] + sums_of(counted, files, params)


def stream_of(rows: NDArray[np.int32]) -> NDArray[np.int32]:
    """The ids that packed rows were cut from: all inputs of the loss, and the last label."""
    real = rows[:, 1] == 1
    return np.concatenate([rows[:, 0][real], rows[:, 2][real][-1:]])


@pytest.fixture
def packed(once: Path, tmp_path: Path) -> Path:
    """Many small files of a dataset's own, packed over all of them: plain, shuffled, and file by file."""
    for n in range(9):
        write_lines(tmp_path / f"own/small/{n}.jsonl", [{"text": prose(f"small{n}", 12)}] if n != 4 else [])
    shutil.copy(once / "corpus/tokenizer/tokenizer.json", tmp_path / "t.json")
    write_packed(tmp_path)
    rebuild(tmp_path)
    return tmp_path


def write_packed(folder: Path, **options: Any) -> None:
    small = {"location": "own/small"}
    datasets = [
        dataset("over", "lm", input=small, pack_over_files=True) | options,
        dataset("over-mixed", "lm", input=small, pack_over_files=True, shuffle=True),
        dataset("over-fim", "fim", input=small, pack_over_files=True, **FIM),
        dataset("each", "lm", input=small),
    ]
    config = {
        "tokenizer": {"kind": "neox", "path": "t.json"},
        "datasets": datasets,
        "engine": {"workers": 0},
        "storage": {"sync": False},
        "mix": {"chunks": 2},
    }
    (folder / "corpus.yaml").write_text(json.dumps(config))


def test_packing_over_files_has_one_tail(packed: Path) -> None:
    over, each = rows_of(packed, "over"), rows_of(packed, "each")
    rows = np.concatenate(list(over.values()))
    padded = (rows[:, 1] == 0).any(axis=1)
    assert np.count_nonzero(padded) == 1
    assert padded[-1]
    assert len(rows) < sum(map(len, each.values()))
    # The stream is that of all files in order, and no token is lost.
    streams = [stream_of(part) for part in each.values()]
    np.testing.assert_array_equal(stream_of(rows), np.concatenate(streams))
    shuffled = np.concatenate(list(rows_of(packed, "over-mixed").values()))
    assert Counter(row.tobytes() for row in shuffled) == Counter(row.tobytes() for row in rows)
    for name in ("over", "over-mixed", "over-fim", "each"):
        assert faults(opened(packed), name) == []
        assert params_of(packed, name)["post-process"]["processed_files"] == 8


def test_a_changed_file_makes_a_dataset_again_that_is_packed_over_files(packed: Path) -> None:
    write_lines(packed / "own/small/5.jsonl", [{"text": "Something else altogether, and not much of it."}])
    built = rebuild(packed)
    assert built.of("each_tokens") == {"each--5"}
    assert built.of("over_tokens") == {None}
    before = rows_of(packed, "over")
    fresh = packed / "fresh"
    shutil.copytree(packed, fresh, ignore=shutil.ignore_patterns("corpus", "fresh"))
    rebuild(fresh)
    after = rows_of(fresh, "over")
    assert before.keys() == after.keys()
    assert all(np.array_equal(before[name], after[name]) for name in after)


def test_files_of_the_other_way_of_packing_are_orphans_that_clean_may_remove(packed: Path) -> None:
    write_packed(packed, pack_over_files=False)
    rebuild(packed)
    corpus = opened(packed)
    (orphan,) = [key for key in corpus.planner().plan().orphans if key[0] == "over_tokens"]
    record = corpus.ledger.read(*orphan)
    live = {file.path for record in live_records(corpus).values() for file in record.files}
    assert record is not None
    assert record.files
    assert not live & {file.path for file in record.files}


@pytest.mark.parametrize("change", [{"input": "train"}, {"pack": False, "input": {"location": "own"}}])
def test_packing_over_files_needs_files_and_packing(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="pack_over_files goes with pack"):
        LMDataset(name="d", pack_over_files=True, **change)
    assert not LMDataset(name="d", compat="cerebras", pack_over_files=True, **change).carries_over


def test_an_option_stales_its_dataset_alone_and_the_plan_says_which(folder: Path) -> None:
    changed = [dict(entry, seed=3) if entry["name"] == "vsl" else entry for entry in DATASETS]
    write_small(folder, {**CHANGES, "datasets": changed})
    plan = statuses(opened(folder).planner().plan())
    assert {asset for asset, _ in plan} == {"vsl_tokens", "vsl_token_params"}
    assert plan["vsl_tokens", "chunk-0000"] == ("stale", "datasets.vsl.seed 0 -> 3")


def test_another_chat_template_stales_what_uses_it(folder: Path) -> None:
    (folder / "chat.jinja").write_text(TEMPLATE.replace("<|end|>", " <|end|>"))
    assert rebuild(folder).assets() == {"chat_tokens", "chat_token_params", "dpo_tokens", "dpo_token_params"}


def test_a_key_of_the_files_stales_their_examples(folder: Path) -> None:
    changed = [dict(entry) for entry in DATASETS]
    changed[-1]["input"] = {"location": "own/texts", "text_key": "nothing"}
    write_small(folder, {**CHANGES, "datasets": changed})
    plan = statuses(opened(folder).planner().plan())
    assert plan["texts_examples", "texts--t"][1] == "datasets.texts.input.text_key body -> nothing"
    assert {asset for asset, _ in plan} == {"texts_examples", "texts_tokens", "texts_token_params"}


def test_a_tokenizer_of_its_own_is_an_asset_of_its_own(folder: Path) -> None:
    shutil.copy(folder / "corpus/tokenizer/tokenizer.json", folder / "other.json")
    own = {"kind": "neox", "path": "other.json", "eos": "<|end|>"}
    changed = [dict(entry, tokenizer=own) if entry["name"] == "pairs" else entry for entry in DATASETS]
    write_small(folder, {**CHANGES, "datasets": changed})
    assert rebuild(folder).assets() == {"pairs_tokenizer", "pairs_tokens", "pairs_token_params"}
    ids = params_of(folder, "pairs")["post-process"]
    assert ids["eos_id"] != params_of(folder, "pairs-vsl")["post-process"]["eos_id"]


def test_a_record_says_what_files_say_of_a_tokenizer(once: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = partitions(opened(once), "tokenizer")[0]
    assert identity_of(stored) == Identity.of(load_tokenizer_of(stored))
    assert identity_of(stored, "<|sep|>") == Identity.of(load_tokenizer_of(stored, "<|sep|>"))
    monkeypatch.setattr("corpus_assets.tokenize.tokenizer.load_tokenizer_of", lambda *_: pytest.fail("is loaded"))
    assert identity_of(stored).kind == "neox"


def test_a_corpus_may_be_nothing_but_datasets_of_its_own(once: Path, tmp_path: Path) -> None:
    write_own(tmp_path)
    shutil.copy(once / "corpus/tokenizer/tokenizer.json", tmp_path / "t.json")
    config = {
        "tokenizer": {"kind": "neox", "path": "t.json"},
        "datasets": [entry for entry in DATASETS if entry["name"] in ("pairs", "dpo")],
        "engine": {"workers": 0},
        "storage": {"sync": False},
    }
    (tmp_path / "corpus.yaml").write_text(json.dumps(config))
    built = rebuild(tmp_path)
    assert built.of("pairs_tokens") == {"pairs--a", "pairs--b"}
    assert "normalized_documents" not in opened(tmp_path).graph.stages
    assert rows_of(tmp_path, "pairs").keys() == rows_of(once, "pairs").keys()


def test_a_missing_template_is_told_before_anything_is_built(folder: Path) -> None:
    (folder / "chat.jinja").unlink()
    shutil.rmtree(folder / "corpus")
    corpus = opened(folder)
    with pytest.raises(ConfigError, match=r"datasets\.chat\.chat_template: .*chat\.jinja' cannot be read"):
        build(corpus, list(corpus.graph), Silent())
    assert not corpus.ledger.records("inventory")


def test_what_reading_and_making_drop_is_told(once: Path, folder: Path) -> None:
    params = params_of(once, "pairs")["post-process"]
    assert sum(params["skipped_rows"].values()) == 3
    changed = [dict(entry) for entry in DATASETS]
    changed[6]["input"] = {"location": "own/pairs", "completion_key": "answer"}
    changed[6]["input"] |= {"max_bad_rows": 1.0, "may_be_empty": True}
    write_small(folder, {**CHANGES, "datasets": changed})
    rebuild(folder)
    planner = opened(folder).planner()
    assert "dataset pairs: 21 of 21 raw rows dropped (empty_prompt 1, invalid_json 1, no_completion 19)" in build_notes(
        planner
    )
