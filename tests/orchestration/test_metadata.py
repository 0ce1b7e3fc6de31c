"""What the web UI shows: numbers with units and no wrong zeros, words that add up, the configuration with defaults."""

from typing import Any

import dagster as dg
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from corpus_assets.config.corpus_config import CorpusConfig
from corpus_assets.config.reading.loading import load_config
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.orchestration.shown.config_text import config_text
from corpus_assets.orchestration.shown.definition import definition_metadata, depends_on, description
from corpus_assets.orchestration.shown.drop_reasons import drop_reasons
from corpus_assets.orchestration.shown.figures import figures, merged, summary_line
from corpus_assets.orchestration.shown.markdown import fenced, table
from corpus_assets.orchestration.shown.metadata import partition_metadata
from corpus_assets.orchestration.shown.pages import page
from resources.stage.declaration import Partitioning, Stage
from tests.build.small import write_config
from tests.house import TOP
from tests.orchestration.runs import Runs


def stage(**more: Any) -> Stage:
    given: dict[str, Any] = {"unit_in": "documents", "unit_out": "documents", **more}
    return Stage(
        name="some",
        group="some",
        description="Something.",
        partitioning=given.pop("partitioning", Partitioning.CHUNK),
        compute=lambda _: None,
        code_version="1",
        io="documents",
        **given,
    )


def shown(corpus: Corpus, asset: str, key: str | None) -> dict[str, Any]:
    found = corpus.graph[asset]
    records = corpus.ledger.records(asset)
    reasons = drop_reasons(found, corpus.settings.values, records.values())
    metadata = partition_metadata(found, records[key], reasons, place="store", why="new shard")
    return {name: value.value if isinstance(value, dg.MetadataValue) else value for name, value in metadata.items()}


def test_a_line_of_words_comes_first(built: Runs) -> None:
    corpus = built.corpus
    for one in corpus.graph:
        key = next(iter(corpus.ledger.records(one.name)))
        metadata = shown(corpus, one.name, key)
        assert next(iter(metadata)) == "summary"
        assert metadata["summary"]
        assert metadata["look"] == page(one.name, key)


def test_what_does_not_apply_is_left_out(built: Runs) -> None:
    raw = shown(built.corpus, "raw_source", "books--one")
    assert not raw.keys() & {"stored (MB)", "stored as", "dagster/uri", "text (MB/s)", "dagster/row_count"}
    for asset, key in (("tokenizer", None), ("verified_pairs", "range-000"), ("holdout_selection", None)):
        rows = shown(built.corpus, asset, key).get("dagster/row_count")
        assert rows is None or rows > 0
    assert "sequences per row" not in shown(built.corpus, "train_tokens", "chunk-0000")


def test_no_number_is_there_twice(built: Runs) -> None:
    pairs = shown(built.corpus, "duplicate_pairs", "band-00")
    count = built.corpus.ledger.records("duplicate_pairs")["band-00"].statistics["rows_out"]
    assert [name for name, value in pairs.items() if name not in ("summary", "details") and value == count] == [
        "pairs out"
    ]


def test_internals_are_folded(built: Runs) -> None:
    tokens = shown(built.corpus, "train_tokens", "chunk-0000")
    assert not [name for name in tokens if "probe" in name or name == "recipe"]
    record = built.corpus.ledger.records("train_tokens")["chunk-0000"]
    assert tokens["details"]["recipe"] == record.recipe
    assert "tokenizer_probe_texts" in tokens["details"]


def test_what_went_elsewhere_is_not_dropped(built: Runs) -> None:
    train, holdout = (shown(built.corpus, name, "chunk-0000") for name in ("train", "holdout"))
    assert train["went to holdout"] == train["documents in"] - train["documents out"]
    assert "dropped: held out" not in train
    assert holdout["went to train"] == train["documents out"]
    assert "dropped: repeat of held out" in holdout


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ({"rows_in": 2, "rows_out": 1, "dropped": {"short": 1}}, "1 of 2 documents (1 short)"),
        ({"rows_in": 1, "rows_out": 1}, "1 document"),
        ({"rows_in": 9, "rows_out": 9, "text_bytes": 2_000_000, "seconds": 0.1}, "9 documents, 20 MB/s of text"),
        ({"rows_in": 9, "rows_out": 9, "text_bytes": 2_000_000, "seconds": 0.001}, "9 documents"),
        ({"bytes": 2148, "files": 1}, "2.1 kB, 1 file"),
        ({"vocabulary": 8192, "eos_id": 0}, "vocabulary of 8,192 ids"),
        ({"rows_in": 3, "rows_out": 1, "dropped": {"gone": 2}}, "1 of 3 documents (2 went to elsewhere)"),
        ({}, ""),
    ],
)
def test_words_of_a_summary(numbers: dict[str, Any], words: str) -> None:
    assert summary_line(stage(moves={"gone": "elsewhere"}), numbers) == words


def test_a_summary_of_tokens() -> None:
    stats = {"num_sequences": 1528, "num_tokens": 1564672, "loss_valid_tokens": 1563851}
    numbers = {"rows_in": 2008, "rows_out": 1528, "tokens": 1563851, "h5_dataset_stats": stats}
    words = summary_line(stage(unit_out="rows"), {**numbers, "text_bytes": 5_000_000, "seconds": 0.25})
    assert words == "2,008 documents, 1,563,851 tokens in 1,528 rows, 99.95 % full, 20 MB/s of text"
    found = figures(stage(unit_out="rows"), {**numbers, "text_bytes": 5_000_000}, [])
    assert found["padding (tokens)"] == 821
    assert found["sequence length"] == 1024
    assert found["full (%)"] == pytest.approx(99.9475, abs=1e-3)


ROWS = st.fixed_dictionaries(
    {
        "rows_in": st.integers(0, 99),
        "rows_out": st.integers(0, 99),
        "seconds": st.floats(0, 9),
        "dropped": st.dictionaries(st.sampled_from(["a", "b"]), st.integers(0, 9)),
        "largest": st.integers(0, 99),
        "by_source": st.dictionaries(
            st.sampled_from("xyz"), st.fixed_dictionaries({"documents": st.integers(0, 9), "tokens": st.integers(0, 9)})
        ),
    }
)


@given(st.lists(ROWS, max_size=5))
def test_sums_are_sums(every: list[dict[str, Any]]) -> None:
    total = merged(stage(), every)
    assert total.get("rows_out", 0) == sum(one["rows_out"] for one in every)
    assert sum(total.get("dropped", {}).values()) == sum(sum(one["dropped"].values()) for one in every)
    counted = sum(source["tokens"] for one in every for source in one["by_source"].values())
    assert sum(source["tokens"] for source in total.get("by_source", {}).values()) == counted
    assert "largest" not in total


def test_all_bands_read_the_same_documents() -> None:
    bands = [{"rows_in": 13, "rows_out": 2}, {"rows_in": 13, "rows_out": 3}]
    assert merged(stage(partitioning=Partitioning.BAND), bands) == {"rows_in": 13, "rows_out": 5}


def test_every_partition_has_every_reason_and_the_whole_only_those_that_happened() -> None:
    reasons = ["a", "b"]
    one = figures(stage(), {"rows_in": 3, "rows_out": 2, "dropped": {"a": 1}}, reasons)
    assert (one["dropped: a"], one["dropped: b"], one["documents dropped"]) == (1, 0, 1)
    whole = figures(stage(), {"rows_in": 3, "rows_out": 2, "dropped": {"a": 1}}, reasons, whole=True)
    assert "dropped: b" not in whole
    assert whole["dagster/row_count"] == 2


def test_parameters_have_their_values_and_those_of_sources_that_differ(built: Runs) -> None:
    write_config(built.folder, {"short_documents.threshold": 77})
    corpus = built.corpus
    assert depends_on(corpus, corpus.graph["short_documents"])["short_documents.threshold"] == "77"
    values = depends_on(corpus, corpus.graph["mixed_pass1"])
    assert values["mix.chunks"] == "3"
    assert values["source.epochs"] == "books, notes: 1.0; web: 1.5"


def test_definitions_say_what_columns_hold_and_where_to_look(built: Runs) -> None:
    corpus = built.corpus
    for one in corpus.graph:
        metadata = definition_metadata(corpus, one)
        assert metadata["look"].value == f"/corpus/assets/{one.name}"
        assert metadata["dagster/uri"] == corpus.storage.place
        first = description(one).splitlines()[0]
        assert "`" not in first
        schema = metadata.get("dagster/column_schema")
        assert schema is None or all(column.description and ":" not in column.type for column in schema.columns)
    inventory = definition_metadata(corpus, corpus.graph["inventory"])
    assert "raw/books" in inventory["sources"].value
    assert inventory["corpus.yaml"].value.startswith("```yaml\n")


def test_a_page_is_where_the_viewer_has_it() -> None:
    assert page("train_tokens") == "/corpus/assets/train_tokens"
    assert page("train_tokens", "chunk-0000") == "/corpus/assets/train_tokens/chunk-0000"
    assert page("a/b", "x y--%2F") == "/corpus/assets/a%2Fb/x%20y--%252F"


@pytest.mark.parametrize("of_the_sample", [True, False])
def test_the_configuration_as_text_is_the_configuration(built: Runs, *, of_the_sample: bool) -> None:
    config = load_config((TOP if of_the_sample else built.folder) / "corpus.yaml")
    again = CorpusConfig.model_validate(yaml.safe_load(config_text(config)))
    assert again == config


HOSTILE = st.text(alphabet="`|*_[]<>#\\\n\r ~a1-", max_size=20)


@given(st.lists(st.tuples(HOSTILE, HOSTILE), min_size=1, max_size=3))
def test_a_table_has_a_cell_for_every_value(rows: list[tuple[str, str]]) -> None:
    lines = table(["a", "b"], rows).split("\n")
    assert len(lines) == 2 + len(rows)
    parsed = MarkdownIt("commonmark").enable("table").parse("\n".join(lines))
    cells = [token.content for token in parsed if token.type == "inline"]
    assert len(cells) == 2 * len(rows) + 2
    kinds = {child.type for token in parsed for child in token.children or ()}
    assert kinds <= {"text", "text_special"}


@given(st.text(alphabet="`\na~", max_size=20))
def test_text_does_not_leave_its_fence(text: str) -> None:
    tokens = MarkdownIt("commonmark").parse(fenced(text, "yaml"))
    assert [token.type for token in tokens] == ["fence"]
    assert tokens[0].content == text.rstrip("\n") + "\n" * (len(text) - len(text.rstrip("\n"))) + "\n"
