"""CSV and web crawls through the product: what is configured, what comes out, what is counted, what recomputes."""

import csv
import gzip
import io
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from corpus_assets.config.reading.loading import parse_config
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.raw.web import libraries
from docs.generate import FOLDER
from resources.errors import ConfigError
from resources.stage.partition import Partition
from tests.build.small import drive, opened, prose, statuses
from tests.golden import shared
from tests.raw.warc_files import conversion, record, response, zipped


def write(folder: Path, sources: list[dict[str, Any]], files: dict[str, bytes], **sections: Any) -> Path:
    for path, content in files.items():
        (folder / "raw" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "raw" / path).write_bytes(content)
    given = [{"name": source["name"], "location": f"raw/{source['name']}", **source} for source in sources]
    config = {"sources": given, "engine": {"workers": 0}, "storage": {"sync": False}, **sections}
    (folder / "corpus.yaml").write_text(yaml.safe_dump(config))
    return folder


def normalized(corpus: Corpus) -> Any:
    stages = [corpus.graph[name] for name in ("inventory", "raw_source", "normalized_documents")]
    return drive(corpus, stages)


def documents(corpus: Corpus, key: str) -> list[Any]:
    return list(Partition(corpus.storage, corpus.ledger.records("normalized_documents")[key]).documents())


TABLE = f'nr;body;stars\n1;"{prose(1)}\n{prose(2)}";5\n2;ragged\n3;{prose(3)};4\n'.encode()
CRAWL = [
    record("warcinfo", b"software: x\r\n"),
    record("request", b"GET / HTTP/1.1\r\n\r\n"),
    conversion(prose("wet"), "https://example.org/wet"),
    response(prose("plain").encode(), url="https://example.org/plain"),
    response(b"\xff\xd8\xff", kind="image/jpeg"),
    response(b"x", status="404 Not Found"),
]


def test_tables_and_crawls_become_documents(tmp_path: Path) -> None:
    table = {"name": "table", "text_key": "body", "id_key": "nr", "csv": {"delimiter": ";"}}
    write(tmp_path, [table, {"name": "crawl"}], {"table/a.csv": TABLE, "crawl/b.warc.wet.gz": zipped(CRAWL)})
    corpus = opened(tmp_path)
    built = normalized(corpus)
    assert (built.failed, built.waiting) == ([], [])
    first, second = documents(corpus, "table--a")
    assert (first.id, first.text, bytes(first.metadata)) == ("1", f"{prose(1)}\n{prose(2)}", b'{"stars":"5"}')
    assert second.id == "3"
    wet, plain = documents(corpus, "crawl--b")
    assert (wet.text, plain.text) == (prose("wet"), prose("plain"))
    records = corpus.ledger.records("normalized_documents")
    assert records["table--a"].statistics["dropped"] == {"ragged_row": 1}
    assert records["table--a"].statistics["dropped_examples"][0].startswith("table/a.csv line 4: ragged_row")
    # Four of six records hold no document, and yet the source is not held back.
    assert records["crawl--b"].statistics["dropped"] == {"not_a_document": 2, "not_text": 1, "http_status": 1}
    planner = corpus.planner()
    assert planner.gate(corpus.graph["normalized_documents"]) == ""
    notes = list(corpus.graph["normalized_documents"].hooks.notes([], corpus.settings.values))
    assert notes == []


def test_a_bad_row_fails_its_shard_where_the_source_says_so_and_other_records_never_do(tmp_path: Path) -> None:
    sources = [{"name": "table", "text_key": "body", "on_bad_row": "fail", "csv": {"delimiter": ";"}}]
    sources += [{"name": "crawl", "on_bad_row": "fail"}]
    write(tmp_path, sources, {"table/a.csv": TABLE, "crawl/b.warc": b"".join(CRAWL)})
    (failed,) = normalized(opened(tmp_path)).failed
    assert "table/a.csv line 4: ragged_row: 2 values for 3 columns" in failed


def test_only_what_reads_csv_depends_on_its_options(tmp_path: Path) -> None:
    sources: list[dict[str, Any]] = [{"name": "table", "text_key": "body"}, {"name": "other"}]
    files = {"table/a.csv": TABLE.replace(b";", b","), "other/b.jsonl": b'{"text":"a"}\n'}
    corpus = opened(write(tmp_path, sources, files))
    assert not normalized(corpus).failed
    assert "source.csv.delimiter" not in corpus.ledger.records("normalized_documents")["table--a"].parameters
    sources[0]["csv"] = {"columns": ["nr", "body", "stars"]}
    plan = statuses(opened(write(tmp_path, sources, {})).planner().plan())
    changed = {key: reason for (asset, key), (_, reason) in plan.items() if asset == "normalized_documents"}
    assert changed == {"table--a": "source.csv.columns (unset) -> ['nr', 'body', 'stars']"}


def test_the_extractor_and_its_version_are_parameters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sources = [{"name": "crawl", "extractor": "resiliparse"}, {"name": "other"}]
    folder = write(tmp_path, sources, {"crawl/b.warc": b"".join(CRAWL), "other/b.jsonl": b'{"text":"a"}\n'})
    monkeypatch.setattr(libraries, "version", lambda _: "1.0")
    assert not normalized(opened(folder)).failed
    monkeypatch.setattr(libraries, "version", lambda _: "2.0")
    plan = statuses(opened(folder).planner().plan())
    changed = {key: reason for (asset, key), (_, reason) in plan.items() if asset == "normalized_documents"}
    assert changed == {"crawl--b": "source.extractor resiliparse 1.0 -> resiliparse 2.0"}
    monkeypatch.setattr(libraries, "version", version)
    sources[0]["extractor"] = "trafilatura"
    write(tmp_path, sources, {})
    try:
        version("trafilatura")
    except Exception:
        with pytest.raises(ConfigError, match=r"install the extra: pip install 'corpus-assets\[trafilatura\]'"):
            opened(folder).planner().plan()


def test_a_dataset_reads_pairs_from_a_table_of_its_own(tmp_path: Path) -> None:
    out = io.StringIO(newline="")
    csv.writer(out, delimiter="\t").writerows([["q", "a"], ["why,\nthen?", "so"], ["", "nothing"]])
    own = {"location": "raw/own", "prompt_key": "q", "completion_key": "a", "csv": {"quote": '"'}}
    config = [{"name": "pairs", "mode": "summarization", "input": own, "sequence_length": 64}]
    source = [{"name": "books"}]
    files = {"own/a.tsv": out.getvalue().encode(), "books/b.jsonl": b'{"text":"a"}\n'}
    corpus = opened(write(tmp_path, source, files, datasets=config))
    stages = [corpus.graph[name] for name in ("inventory", "pairs_raw_source", "pairs_examples")]
    assert not drive(corpus, stages).failed
    record = corpus.ledger.records("pairs_examples")["pairs--a"]
    (row,) = Partition(corpus.storage, record).lines()
    assert b'"prompt":"why,\\nthen?","completion":"so"' in row
    assert record.statistics["dropped"] == {"empty_prompt": 1}


def test_tables_with_escapes_and_with_carriage_returns_become_documents(tmp_path: Path) -> None:
    dump: dict[str, Any] = {"name": "dump", "csv": {"escape": "\\"}}
    table = 'id,text\n1,"She said \\"yes\\", \\\\o/"\n2,plain\n'
    files = {"dump/a.csv": table.encode(), "mac/b.csv": b'id,text\r7,"one\rtwo"\r8,three'}
    corpus = opened(write(tmp_path, [dump, {"name": "mac"}], files))
    assert not normalized(corpus).failed
    assert [row.text for row in documents(corpus, "dump--a")] == ['She said "yes", \\o/', "plain"]
    assert [row.text for row in documents(corpus, "mac--b")] == ["one\rtwo", "three"]
    dump["csv"] = {"escape": "!"}
    plan = statuses(opened(write(tmp_path, [dump, {"name": "mac"}], {})).planner().plan())
    changed = [key for (asset, key), (_, reason) in plan.items() if asset == "normalized_documents" and "csv" in reason]
    assert changed == ["dump--a"]


def parquet_file(rows: list[dict[str, Any]]) -> bytes:
    held = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), held)
    return held.getvalue()


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_table_without_a_column_is_refused_with_the_key_that_names_it(tmp_path: Path, suffix: str) -> None:
    content = b"body,id\na text,1\n" if suffix == "csv" else parquet_file([{"body": "a text", "id": "1"}])
    tables = write(tmp_path, [{"name": "t", "text_key": "Body"}], {f"t/a.{suffix}": content})
    (fault,) = normalized(opened(tables)).failed
    assert "no column 'Body' (sources.t.text_key); columns: " in fault
    assert "body" in fault
    pairs = {"location": "raw/t", "prompt_key": ["question", "hint"], "completion_key": "body"}
    tokenizer = {"kind": "tokenizer_json", "path": "none.json"}
    entry = {"name": "s", "mode": "summarization", "input": pairs, "tokenizer": tokenizer}
    write(tmp_path, [], {}, datasets=[entry])
    corpus = opened(tmp_path)
    (fault,) = drive(corpus, [corpus.graph[name] for name in ("inventory", "s_raw_source", "s_examples")]).failed
    assert "no column 'question' or 'hint' (datasets.s.input.prompt_key); columns: " in fault


def test_benchmarks_are_read_from_tables(tmp_path: Path) -> None:
    files = {
        "sums/a.csv": b'nr|question|answer\r1|"one \\"and\\" one"|two\r',
        "facts/b.tsv.gz": gzip.compress(b"id\ttext\n5\tWater is wet.\n"),
        "books/c.jsonl": b'{"text":"a"}\n',
    }
    sums = {"format": "csv", "text_key": ["question", "answer"], "id_key": "nr"}
    benchmarks: list[dict[str, Any]] = [
        {"name": "sums", "location": "raw/sums", "csv": {"delimiter": "|", "escape": "\\"}, **sums},
        {"name": "facts", "location": "raw/facts"},
    ]
    corpus = opened(write(tmp_path, [{"name": "books"}], files, benchmarks=benchmarks))
    names = ["inventory", *(f"{name}_{kind}" for name in ("sums", "facts") for kind in ("raw_source", "items"))]
    assert not drive(corpus, [corpus.graph[name] for name in names]).failed
    found = [corpus.ledger.records(f"{name}_items")[key] for name, key in (("sums", "sums--a"), ("facts", "facts--b"))]
    items = [line for record in found for line in Partition(corpus.storage, record).lines()]
    assert [(b"one" in item, b"wet" in item) for item in items] == [(True, False), (False, True)]
    assert b'"id":"1"' in items[0] and b'"text":"one \\"and\\" one\\n\\ntwo"' in items[0]
    assert [any("csv" in key for key in record.parameters) for record in found] == [True, False]


@pytest.mark.parametrize(
    ("csv_section", "message"),
    [
        ({"delimiter": ";;"}, "delimiter"),
        ({"delimiter": '"'}, "delimiter"),
        ({"delimiter": "\n"}, "delimiter"),
        ({"quote": ","}, "quote"),
        ({"escape": '"'}, "escape"),
        ({"escape": "\t"}, "escape"),
        ({"escape": "ab"}, "escape"),
        ({"columns": ["a", "a"]}, "names must differ"),
        ({"columns": []}, "columns"),
        ({"header": True}, "header"),
    ],
)
def test_options_that_make_no_sense(csv_section: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_config({"sources": [{"name": "a", "location": "raw", "csv": csv_section}]})


def test_the_configurations_of_the_page_are_read() -> None:
    page = (FOLDER / "inputs.md").read_text(encoding="utf-8")
    blocks = [block.partition("```")[0] for block in page.split("```yaml\n")[1:]]
    assert [len(parse_config(yaml.safe_load(block)).sources) for block in blocks] == [3, 1, 3, 3, 2]


@pytest.mark.parametrize(("hidden", "rows"), [(False, 5), (True, 15)])
def test_reported_hidden_folders(tmp_path: Path, hidden: bool, rows: int) -> None:
    raw = shared("data", "reports", "hidden-folders", "raw")
    wanted = [raw / name for name in ("a.jsonl", ".snapshot/hourly.0/a.jsonl", ".ipynb_checkpoints/a-checkpoint.jsonl")]
    files = {f"s/{path.relative_to(raw)}": path.read_bytes() for path in wanted}
    write(tmp_path, [{"name": "s", "hidden": hidden}], files)
    corpus = opened(tmp_path)
    assert normalized(corpus).failed == []
    assert (
        sum(record.statistics["rows_out"] for record in corpus.ledger.records("normalized_documents").values()) == rows
    )
    assert len([note for note in corpus.listing().notes() if "hidden folder" in note]) == (0 if hidden else 2)
