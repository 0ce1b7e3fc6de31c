"""Weights that go on after another dataset: no document is used again before all others were."""

import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.config.datasets.weights import Weights
from corpus_assets.export.mixture import document_hashes, mixture
from corpus_assets.export.weights.stored import mix_of
from corpus_assets.export.weights.uses import Mix, times_of
from resources.errors import ConfigError
from resources.formats.row_tables import identifiers
from resources.formats.token_streams import DOCUMENTS, LENGTHS, NAMES
from resources.stage.partition import Partition
from tests.build.small import drive, opened, prose, statuses, write_config, write_raw, write_small
from tests.export.exported import exported, folder_of, manifest_of, partitions
from tests.export.test_megatron import read_indexed

STREAM = "decontaminated_train_token_stream"
SOURCES = ("books", "web", "notes")


def many(folder: Path) -> None:
    """Sources with many documents of several sizes."""
    for source, count in (("books", 120), ("web", 90), ("notes", 40)):
        rows = [{"id": f"{source}{n}", "text": prose(f"{source} {n}", words=10 + n % 7 * 5)} for n in range(count)]
        write_raw(folder, f"{source}/many.jsonl", rows)


@pytest.fixture(scope="module")
def streams(tmp_path_factory: pytest.TempPathFactory) -> list[Partition]:
    """A token stream of three partitions and three sources."""
    folder = tmp_path_factory.mktemp("phases")
    many(folder)
    corpus = exported(folder, {"name": "meg", "format": "megatron"})
    return partitions(corpus, STREAM)


def uses(streams: list[Partition], mix: Mix) -> dict[str, tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]:
    """How often each document of a source is used, and how many tokens it has."""
    found = {}
    for source in SOURCES:
        times, tokens = [], []
        for stream in streams:
            own = stream.array(DOCUMENTS)["source"] == stream.json(NAMES)["sources"].index(source)
            hashes = document_hashes(stream, mix.seed)[own]
            times.append(times_of(hashes, mix.sources[source]) if source in mix.sources else np.zeros(own.sum(), int))
            tokens.append(stream.array(LENGTHS)[own].astype(int))
        found[source] = np.concatenate(times), np.concatenate(tokens)
    return found


@given(
    plan=st.lists(
        st.dictionaries(st.sampled_from(SOURCES), st.sampled_from([0.0, 0.001, 0.2, 0.5, 1.0, 1.7, 2.0]), min_size=1),
        min_size=1,
        max_size=5,
    ),
    seed=st.integers(0, 9),
)
def test_phases_use_each_document_as_often_as_all_others(
    streams: list[Partition], plan: list[dict[str, float]], seed: int
) -> None:
    before: Mix | None = None
    available = {source: int(tokens.sum()) for source, (_, tokens) in uses(streams, Mix(seed, {})).items()}
    total = {source: np.zeros(1, int) for source in SOURCES}
    for number, epochs in enumerate(plan):
        asked = {source: int(share * available[source]) for source, share in epochs.items()}
        weights = Weights(tokens=asked, max_epochs=99, **({"after": "x"} if number else {"seed": seed}))
        mix = mixture(streams, weights, "w", tempfile.TemporaryFile, before=before)
        for source, (times, tokens) in uses(streams, mix).items():
            assert times.min() >= 0
            total[source] = total[source] + times
            assert total[source].max() - total[source].min() <= 1
            used = int((times * tokens).sum())
            assert used == (mix.sources[source].reached if source in mix.sources else 0)
            assert abs(used - asked.get(source, 0)) <= tokens.max() / 2
            if source in mix.ends:
                assert mix.ends[source].tokens == (total[source] * tokens).sum()
        before = mix


def test_the_first_dataset_is_as_it_would_be_alone(streams: list[Partition]) -> None:
    weights = Weights(tokens={"books": 900, "web": 50})
    mix = mixture(streams, weights, "w", tempfile.TemporaryFile)
    assert (mix.unused, [used.begun for used in mix.sources.values()]) == ({}, [None, None])


def test_max_epochs_counts_the_datasets_before(streams: list[Partition]) -> None:
    available = int(uses(streams, Mix(0, {}))["notes"][1].sum())

    def asked(before: Mix | None, **options: Any) -> Mix:
        weights = Weights(tokens={"notes": int(1.5 * available)}, max_epochs=2.0, **options)
        return mixture(streams, weights, "w", tempfile.TemporaryFile, before=before)

    first = asked(None)
    with pytest.raises(ConfigError, match=r"'notes' has .* in the datasets before, 3\.0\d epochs; valid"):
        asked(first, after="x")
    second = asked(first, after="x", on_excess="cap")
    times = uses(streams, first)["notes"][0] + uses(streams, second)["notes"][0]
    assert set(times.tolist()) == {2}
    third = asked(second, after="x", on_excess="cap")
    assert third.sources["notes"].reached == 0


FIRST = {"name": "first", "format": "megatron", "weights": {"tokens": {"books": 5000, "web": 2000}}}
SECOND = {"name": "second", "format": "megatron", "weights": {"after": "first", "tokens": {"books": 3000, "web": 1}}}
THIRD = {"name": "third", "format": "megatron", "weights": {"after": "second", "shares": {"books": 1, "notes": 1}}}


def documents_of(folder: Path, name: str) -> list[tuple[int, ...]]:
    return [tuple(ids) for file in folder_of(folder, name).glob("*.bin") for ids in read_indexed(file.with_suffix(""))]


def test_weights_without_a_dataset_before_have_the_parameters_of_old(tmp_path: Path) -> None:
    """Another parameter would make every mixture that exists again."""
    write_config(tmp_path, {"datasets": [FIRST, SECOND]})
    corpus = opened(tmp_path)
    given_, after = (
        corpus.graph[f"{name}_mixture"].hooks.derived_parameters(corpus.settings.values) for name in ("first", "second")
    )
    keys = {"shares", "tokens", "total", "max_epochs", "on_excess", "seed"}
    assert {key.rpartition(".")[2] for key in given_} == keys
    assert {key.rpartition(".")[2] for key in after} == {*keys, "after"}


def test_only_the_phase_that_changed_is_made_again(tmp_path: Path) -> None:
    many(tmp_path)
    once = {"sources.1.epochs": 1}
    exported(tmp_path, FIRST, SECOND, THIRD, **once)
    first, second = documents_of(tmp_path, "first"), documents_of(tmp_path, "second")
    changed = {**SECOND, "weights": {"after": "first", "tokens": {"books": 2500, "web": 700}}}
    write_config(tmp_path, {"datasets": [FIRST, changed, THIRD], **once})
    corpus = opened(tmp_path)
    last = [*corpus.graph.select(["+first_manifest", "+second_manifest", "+third_manifest"])]
    stale = statuses(corpus.planner().plan(last))
    assert {asset.partition("_")[0] for asset, _ in stale} == {"second", "third"}
    status, reason = stale["second_mixture", None]
    assert status == "stale"
    assert "datasets.second.weights.tokens" in reason
    assert stale["third_mixture", None][0] == "waiting"
    done = drive(corpus, last)
    assert done.failed == []
    assert documents_of(tmp_path, "first") == first
    again = documents_of(tmp_path, "second")
    assert sorted(again) != sorted(second)
    counts = Counter(first) + Counter(again)
    assert max(counts.values()) == 1  # Less than one epoch of both sources together.
    found = manifest_of(corpus, "second")["mixture"]["sources"]
    assert found["web"]["begun"]["tokens"] == manifest_of(corpus, "first")["mixture"]["sources"]["web"]["reached"]
    (third,) = partitions(corpus, "third_mixture")
    assert list(mix_of(third).unused) == ["web"]


def test_a_dataset_in_hdf5_goes_on_too(tmp_path: Path) -> None:
    write_small(tmp_path)
    many(tmp_path)
    rows = {"name": "rows", "sequence_length": 64, "weights": {"after": "first", "tokens": {"books": 3000}}}
    write_config(tmp_path, {"datasets": [FIRST, rows]})
    corpus = opened(tmp_path)
    assert drive(corpus).failed == []
    taken = {document.id for chunk in partitions(corpus, "rows_documents") for document in chunk.documents()}
    (mix,) = (mix_of(one) for one in partitions(corpus, "first_mixture"))
    for stream in partitions(corpus, STREAM):
        times, _ = uses([stream], mix)["books"]
        own = stream.array(DOCUMENTS)["source"] == stream.json(NAMES)["sources"].index("books")
        ids = np.array([*_ids(stream)])[own]
        assert not taken & set(ids[times > 0].tolist())
    assert len(taken) > 10


def _ids(stream: Partition) -> list[str]:
    return list(identifiers(stream.array(DOCUMENTS)["id_end"], stream.array(".ids.npy")))


@pytest.mark.parametrize(
    ("datasets", "fault"),
    [
        (
            [SECOND],
            r"0\.weights\.after: received 'first'; valid: a dataset with weights that stands before: none",
        ),
        ([SECOND, FIRST], r"received 'first'"),
        ([FIRST, {**THIRD, "weights": {"after": "third", "tokens": {"web": 1}}}], "that stands before: first"),
        ([FIRST, {**SECOND, "weights": {**SECOND["weights"], "seed": 4}}], "seed is that of 'first'"),  # type: ignore[dict-item]
        ([{**FIRST, "weights": None}, SECOND], "that stands before: none"),
    ],
)
def test_what_nothing_can_go_on_after(tmp_path: Path, datasets: list[dict[str, Any]], fault: str) -> None:
    with pytest.raises(ConfigError, match=fault):
        write_config(tmp_path, {"datasets": datasets})


@pytest.mark.parametrize("changes", [{"input": "train"}, {"tokenizer": {"kind": "train", "vocabulary": 290}}], ids=str)
def test_texts_and_ids_have_to_be_the_same(tmp_path: Path, changes: dict[str, Any]) -> None:
    write_config(tmp_path, {"datasets": [FIRST, {**SECOND, **changes}]})
    with pytest.raises(ConfigError, match=r"datasets\.second\.weights\.after: 'first' is of other texts or ids"):
        opened(tmp_path)
