"""What frames add up to is what the report says."""

from pathlib import Path

import pandas as pd
import pytest

from corpus_assets import frames
from corpus_assets.frames import Frames
from corpus_assets.report.model import Model, decode
from corpus_assets.report.report import MODEL
from tests.build.small import opened


@pytest.fixture(scope="module")
def corpus(built_once: Path) -> Frames:
    return frames.open(built_once)


@pytest.fixture(scope="module")
def report(built_once: Path) -> Model:
    return decode((built_once / "corpus" / MODEL).read_bytes())


def numbers(found: pd.DataFrame, *columns: str) -> list[tuple[object, ...]]:
    """The values of some columns, row by row; None where there is none."""
    return [tuple(None if pd.isna(one) else one for one in row) for row in found[[*columns]].itertuples(index=False)]


def test_records(corpus: Frames, report: Model, built_once: Path) -> None:
    found = corpus.records()
    per_asset = found.groupby("asset", observed=True).size().to_dict()
    assert {name: per_asset[name] for name in report.stages} == {n: s.partitions for n, s in report.stages.items()}
    rows = found.groupby("asset", observed=True)[["rows_out", "text_bytes"]].sum()
    for step in report.steps:
        if step.name in ("read", "filtered", "train"):
            assert list(rows.loc[step.asset]) == [step.documents, step.text_bytes]
    stored = sum(file.stat().st_size for file in (built_once / "corpus").rglob("*") if is_named(built_once, file))
    assert found.stored_bytes.sum() == stored
    assert found.created.max() <= pd.Timestamp.now(tz="UTC")
    assert found.set_index(["asset", "partition"]).source["raw_source", "books--one"] == "books"


def is_named(folder: Path, file: Path) -> bool:
    return str(file.relative_to(folder / "corpus")) in opened(folder).owned_files()


def test_a_corpus_that_was_built_is_fresh(corpus: Frames) -> None:
    plan = corpus.plan()
    assert set(plan.status) == {"fresh"}
    assert len(plan) == len(corpus.records())


def test_dropped_documents(corpus: Frames, report: Model) -> None:
    found = corpus.dropped()
    assert found.rows.sum() == corpus.records().dropped.sum()
    for step in report.steps:
        ours = found[found.asset == step.asset]
        if step.losses:
            assert ours.groupby("reason").rows.sum().to_dict() == {one.reason: one.documents for one in step.losses}
            for loss in step.losses:
                of_reason = ours[ours.reason == loss.reason].groupby("source", observed=True).rows.sum()
                assert of_reason.to_dict() == loss.by_source


def test_histograms(corpus: Frames, report: Model) -> None:
    (measure,) = report.measures
    found = corpus.histograms()
    bins = found[found.low.notna()]
    assert set(found.key) == {measure.key}
    assert bins.documents.tolist() == measure.counts
    assert [*bins.low, bins.high.iloc[-1]] == measure.edges
    assert found[found.low.isna()].documents.tolist() == [measure.none]
    assert found.documents.sum() == next(step.documents for step in report.steps if step.name == "read")


def test_splits(corpus: Frames, report: Model) -> None:
    found = corpus.splits()
    sums = found.groupby("split", observed=True)[["documents", "text_bytes"]].sum()
    for split in report.splits:
        assert list(sums.loc[split.name]) == [split.documents, split.text_bytes]
        ours = found[found.split == split.name].set_index("source")
        assert split.by_source == {name: {k: int(row[k]) for k in sums.columns} for name, row in ours.iterrows()}
    assert set(found.built) == set(found.partitions) == {3}


def test_datasets(corpus: Frames, report: Model) -> None:
    found = corpus.datasets()
    columns = ("sequence_length", "rows", "documents", "tokens", "loss_tokens", "slots")
    assert numbers(found, "dataset", *columns) == [
        (one.name, *(getattr(one, column) for column in columns)) for one in report.datasets
    ]
    assert set(found.dataset) == {"train", "validation", "megatron"}


def test_tokens(corpus: Frames, report: Model) -> None:
    found = corpus.tokens()
    columns = ("documents", "text_bytes", "tokens", "loss_tokens")
    for one in report.datasets:
        assert one.by_source
        assert numbers(found[found.dataset == one.name], "source", *columns) == [
            (source, *(counted.get(column) for column in columns)) for source, counted in sorted(one.by_source.items())
        ]
    hdf5 = found[found.dataset == "train"]
    assert hdf5.loss_tokens.sum() == next(one.loss_tokens for one in report.datasets if one.name == "train")
    assert found[found.dataset == "megatron"].loss_tokens.isna().all()
