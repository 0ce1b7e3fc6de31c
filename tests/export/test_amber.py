"""Amber's files from a corpus.yaml: what is in them, what is left out, and where it comes from."""

import gzip
import json
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.export.amber import runs
from corpus_assets.export.amber.check import Rule
from corpus_assets.export.amber.partition_check import window_faults
from corpus_assets.export.checks import windows_are_valid
from corpus_assets.export.formats.amber import locate
from corpus_assets.export.token_stream import DATA, LENGTHS
from corpus_assets.tracing.from_tokens.exports import trace_export
from resources.errors import ConfigError
from tests.build.small import drive, opened, prose, write_config, write_raw
from tests.export.exported import exported, folder_of, manifest_of, partitions, tokenizer_of

AMBER = {"name": "amber", "format": "amber", "window": 65, "chunks": 3}
Lines = list[dict[str, Any]]


def lines_of(folder: Path) -> dict[str, Lines]:
    """The lines of every file of windows, by its name without a suffix."""
    found = {}
    for file in sorted([*folder.rglob("*.jsonl"), *folder.rglob("*.jsonl.gz")]):
        text = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
        name = str(file.relative_to(folder)).partition(".")[0]
        found[name] = [json.loads(line) for line in text.split(b"\n") if line]
    return found


def windows_by_source(corpus: Corpus, around: tuple[list[int], list[int]], window: int) -> dict[str, list[list[int]]]:
    """All windows of each source, cut from the documents of the split in order."""
    tokenizer, streams = tokenizer_of(corpus), dict[str, list[int]]()
    for partition in partitions(corpus, "decontaminated_train"):
        for document in partition.documents():
            ids = tokenizer.encode_plain([document.text])[0].tolist()
            streams.setdefault(document.source, []).extend([*around[0], *ids, *around[1]])
    return {
        source: [ids[first : first + window] for first in range(0, len(ids) - window + 1, window)]
        for source, ids in sorted(streams.items())
    }


def own_files(folder: Path, name: str = "own") -> dict[str, Any]:
    """Options of a dataset with two files of its own, one of them with an empty text."""
    rows = [{"id": f"{name}{n}", "text": prose(f"{name} {n}", words=25 + n)} for n in range(12)]
    write_raw(folder, f"{name}/a.jsonl", rows[:7])
    write_raw(folder, f"{name}/b.jsonl", [{"id": "e", "text": ""}, *rows[7:]])
    return {"input": {"location": f"raw/{name}"}}


def test_every_source_is_a_stream_of_which_windows_are_shared_out(tmp_path: Path) -> None:
    corpus = exported(tmp_path, {**AMBER, "validation": 2})
    eos = tokenizer_of(corpus).eos_id
    assert eos is not None
    expected, files = windows_by_source(corpus, ([], [eos]), 65), lines_of(folder_of(tmp_path, "amber"))
    assert files.keys() == {*(f"train/train_{k}" for k in range(3)), *(f"valid/{source}" for source in expected)}
    every = [(line["source"], line["token_ids"]) for name in files for line in files[name]]
    assert len(every) == len({(source, *ids) for source, ids in every})
    for source, windows in expected.items():
        per_file = (len(windows) - 2) // 3
        used = windows[: per_file * 3 + 2]
        assert sorted(ids for found, ids in every if found == source) == sorted(used)
        assert all(sum(line["source"] == source for line in files[f"train/train_{k}"]) == per_file for k in range(3))
        held = [line["token_ids"] for line in files[f"valid/{source}"]]
        assert held == [window for window in used if window in held]
        left = [window for window in used if window not in held]
        for k in range(3):
            found = [line["token_ids"] for line in files[f"train/train_{k}"] if line["source"] == source]
            assert sorted(found) == sorted(left[k::3])


OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"wrap": False},
    {"separator": "none"},
    {"uneven_chunks": True},
    {"validation": 1, "window": 17},
    {"window": 5000},
    {"separator": "before", "chunks": 50},
)


def test_no_id_is_lost_silently(tmp_path: Path) -> None:
    corpus = exported(tmp_path, *({**AMBER, **options, "name": f"amber{n}"} for n, options in enumerate(OPTIONS)))
    for n, options in enumerate(OPTIONS):
        assert_conserved(corpus, tmp_path, f"amber{n}", options)


def assert_conserved(corpus: Corpus, folder: Path, name: str, options: dict[str, Any]) -> None:
    """Every id of the stream is in a file or counted as dropped, and the manifest says so."""
    found, files = manifest_of(corpus, name), lines_of(folder_of(folder, name))
    written = sum(len(line["token_ids"]) for line in chain.from_iterable(files.values()))
    dropped = {reason: lost["ids"] for reason, lost in found["dropped"].items()}
    assert found["ids"] == written + sum(dropped.values())
    assert found["units"] == sum(map(len, files.values()))
    assert found["ids"] - found["separators"] == sum(one["tokens"] for one in found["sources"].values())
    assert {entry["path"]: entry["ids"] for entry in found["files"] if "ids" in entry} == {
        f"{file}.jsonl": sum(len(line["token_ids"]) for line in lines) for file, lines in files.items()
    }
    assert ("rest_of_document" in dropped) == (options.get("wrap") is False)
    assert not options.get("uneven_chunks") or "unused_lines" not in dropped
    sets = json.loads((folder_of(folder, name) / "sets.json").read_bytes())
    assert sum(one["tail_ids"] for one in sets) == dropped.get("window_tail", 0)


def test_neither_partitions_nor_blocks_have_an_influence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = {**AMBER, **own_files(tmp_path), "validation": 1, "chunks": 4}
    exported(tmp_path, dataset)
    first = {file: file.read_bytes() for file in folder_of(tmp_path, "amber").rglob("*.jsonl")}
    assert len(first) == 5
    monkeypatch.setattr(runs, "BLOCK_IDS", 130)
    corpus = exported(tmp_path, dataset, **{"mix.chunks": 1})
    assert len(partitions(corpus, "amber_tokens")) == 1
    assert {file: file.read_bytes() for file in folder_of(tmp_path, "amber").rglob("*.jsonl")} == first
    exported(tmp_path, {**dataset, "compression": "gzip"})
    again = folder_of(tmp_path, "amber").rglob("*.jsonl.gz")
    assert {file.with_suffix(""): gzip.decompress(file.read_bytes()) for file in again} == first


def test_texts_around_documents_may_have_several_ids(tmp_path: Path) -> None:
    corpus = exported(tmp_path, {**AMBER, "bos_text": "<|endoftext|>", "eos_text": "END of it", "chunks": 1})
    tokenizer = tokenizer_of(corpus)
    after = tokenizer.encode_plain(["END of it"])[0].tolist()
    assert len(after) > 1
    expected = windows_by_source(corpus, ([tokenizer.eos_id or 0], after), 65)
    (lines,) = lines_of(folder_of(tmp_path, "amber")).values()
    found = sorted((line["source"], line["token_ids"]) for line in lines)
    assert found == sorted((source, ids) for source, windows in expected.items() for ids in windows)
    separator = manifest_of(corpus, "amber")["separator"]
    assert separator == {"where": "around", "before": [tokenizer.eos_id], "after": after}


def test_control_tokens_in_texts_are_text(tmp_path: Path) -> None:
    write_raw(tmp_path, "own/a.jsonl", [{"id": "1", "text": "One<|endoftext|>two " * 40}])
    corpus = exported(tmp_path, {**AMBER, "input": {"location": "raw/own"}, "chunks": 1})
    (lines,) = lines_of(folder_of(tmp_path, "amber")).values()
    assert lines
    assert tokenizer_of(corpus).eos_id not in chain.from_iterable(line["token_ids"] for line in lines)


def located(corpus: Corpus, assets: list[str], around: int) -> list[tuple[list[int], list[int]]]:
    """The ids of every line of `amber`, and the ids of the streams to which each leads back (-1 for a separator)."""
    streams = dict[str, list[int]]()
    for stream in (stream for asset in assets for stream in partitions(corpus, asset)):
        ids = iter(stream.array(DATA).tolist())
        whole = ([*(next(ids) for _ in range(length)), *[-1] * around] for length in stream.array(LENGTHS).tolist())
        streams[stream.name] = list(chain.from_iterable(whole))
    found = []
    for made in partitions(corpus, "amber_tokens"):
        for file in (file for file in made.record.files if ".jsonl" in file.path):
            with made.open(file.path) as content:
                lines = [json.loads(line)["token_ids"] for line in content]
            for unit, ids in enumerate(lines):
                places = [locate(made, file.path, unit, position) for position in range(len(ids))]
                found.append((ids, [streams[key][place] for key, place in places]))
    return found


def test_every_id_of_a_line_leads_back_to_its_place_in_the_stream(tmp_path: Path) -> None:
    corpus = exported(tmp_path, {**AMBER, "validation": 1})
    found = located(corpus, ["decontaminated_train_token_stream"], 1)
    eos = tokenizer_of(corpus).eos_id
    assert len(found) == manifest_of(corpus, "amber")["units"]
    assert all(ids == [eos if id_ == -1 else id_ for id_ in origins] for ids, origins in found)
    made = next(one for one in partitions(corpus, "amber_tokens") if one.has(".jsonl"))
    path = made.file("train_0.jsonl").path
    for unit, position, fault in ((-1, 0, "row -1"), (10**6, 0, "row 1000000: valid"), (0, 65, "0 to 64")):
        with pytest.raises(ConfigError, match=fault):
            locate(made, path, unit, position)


def test_a_line_is_traced_to_its_document(tmp_path: Path) -> None:
    corpus = exported(tmp_path, AMBER)
    tokenizer = tokenizer_of(corpus)
    lines = lines_of(folder_of(tmp_path, "amber"))["train/train_1"]
    texts = {
        (document.source, document.id): document.text
        for partition in partitions(corpus, "decontaminated_train")
        for document in partition.documents()
    }
    for row, line in enumerate(lines):
        for position in (0, 30, 64):
            traced = trace_export(corpus, "amber", "train_1.jsonl", row, position)
            assert traced.origin.source == line["source"]
            if traced.position is not None:
                ids = tokenizer.encode_plain([texts[traced.origin.source, traced.origin.id]])[0].tolist()
                assert ids[traced.position] == line["token_ids"][position]
            else:
                assert line["token_ids"][position] == tokenizer.eos_id


def test_weights_choose_the_documents_of_the_streams(tmp_path: Path) -> None:
    weights = {"tokens": {"books": 1500, "web": 300}, "max_epochs": 9.0}
    corpus = exported(tmp_path, {**AMBER, "weights": weights, "chunks": 1})
    found = manifest_of(corpus, "amber")
    (lines,) = lines_of(folder_of(tmp_path, "amber")).values()
    assert {line["source"] for line in lines} == {"books", "web"}
    assert found["ids"] == len(lines) * 65 + sum(lost["ids"] for lost in found["dropped"].values())
    for source, wanted in weights["tokens"].items():  # type: ignore[attr-defined]
        assert abs(found["sources"][source]["tokens"] - wanted) < 150
    assert all(trace_export(corpus, "amber", "train_0.jsonl", row, 9) for row in range(len(lines)))


def test_a_mix_of_amber_has_validation_files_without_a_line(tmp_path: Path) -> None:
    part = {**AMBER, "name": "part", "compat": "amber", **own_files(tmp_path)}
    mixes = (
        {**AMBER, **options, "input": [{"source": "one", "datasets": ["part"]}]}
        for options in ({"compat": "amber"}, {"name": "ours"})
    )
    corpus = exported(tmp_path, part, *mixes)
    (file,) = (folder_of(tmp_path, "amber") / "valid").iterdir()
    assert (file.name, file.read_bytes()) == ("one.jsonl", b"")
    assert not any((folder_of(tmp_path, name) / "valid").exists() for name in ("part", "ours"))
    assert window_faults_of(corpus, "amber") == []


def window_faults_of(corpus: Corpus, name: str) -> list[str]:
    """What is wrong with the files of a dataset."""
    rule = Rule(65, with_source=True)
    made = partitions(corpus, f"{name}_tokens")
    return [fault for one in made for fault in window_faults(one.record, corpus.storage, rule)]


def test_a_mix_of_datasets_cuts_the_windows_of_each_by_itself(tmp_path: Path) -> None:
    parts = [
        {"name": name, "format": "amber", "chunks": 1, "window": 65, **own_files(tmp_path, name)} for name in "xyz"
    ]
    for part in parts:
        part["shuffle"] = False
    sets = [{"source": "two/of", "datasets": ["z", "x"]}, {"source": "one", "datasets": ["y"]}]
    corpus = exported(tmp_path, *parts, {**AMBER, "input": sets, "chunks": 1, "shuffle": False})
    of_parts = {name: lines_of(folder_of(tmp_path, name))["train/train_0"] for name in "xyz"}
    assert {line["source"] for line in of_parts["x"]} == {"x"}
    (mixed,) = lines_of(folder_of(tmp_path, "amber")).values()
    expected = [line["token_ids"] for name in "zxy" for line in of_parts[name]]
    assert [line["token_ids"] for line in mixed] == expected
    assert [line["source"] for line in mixed] == ["two/of"] * len(of_parts["z"] + of_parts["x"]) + ["one"] * len(
        of_parts["y"]
    )
    assert manifest_of(corpus, "amber")["sources"].keys() == {"x", "y", "z"}
    eos = tokenizer_of(corpus).eos_id
    for ids, origins in located(corpus, [f"{name}_token_stream" for name in "xyz"], 1):
        assert ids == [eos if id_ == -1 else id_ for id_ in origins]
    assert trace_export(corpus, "amber", "train_0.jsonl", 0, 3).origin.source == "z"


def test_documents_without_text_leave_their_separators(tmp_path: Path) -> None:
    write_raw(tmp_path, "own/a.jsonl", [{"id": str(n), "text": ""} for n in range(7)])
    own = {"location": "raw/own"}
    corpus = exported(tmp_path, {**AMBER, "input": own, "window": 3, "chunks": 2})
    eos = tokenizer_of(corpus).eos_id
    for lines in lines_of(folder_of(tmp_path, "amber")).values():
        assert lines == [{"token_ids": [eos] * 3, "source": "amber"}]
    assert manifest_of(corpus, "amber")["dropped"] == {"window_tail": {"documents": 0, "ids": 1}}


def test_a_source_with_too_few_windows_fails_with_its_name(tmp_path: Path) -> None:
    exported(tmp_path, AMBER)
    write_config(tmp_path, {"datasets": [{**AMBER, "validation": 10_000}]})
    corpus = opened(tmp_path)
    failed = drive(corpus, corpus.graph.select(["+amber_manifest"])).failed
    assert failed
    assert all("datasets.amber.validation: source 'books' has" in fault for fault in failed)


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"eos_text": "x", "separator": "before"}, "stand in place of a separator"),
        ({"bos_text": "x", "separator_token": "y"}, "stand in place of a separator"),
        ({"source": "x"}, "valid with files of its own"),
        ({"input": [{"source": "../x", "datasets": ["x"]}]}, "source"),
        ({"input": [{"source": "x", "datasets": ["nothing"]}]}, "mixes 'nothing', which is no dataset"),
        ({"input": [{"source": "x", "datasets": ["amber"]}]}, "mixes 'amber', which is no dataset"),
        ({"input": [{"source": "x", "datasets": ["plain", "plain"]}]}, "'plain' is in two sets"),
        ({"input": [{"source": "x", "datasets": ["plain", "same"]}]}, "hold the same documents"),
        ({"input": [{"source": "x", "datasets": ["other"]}]}, "has another tokenizer"),
        ({"input": [{"source": "x", "datasets": ["plain"]}], "ftfy": True}, "texts of a mix are cleaned"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, options: dict[str, Any], fault: str) -> None:
    plain = {"name": "plain", "format": "megatron"}
    other = {"name": "other", "format": "megatron", "tokenizer": {"kind": "neox", "path": "x.json"}}
    with pytest.raises(ConfigError, match=fault):
        write_config(tmp_path, {"datasets": [plain, {**plain, "name": "same"}, other, {**AMBER, **options}]})


def test_a_profile_keeps_what_is_given(tmp_path: Path) -> None:
    corpus = exported(tmp_path, {**AMBER, "compat": "amber", "draw": "keyed"})
    (dataset,) = corpus.settings.values["datasets"]
    assert (dataset["shuffle"], dataset["draw"]) == (False, "keyed")


def test_the_check_finds_lines_that_are_no_windows(tmp_path: Path) -> None:
    corpus = exported(tmp_path, {**AMBER, "chunks": 1})
    assert windows_are_valid(corpus, "amber")
    made = next(one for one in partitions(corpus, "amber_tokens") if one.has(".jsonl"))
    rule = Rule(65, tokenizer_of(corpus).vocab_size, with_source=True)
    assert window_faults(made.record, corpus.storage, rule) == []
    assert window_faults(made.record, corpus.storage, Rule(65, 5, with_source=True))[0].startswith(
        "exports/amber/train/train_0.jsonl: Bad id at 1: "
    )
    file = folder_of(tmp_path, "amber") / "train" / "train_0.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([lines[0], b"{}\n", *lines[2:-1]]))
    faults = window_faults(made.record, corpus.storage, rule)
    assert [fault.partition(": ")[2] for fault in faults] == [
        "No token_ids at 2",
        f"{len(lines) - 1} lines, {len(lines)} are recorded",
    ]
    file.unlink()
    assert "cannot be read" in window_faults(made.record, corpus.storage, rule)[0]
