"""Datasets of parts through the product: texts and masked documents in the same rows, weighed by tokens."""

from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.export.format import places_of
from corpus_assets.export.masked.documents import MASK
from corpus_assets.export.token_stream import DATA, LENGTHS
from corpus_assets.orchestration.building.notes import build_notes
from corpus_assets.report.model import decode
from corpus_assets.report.report import MODEL
from resources.errors import ConfigError
from resources.formats.token_streams import ORIGINS, STREAMS
from resources.stage.partition import Partition
from tests.build.small import contents, drive, opened, write_small
from tests.export.exported import manifest_of, partitions, tokenizer_of
from tests.export.masked import rules
from tests.export.masked.product import CHAT, FIM, LENGTH, PAIRS, built, dataset, exported_rows, write_own
from tests.export.masked.rules import Document, of_documents
from tests.export.masked.test_product import asked, faults

SHORT = 200
PARTS = {"web": {"input": "decontaminated_train"}, "sft": {"dataset": "chat"}, "code": {"dataset": "fim"}}
WEIGHTS = {"shares": {"web": 0.6, "sft": 0.3, "code": 0.1}, "total": 30_000, "max_epochs": 9, "seed": 3}
LATER = {"location": "own/later", "messages_key": "messages", "may_be_empty": True}
MIXED: dict[str, Any] = {"sequence_length": LENGTH, "format": "parquet", "parts": PARTS}
DATASETS: list[dict[str, Any]] = [
    dataset("chat", CHAT, format="parquet", unit="document"),
    dataset("fim", FIM, format="parquet"),
    dataset("pairs", PAIRS, format="olmo"),
    dataset("once", MIXED),
    dataset("wide", {**MIXED, "sequence_length": 700}),
    dataset("weighed", MIXED, weights=WEIGHTS),
    dataset("paired", {**MIXED, "parts": {"pairs": {"dataset": "pairs"}, **PARTS}}),
    dataset("bridge", {**MIXED, "sequence_length": SHORT, "parts": {"web": PARTS["web"]}}, format="megatron_bridge"),
    dataset("later", {**CHAT, "input": LATER}, format="parquet", unit="document"),
    dataset(
        "sparse",
        {**MIXED, "parts": {"later": {"dataset": "later"}, "sft": PARTS["sft"]}},
        weights={"shares": {"later": 3, "sft": 1}},
    ),
    dataset("cut", {**MIXED, "sequence_length": SHORT, "parts": {"web": PARTS["web"]}}, long_documents="cut"),
    *(dataset(f"as_{name}", {**MIXED, "format": name}) for name in ("arrow", "megatron_bridge", "mds", "olmo")),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("parts")
    (made / "own/later").mkdir(parents=True)
    corpus = built(made, *DATASETS)
    assert drive(corpus, list(corpus.graph)).failed == []
    return made


def documents_of(stream: Partition, *, separator: int | None = None, masked: bool = True) -> list[Document]:
    """The ids of the documents of a partition, and which of them are learned."""
    ends = np.cumsum([0, *stream.array(LENGTHS)])
    pairs = list(pairwise(ends.tolist()))
    ids = stream.array(DATA)
    if masked:
        mask = stream.array(MASK)
        return [(ids[start:end].tolist(), mask[start:end].tolist()) for start, end in pairs]
    tail = [] if separator is None else [separator]
    whole = [[*ids[start:end].tolist(), *tail] for start, end in pairs if end > start]
    return [(own, [0, *[1] * (len(own) - 1)]) for own in whole]


def of_part(corpus: Corpus, name: str) -> list[Document]:
    """The documents of a part, whole."""
    if name == "web":
        eos, asset = tokenizer_of(corpus).eos_id, "decontaminated_train_token_stream"
        return [one for made in partitions(corpus, asset) for one in documents_of(made, separator=eos, masked=False)]
    asset = f"{PARTS[name]['dataset']}_masked_token_stream"
    return [one for made in partitions(corpus, asset) for one in documents_of(made)]


def folded(documents: list[Document]) -> list[Document]:
    """Documents in pieces of the length of a row; pieces of one id have nothing to learn."""
    found: list[Document] = []
    for ids, learned in documents:
        for start in range(0, len(ids), LENGTH):
            own = ids[start : start + LENGTH], [0, *learned[start + 1 : start + LENGTH]]
            found += [own] if len(own[0]) > 1 else []
    return found


def test_rows_hold_every_document_of_every_part(folder: Path) -> None:
    corpus = opened(folder)
    expected = of_documents(folded([one for name in PARTS for one in of_part(corpus, name)]))
    rows = exported_rows(folder, "once")
    assert rules.trl(rows) == expected
    assert all(len(row["input_ids"]) <= LENGTH for row in rows)
    assert manifest_of(corpus, "once")["learned"] == expected.total()


def test_rows_of_every_format_teach_the_same(folder: Path) -> None:
    expected = rules.trl(exported_rows(folder, "once"))
    arrow = folder / "corpus/exports/as_arrow"
    import pyarrow as pa

    rows = [
        row
        for path in sorted(arrow.glob("data-*.arrow"))
        for row in pa.ipc.open_stream(path.read_bytes()).read_all().to_pylist()
    ]
    assert rules.llama_factory(rows) == expected
    # A row of Megatron-Bridge has a position less for each document, so texts are cut in other places.
    bridge = exported_rows(folder, "as_megatron_bridge")
    assert rules.megatron_bridge(bridge, LENGTH).total() >= expected.total()


def test_rows_of_megatron_bridge_hold_pieces_of_an_id_more_than_they_have_positions(folder: Path) -> None:
    texts = [ids for ids, _ in of_part(opened(folder), "web")]
    pieces = [ids[at : at + SHORT + 1] for ids in texts for at in range(0, len(ids), SHORT + 1)]
    rows = exported_rows(folder, "bridge")
    assert max(map(len, pieces)) == SHORT + 1
    expected = of_documents([(ids, [0, *[1] * (len(ids) - 1)]) for ids in pieces])
    assert rules.megatron_bridge(rows, SHORT) == expected


def test_a_text_in_pieces_is_one_document(folder: Path) -> None:
    corpus = opened(folder)
    found, texts = manifest_of(corpus, "bridge"), of_part(corpus, "web")
    streams = [made.record.statistics["by_part"]["web"] for made in partitions(corpus, "bridge_masked_token_stream")]
    counts = [sum(one["documents"] for one in counted) for counted in (found["sources"].values(), streams)]
    assert [found["documents"], *counts] == [len(texts)] * 3
    assert sum(one["pieces"] for one in streams) == found["sequences"] > len(texts)


def test_rows_mix_parts(folder: Path) -> None:
    texts = {tuple(ids) for ids, _ in of_part(opened(folder), "web")}
    mixed = 0
    for row in exported_rows(folder, "wide"):
        ends = np.cumsum([0, *row["seq_lengths"]]).tolist()
        of_texts = [tuple(row["input_ids"][start:end]) in texts for start, end in pairwise(ends)]
        mixed += any(of_texts) and not all(of_texts)
    assert mixed > 0


def test_parts_have_the_tokens_that_weights_say(folder: Path) -> None:
    corpus = opened(folder)
    mixture = manifest_of(corpus, "weighed")["mixture"]["sources"]
    by_part = Counter[str]()
    used = Counter[tuple[str, str, int]]()
    for made in partitions(corpus, "weighed_masked_token_stream"):
        read, origins = made.json(STREAMS), made.array(ORIGINS)
        names = {
            "decontaminated_train_token_stream": "web",
            "chat_masked_token_stream": "sft",
            "fim_masked_token_stream": "code",
        }
        for length, row in zip(made.array(LENGTHS).tolist(), origins.tolist(), strict=True):
            asset, key, _ = read[row[0]]
            by_part[names.get(asset, "code")] += length
            if not row[3]:
                used[asset, key, row[1]] += 1
    for part, share in (("web", 0.6), ("sft", 0.3), ("code", 0.1)):
        assert mixture[part]["target"] == round(30_000 * share)
        assert abs(mixture[part]["reached"] - mixture[part]["target"]) < 200
    assert by_part["sft"] == mixture["sft"]["reached"]
    assert by_part["code"] == mixture["code"]["reached"]
    assert max(used.values()) - min(used.values()) <= 8
    assert max(used.values()) > 1


def test_a_part_that_may_be_empty_is_passed_over_with_a_note(folder: Path) -> None:
    corpus = opened(folder)
    mixture = manifest_of(corpus, "sparse")["mixture"]["sources"]
    assert [(part, used["epochs"]) for part, used in mixture.items()] == [("sft", 1.0)]
    said = "datasets.sparse.weights 'later': it has no documents, so the others share what it should have"
    assert said in build_notes(corpus.planner())


def test_copies_lie_apart(folder: Path) -> None:
    for made in partitions(opened(folder), "weighed_masked_token_stream"):
        rows = made.array(ORIGINS)[["stream", "document"]].tolist()
        assert sum(one == other for one, other in pairwise(rows)) < len(rows) / 4


def test_checks_find_nothing(folder: Path) -> None:
    assert faults(opened(folder)) == []


def test_what_is_cut_is_counted(folder: Path) -> None:
    corpus = opened(folder)
    lost = sum(max(0, len(ids) - SHORT) for ids, _ in of_part(corpus, "web"))
    streams = partitions(corpus, "cut_masked_token_stream")
    assert sum(one.record.statistics["truncated_tokens"] for one in streams) == lost
    long = sum(len(ids) > SHORT for ids, _ in of_part(corpus, "web"))
    assert sum(one.record.statistics["documents_truncated"] for one in streams) == long
    made = manifest_of(corpus, "cut")
    assert (made["packing"]["truncated_tokens"], made["documents_truncated"]) == (lost, long)
    assert made["dropped"] == {"long_document": {"documents": 0, "ids": lost}}
    said = {one.name: one for one in decode((folder / "corpus" / MODEL).read_bytes()).datasets}
    assert said["cut"].dropped_tokens == {"long_document": lost}
    assert said["cut"].sequences_per_row == manifest_of(corpus, "cut")["packing"]["sequences_per_row"]
    assert said["weighed"].mixture.keys() == PARTS.keys()
    assert said["chat"].discarded == {"too_long": 2}


@pytest.mark.parametrize("name", ["once", "weighed", "as_arrow", "as_megatron_bridge", "as_olmo"])
def test_a_token_leads_to_its_document_and_back(folder: Path, name: str) -> None:
    for made in partitions(opened(folder), f"{name}_tokens"):
        for place in places_of(made)[:1]:
            for row in {0, place.units // 2, place.units - 1}:
                found = asked(folder, "trace", name, place.path, row, 0)
                origin = found["origin"]
                assert origin["row"] is not None
                why = asked(folder, "why", origin["id"], "--source", origin["source"])
                steps = [step for way in why["ways"] for step in way["steps"] if step["stage"] == f"{name}_tokens"]
                runs = [run for step in steps for run in step["details"]["rows"]]
                assert any(run["file"] == place.path and run["first"] <= row <= run["last"] for run in runs)


def test_a_position_is_that_in_the_whole_document(folder: Path) -> None:
    corpus, eos = opened(folder), tokenizer_of(opened(folder)).eos_id
    made = partitions(corpus, "once_tokens")[0]
    place, rows = places_of(made)[0], exported_rows(folder, "once")
    seen = Counter[str]()
    for number in range(min(place.units, 6)):
        row, lengths = rows[number], rows[number]["seq_lengths"]
        for start, length in zip(np.cumsum([0, *lengths[:-1]]).tolist(), lengths, strict=True):
            first, last = (asked(folder, "trace", "once", place.path, number, at) for at in (start, start + length - 1))
            assert first["origin"]["id"] == last["origin"]["id"]
            if row["input_ids"][start + length - 1] == eos and first["origin"]["source"] in ("books", "web", "notes"):
                assert last["position"] is None
                seen["separator"] += 1
            elif last["position"] is not None:
                assert last["position"] - first["position"] == length - 1
                seen["begun" if first["position"] else "whole"] += 1
    assert seen["separator"]


def test_commands_count_its_tokens(folder: Path) -> None:
    found = asked(folder, "tokens")
    (one,) = [one for one in found["datasets"] if one["name"] == "once"]
    assert one["loss_tokens"] == manifest_of(opened(folder), "once")["learned"]
    assert {one["source"] for one in found["streams"] if one["stream"] == "once_masked_token_stream"} >= {
        "chat",
        "books",
    }


def test_a_change_in_one_part_makes_again_what_depends_on_it(tmp_path: Path) -> None:
    parts = {"web": PARTS["web"], "sft": PARTS["sft"]}
    chosen = [dataset("all", {**MIXED, "parts": parts}), DATASETS[0]]  # In either order.
    built(tmp_path, *chosen)
    before = {one.key: one.record.digest for one in partitions(opened(tmp_path), "decontaminated_train_token_stream")}
    path = tmp_path / "own/chat/a.jsonl"
    lines = path.read_text().splitlines()
    path.write_text("\n".join(lines[:-1]) + "\n")
    corpus = opened(tmp_path)
    stale = {
        one.asset: one.reason for one in corpus.planner().plan().decisions if one.status.value in ("stale", "waiting")
    }
    assert "all_masked_token_stream" in stale
    assert "chat" in stale["all_masked_token_stream"]
    assert "decontaminated_train_token_stream" not in stale
    assert "chat_tokens" in stale
    assert drive(corpus).failed == []
    assert before == {one.key: one.record.digest for one in partitions(corpus, "decontaminated_train_token_stream")}


@pytest.mark.slow
def test_the_number_of_workers_changes_nothing(tmp_path: Path) -> None:
    found = []
    for workers in (1, 3):
        (tmp_path / str(workers) / "own/later").mkdir(parents=True)
        found.append(contents(built(tmp_path / str(workers), *DATASETS, **{"engine.workers": workers})))
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sequence_length": 64}, "has documents of up to 256 ids, and rows hold documents of up to 64: a loss mask"),
        ({"weights": {"shares": {"web": 1}}}, "weights name web; valid: each part, which are web, sft, code: 'code'"),
        ({"parts": {"a": {"dataset": "nowhere"}}}, "part 'a' of 'once' is 'nowhere', which is no dataset in a trainer"),
        ({"parts": {"a": {"dataset": "chat"}, "b": {"dataset": "chat"}}}, "part 'b' of 'once' has the same documents"),
        (
            {"parts": {"a": {"input": "train"}, "b": {"input": "decontaminated_train"}}},
            "has the same documents as part",
        ),
        ({"parts": {"a": {}}}, "a part needs either dataset or input"),
        ({"format": "megatron"}, "format is 'megatron'; valid with parts: parquet, arrow, megatron_bridge, mds, olmo"),
        ({"mode": "chat"}, "mode is 'chat'; valid with parts: none"),
        ({"reader": "axolotl", "unit": "row"}, "sample_packing overwrites position_ids"),
    ],
)
def test_parts_that_cannot_be_are_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as refused:
        built(tmp_path, *DATASETS[:3], {"name": "once", **MIXED, **changes})
    assert message in str(refused.value)


def test_parts_have_one_tokenizer(tmp_path: Path) -> None:
    own = {"kind": "train", "vocabulary": 310, "sample": 20000}
    other = dataset("other", PAIRS, format="parquet", tokenizer=own)
    write_own(tmp_path)
    all_ = dataset("all", {**MIXED, "parts": {"web": PARTS["web"], "sft": {"dataset": "other"}}})
    write_small(tmp_path, {"datasets": [other, all_]})
    corpus = opened(tmp_path)
    with pytest.raises(ConfigError, match=r"parts\.sft: its ids are those of other_tokenizer"):
        corpus.graph["all_masked_token_stream"].hooks.check_before(corpus.settings.values)
    faults = {fault for fault in drive(corpus).failed if str(fault).startswith("all_masked")}
    assert faults
    assert all("valid: the same tokenizer" in str(fault) for fault in faults)
