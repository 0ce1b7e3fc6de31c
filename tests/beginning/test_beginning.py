"""`corpus init` writes a corpus.yaml that its schema accepts, with a source for each kind of files."""

import bz2
import csv
import gzip
import io
import json
import lzma
import tarfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from corpus_assets.config.corpus_config import CorpusConfig
from tests.beginning.starts import begin, begun, built, exported, prose, refused, rows, write_jsonl


def sources(config: CorpusConfig) -> dict[str, tuple[str, Any, Any]]:
    """Folder, glob and text key of each source."""
    return {one.name: (Path(one.location).name, one.glob, one.text_key) for one in config.sources}


def packed(values: list[dict[str, Any]]) -> bytes:
    return gzip.compress("".join(json.dumps(row) + "\n" for row in values).encode())


def arrow_file(values: list[dict[str, Any]]) -> bytes:
    table, sink = pa.Table.from_pylist(values), pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as out:
        out.write_table(table)
    return bytes(sink.getvalue())


def test_a_folder_of_one_shape_is_a_source(tmp_path: Path) -> None:
    for month in ("2024-01", "2024-02", "2024-03"):
        write_jsonl(tmp_path / "raw/web" / month / "part-0.jsonl", rows(5))
    config = begun(tmp_path / "raw", tmp_path / "out/corpus.yaml")
    assert sources(config) == {"web": ("web", "**/*", "text")}


def test_copies_of_a_file_are_remarked_on(tmp_path: Path) -> None:
    first = write_jsonl(tmp_path / "raw/web/part.jsonl", rows(5))
    copy = tmp_path / "raw/old/part (copy).jsonl"
    copy.parent.mkdir()
    copy.write_bytes(first.read_bytes())
    other = write_jsonl(tmp_path / "raw/web/other.jsonl", list(reversed(rows(5))))
    assert other.stat().st_size == first.stat().st_size
    output = tmp_path / "out/corpus.yaml"
    begun(tmp_path / "raw", output)
    said = output.read_text(encoding="utf-8")
    assert "Read more than once" in said
    assert "- old/part (copy).jsonl, web/part.jsonl\n" in said
    copy.unlink()
    begun(tmp_path / "raw", output, "--force")
    assert "Read more than once" not in output.read_text(encoding="utf-8")


def test_evaluation_sets_are_benchmarks(tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    write_jsonl(raw / "web/a.jsonl", rows(20))
    write_jsonl(
        raw / "gsm8k/test.jsonl", [{"question": prose(n), "answer": f"{prose(n, 9)} #### {n}"} for n in range(9)]
    )
    choices = [{"question": prose(n), "choices": ["a river", "a town"], "answer": prose(n, 5)} for n in range(9)]
    write_jsonl(raw / "quiz/items.jsonl", choices)
    write_jsonl(raw / "gsm8k-train/a.jsonl", [{"question": prose(n), "answer": prose(n, 9)} for n in range(9)])
    write_jsonl(raw / "evaluative/a.jsonl", rows(20, kind="essay"))
    config = begun(raw, tmp_path / "out/corpus.yaml")
    assert {one.name: one.text_key for one in config.benchmarks} == {
        "gsm8k": ["question", "answer"],
        "quiz": ["question", "answer"],
    }
    assert {one.name for one in config.sources} == {"web", "evaluative"}
    assert "gsm8k-train" in {one.name for one in config.datasets}
    built(tmp_path / "out/corpus.yaml")


def test_names_of_files_tell_evaluation_sets_too(tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    write_jsonl(raw / "web/a.jsonl", rows(20))
    asked = [{"question": prose(n), "answer": prose(n, 9)} for n in range(9)]
    write_jsonl(raw / "quiz/gsm8k_test_1.jsonl", asked[:5])
    write_jsonl(raw / "quiz/gsm8k_test_2.jsonl", asked[5:])
    write_jsonl(raw / "gsm8k/train.jsonl", asked)
    write_jsonl(raw / "pairs/gsm8k.jsonl", asked)
    write_jsonl(raw / "pairs/others.jsonl", asked)
    config = begun(raw, tmp_path / "out/corpus.yaml")
    assert [one.name for one in config.benchmarks] == ["quiz"]
    assert {"gsm8k", "pairs"} < {one.name for one in config.datasets}


def test_an_evaluation_set_alone_is_what_it_holds(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "raw/gsm8k/test.jsonl", [{"question": prose(n), "answer": prose(n, 9)} for n in range(9)])
    config = begun(tmp_path / "raw", tmp_path / "out/corpus.yaml")
    assert config.benchmarks == [] and len(config.datasets) == 1


def test_folders_with_names_are_sources_of_their_own(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "raw/books/a.jsonl", rows(5))
    write_jsonl(tmp_path / "raw/web/deep/b.jsonl", rows(5))
    config = begun(tmp_path / "raw", tmp_path / "out/corpus.yaml")
    assert sources(config) == {"books": ("books", "**/*", "text"), "web": ("web", "**/*", "text")}


def test_a_mixed_folder_becomes_several_sources(tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    write_jsonl(raw / "a-1.jsonl", rows(5))
    write_jsonl(raw / "a-2.jsonl", rows(5))
    write_jsonl(raw / "b-1.jsonl", [{"body": prose(n)} for n in range(5)])
    write_jsonl(raw / "chat.jsonl", [{"messages": [{"role": "user", "content": "Hello you"}]}] * 5)
    pq.write_table(pa.Table.from_pylist([{"article": prose(n)} for n in range(5)]), raw / "c.parquet")
    (raw / "notes.txt").write_text(prose(1))
    config = begun(raw, tmp_path / "out/corpus.yaml")
    assert sources(config) == {
        "raw-a": ("raw", "a-*.jsonl", "text"),
        "raw-b-1": ("raw", "b-1.jsonl", "body"),
        "raw-c": ("raw", "c.parquet", "article"),
        "raw-notes": ("raw", "notes.txt", "text"),
    }
    (chat,) = config.datasets[1:]
    assert (chat.name, chat.input.glob, chat.input.messages_key) == ("raw-chat", "chat.jsonl", "messages")  # type: ignore[union-attr]


def test_sources_that_suffixes_tell_apart_have_plain_names(tmp_path: Path) -> None:
    raw = tmp_path / "raw/crawl"
    write_jsonl(raw / "a.rows", rows(9))
    write_jsonl(raw / "b.lines.gz", [{"body": prose(n)} for n in range(9)])
    assert set(sources(begun(raw, tmp_path / "out/corpus.yaml"))) == {"crawl-rows", "crawl-lines.gz"}


def test_suffixes_divide_a_folder_where_they_can(tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    for number in range(5):
        write_jsonl(raw / f"{number}x.jsonl", rows(3))
        (raw / f"{'abcde'[number]}.txt").write_text(prose(number))
    found = sources(begun(raw, tmp_path / "out/corpus.yaml"))
    assert sorted(glob for _, glob, _ in found.values()) == ["*.jsonl", "*.txt"]


LINES = b"".join(json.dumps(row).encode() + b"\n" for row in rows(5))
CONTENTS = {
    "jsonl": LINES,
    **{f"jsonl.{packing.__name__}": packing.compress(LINES) for packing in (gzip, zstandard, bz2, lzma)},
    "arrow": arrow_file(rows(5)),
    "txt": prose(1).encode(),
}


@pytest.mark.parametrize("kind", CONTENTS)
def test_first_bytes_say_the_format_where_the_name_does_not(tmp_path: Path, kind: str) -> None:
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw/data.bin").write_bytes(CONTENTS[kind])
    (source,) = begun(tmp_path / "raw", tmp_path / "out/corpus.yaml").sources
    assert (source.format, source.glob) == (kind.partition(".")[0], "**/*.bin")


def test_first_bytes_say_the_format_where_the_name_says_another(tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw/data.jsonl").write_bytes(CONTENTS["jsonl.gzip"])
    (source,) = begun(tmp_path / "raw", tmp_path / "out/corpus.yaml").sources
    assert source.format == "jsonl"


@pytest.mark.parametrize(("delimiter", "suffix"), [(",", "csv"), (";", "csv"), ("\t", "tsv"), ("|", "csv")])
def test_tables_and_their_delimiter(tmp_path: Path, delimiter: str, suffix: str) -> None:
    (tmp_path / "raw").mkdir()
    with (tmp_path / f"raw/a.{suffix}").open("w", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(["nr", "review"])
        writer.writerows([[f"n{n}", prose(n)] for n in range(10)])
    (source,) = begun(tmp_path / "raw", tmp_path / "out/corpus.yaml").sources
    assert (source.text_key, source.id_key) == ("review", "nr")
    assert source.csv.delimiter == (None if delimiter in ",\t" else delimiter)


def test_a_table_without_a_header_gets_names(tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw/a.csv").write_text("".join(f"{n},{prose(n)}\n" for n in range(10)))
    (source,) = begun(tmp_path / "raw", tmp_path / "out/corpus.yaml").sources
    assert (source.csv.columns, source.text_key) == (["column_1", "column_2"], "column_2")


def test_archives_are_looked_into(tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    with tarfile.open(tmp_path / "raw/a.jsonl.zst.tar", "w") as archive:
        content = zstandard.compress(gzip.decompress(packed(rows(5))))
        member = tarfile.TarInfo("one.jsonl.zst")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    assert sources(begun(tmp_path / "raw", tmp_path / "out/corpus.yaml")) == {"raw": ("raw", "**/*", "text")}


def test_ids_that_are_of_no_use_are_derived(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "raw/twice/a.jsonl", [{"id": n // 2, "text": prose(n)} for n in range(10)])
    some = [{"id": n, "text": prose(n)} if n % 2 else {"text": prose(n)} for n in range(10)]
    write_jsonl(tmp_path / "raw/some/a.jsonl", some)
    write_jsonl(tmp_path / "raw/none/a.jsonl", [{"text": prose(n)} for n in range(10)])
    write_jsonl(tmp_path / "raw/good/a.jsonl", rows(10))
    for file in "ab":
        write_jsonl(tmp_path / f"raw/alike/{file}.jsonl", [{"id": n, "text": prose(n)} for n in range(10)])
    config = begun(tmp_path / "raw", tmp_path / "out/corpus.yaml")
    assert {one.name: one.ids for one in config.sources} == {
        "twice": "derived",
        "some": "derived",
        "none": "auto",
        "good": "auto",
        "alike": "derived",
    }


def test_a_key_of_ids_that_are_derived_is_not_named(tmp_path: Path) -> None:
    for file in "ab":
        write_jsonl(tmp_path / f"raw/{file}.jsonl", [{"uid": f"u{n}", "text": prose(n)} for n in range(10)])
    (source,) = begun(tmp_path / "raw", tmp_path / "out/corpus.yaml").sources
    assert (source.id_key, source.ids) == ("id", "derived")


def test_what_was_seen_stands_beside_the_keys(tmp_path: Path) -> None:
    meta = {"license": "MIT", "url": "https://a.org/b", "date": "2024-03-05"}
    write_jsonl(tmp_path / "raw/a.jsonl", [{"text": prose(n), "meta": meta} for n in range(30)])
    file = tmp_path / "out/corpus.yaml"
    (source,) = begun(tmp_path / "raw", file).sources
    assert source.licence_key == "license"
    text = file.read_text()
    for seen in ("MIT (30)", "English", "2024-03-05", "addresses in `url`", "1 file", "30 rows"):
        assert seen in text


def test_limits_are_suggested_for_what_was_seen(tmp_path: Path) -> None:
    texts = [prose(n) for n in range(40)] + [
        "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 " * 10,
        "Lorem ipsum dolor sit amet " * 20,
    ]
    write_jsonl(tmp_path / "raw/a.jsonl", [{"text": text} for text in texts])
    config = begun(tmp_path / "raw", tmp_path / "out/corpus.yaml")
    assert config.filter is not None
    assert set(config.filter.rules) == {
        "quality.gopher_v2.fraction_of_words_with_alpha_character",
        "quality.c4_v2.has_lorem_ipsum",
    }
    assert "1 of 42 sampled texts hold `lorem ipsum`" in (tmp_path / "out/corpus.yaml").read_text()


def test_a_rule_that_drops_much_is_a_comment_only(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "raw/a.jsonl", [{"text": prose(n) if n % 2 else "too few words here"} for n in range(40)])
    file = tmp_path / "out/corpus.yaml"
    assert begun(tmp_path / "raw", file).filter is None
    assert "20 of 40 sampled texts have fewer than 10 words" in file.read_text()


def test_short_texts_lower_the_threshold(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "raw/a.jsonl", [{"text": prose(n, 12)} for n in range(40)])
    assert begun(tmp_path / "raw", tmp_path / "out/corpus.yaml").short_documents.threshold == 20
    write_jsonl(tmp_path / "raw/a.jsonl", rows(40))
    assert begun(tmp_path / "raw", tmp_path / "other/corpus.yaml").short_documents.threshold == 200


def test_one_file_may_be_named(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "raw/a.jsonl", rows(5))
    write_jsonl(tmp_path / "raw/b.jsonl", rows(5))
    (source,) = begun(tmp_path / "raw/b.jsonl", tmp_path / "out/corpus.yaml").sources
    assert (Path(source.location).name, source.glob) == ("raw", "b.jsonl")


def test_relative_places_start_at_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_jsonl(tmp_path / "raw/a.jsonl", rows(5))
    monkeypatch.chdir(tmp_path)
    assert begun("raw", Path("corpus.yaml")).sources[0].location == "raw"
    assert begun("raw", Path("deep/er/corpus.yaml")).sources[0].location == "../../raw"


def test_the_store_lies_outside_of_the_raw_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_jsonl(tmp_path / "raw/a.jsonl", rows(5))
    monkeypatch.chdir(tmp_path / "raw")
    config = begun(".", Path("corpus.yaml"))
    assert (config.sources[0].location, config.storage.root) == (".", "../raw-corpus")


def test_names_that_no_yaml_expects(tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    for name in ("my: text", "#1", "häuser 'klein' \"x\"", "new\nline", "~x", "-dash", "ünïcode"):
        write_jsonl(raw / name / f"{name}.jsonl", rows(3))
    config = begun(raw, tmp_path / "out/corpus.yaml")
    assert {Path(one.location).name for one in config.sources} == {path.name for path in raw.iterdir()}


def test_a_folder_whose_name_would_be_replaced_is_read_by_a_glob(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHEAP", "elsewhere")
    write_jsonl(tmp_path / "raw/$CHEAP/a.jsonl", rows(3))
    write_jsonl(tmp_path / "raw/dear/a.jsonl", rows(3))
    found = sources(begun(tmp_path / "raw", tmp_path / "out/corpus.yaml"))
    assert found == {"cheap": ("raw", "$CHEAP/**/*", "text"), "dear": ("dear", "**/*", "text")}
    assert "holds $NAME" in refused(tmp_path / "raw/$CHEAP", tmp_path / "no/corpus.yaml")


def test_files_beside_data_are_named_and_not_read(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "raw/a.jsonl", rows(5))
    for name in ("README.md", "script.py", ".hidden.jsonl", "notes.rst"):
        (tmp_path / "raw" / name).write_text(prose(1))
    (tmp_path / "raw/picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    (tmp_path / "raw/.git").mkdir()
    done = begin(tmp_path / "raw", tmp_path / "out/corpus.yaml")
    assert "not read: binary: picture.png: begins like image/png" in done.stdout
    assert "beside: 3 files" in done.stdout
    assert "hidden: .git/, .hidden.jsonl" in done.stdout


def test_texts_of_usual_notes_are_data_where_nothing_else_is(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"raw/{number}").mkdir(parents=True)
        (tmp_path / f"raw/{number}/page.md").write_text(prose(number))
    (tmp_path / "raw/README.md").write_text("About these files.")
    (source,) = begun(tmp_path / "raw", tmp_path / "out/corpus.yaml").sources
    assert (source.format, source.glob) == ("txt", "**/*.md")


def test_lists_of_texts_are_no_texts(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"raw/texts/{number}.txt").parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / f"raw/texts/{number}.txt").write_text(prose(number))
    (tmp_path / "raw/list.txt").write_text("texts/0.txt\ntexts/1.txt\n")
    found = sources(begun(tmp_path / "raw", tmp_path / "out/corpus.yaml"))
    assert found == {"texts": ("texts", "**/*", "text")}


def test_the_last_line_is_the_next_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CORPUS_CONFIG", raising=False)
    monkeypatch.chdir(tmp_path)
    write_jsonl(tmp_path / "raw/a.jsonl", rows(5))
    assert begin("raw", Path("corpus.yaml")).stdout.splitlines()[-1] == "next: corpus build"
    last = begin("raw", Path("my corpus/corpus.yaml")).stdout.splitlines()[-1]
    assert last == "next: corpus build --config 'my corpus/corpus.yaml'"


def test_print_writes_nothing(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "raw/a.jsonl", rows(5))
    done = begin(tmp_path / "raw", tmp_path / "out/corpus.yaml", "--print")
    assert not (tmp_path / "out").exists()
    written = begun(tmp_path / "raw", tmp_path / "out/corpus.yaml")
    assert done.stdout == (tmp_path / "out/corpus.yaml").read_text()
    assert written.sources


def test_the_same_files_give_the_same_text(tmp_path: Path) -> None:
    for number in range(30):
        write_jsonl(tmp_path / f"raw/{number}.jsonl", rows(3))
    texts = {begin(tmp_path / "raw", tmp_path / "out/corpus.yaml", "--print").stdout for _ in range(3)}
    assert len(texts) == 1


def test_a_source_of_which_nothing_is_left_may_be_empty(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "raw/a/a.jsonl", rows(20))
    write_jsonl(tmp_path / "raw/b/a.jsonl", rows(20))
    file = tmp_path / "out/corpus.yaml"
    config = begun(tmp_path / "raw", file)
    assert {one.name: one.may_be_empty for one in config.sources} == {"a": False, "b": True}
    assert "repeats: b (20 of 20)" in file.read_text()
    built(file)


def test_no_limit_costs_a_source_most_of_its_texts(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "raw/long/a.jsonl", rows(90))
    write_jsonl(tmp_path / "raw/short/a.jsonl", [{"text": f"only few words, number {n}"} for n in range(6)])
    config = begun(tmp_path / "raw", tmp_path / "out/corpus.yaml")
    assert config.short_documents.threshold == 20
    assert config.filter is None


def test_a_text_in_an_object_is_built(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "raw/a.jsonl", [{"id": n, "data": {"body": prose(n), "n": n}} for n in range(30)])
    file = tmp_path / "out/corpus.yaml"
    (source,) = begun(tmp_path / "raw", file).sources
    assert source.text_key == "data.body"
    built(file)
    assert {row["text"] for row in exported(file, "texts")} <= {prose(n) for n in range(30)}
    assert len(exported(file, "texts")) > 20
