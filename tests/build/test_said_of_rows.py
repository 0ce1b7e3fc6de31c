"""What a build says of rows: takedown lists that name nothing, ids that repeat, and those that are dropped."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from corpus_assets.cli.main import app
from corpus_assets.orchestration.building.notes import build_notes, dropped_examples
from resources.errors import ConfigError
from tests.build.nowhere import ROWS, rows_of
from tests.build.small import drive, opened, prose
from tests.build.test_names_of_data import up_to


def written(folder: Path, files: dict[str, list[dict[str, Any]]], **config: Any) -> Path:
    """A corpus of one source, `web`."""
    for path, rows in files.items():
        (folder / "raw" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "raw" / path).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    usual = {"sources": [{"name": "web", "location": "raw"}], "mix": {"chunks": 1}, "engine": {"workers": 0}}
    given = {**usual, "storage": {"sync": False}, **config}
    (folder / "corpus.yaml").write_text(yaml.safe_dump(given), encoding="utf-8")
    return folder


def rows(**more: Any) -> list[dict[str, Any]]:
    return [{"id": f"d{n}", "text": prose(n), **more} for n in range(ROWS)]


def built(folder: Path, upto: str) -> list[str]:
    corpus = opened(folder)
    assert not drive(corpus, up_to(corpus.graph, upto)).failed
    return build_notes(opened(folder).planner())


def verified(folder: Path, *lines: str) -> tuple[int, list[str]]:
    (folder / "asked.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    asked = ["verify", "-c", str(folder / "corpus.yaml"), "--absent", str(folder / "asked.txt"), "--json"]
    done = CliRunner().invoke(app, asked)
    return done.exit_code, json.loads(done.stdout)["incomparable"]


def test_a_build_says_how_many_entries_of_the_lists_name_a_document(tmp_path: Path) -> None:
    lines = ["d3", "d3", "nobody", "web\td4", "http://e.org/1", "url:e.org/none", f"sha256:{'0' * 64}"]
    (tmp_path / "gone.txt").write_text("\n".join(lines), encoding="utf-8")
    urls = [{**row, "metadata": {"url": f"https://e.org/{n}"}} for n, row in enumerate(rows())]
    folder = written(tmp_path, {"a.jsonl": urls[:5], "b.jsonl": urls[5:]}, remove={"location": "gone.txt"})
    notes = built(folder, "takedown")
    said = "remove.location: 3 of 6 entries of the list name a document (entries: "
    assert [note for note in notes if note.startswith(said)]
    assert not [note for note in notes if "url_keys" in note]
    assert notes == build_notes(opened(folder).planner())
    (tmp_path / "gone.txt").write_text("# nothing yet\n", encoding="utf-8")
    assert "remove.location: the lists name nothing" in built(folder, "takedown")


@pytest.mark.parametrize(
    ("source", "line", "why"),
    [
        ({}, "http://e.org/3", "none of 20 rows has a URL under url, warc_url"),
        ({}, "url:e.org/3", "their metadata has: page"),
        ({"id_key": "idd"}, "d3", "no row has an id of its own"),
        ({"id_key": "idd"}, "web\td3", "no row has an id of its own"),
        ({"ids": "derived"}, "id:d3", "no row has an id of its own"),
    ],
)
def test_what_could_be_compared_with_no_row_is_not_proven_absent(
    tmp_path: Path, source: dict[str, Any], line: str, why: str
) -> None:
    sources = [{"name": "web", "location": "raw", **source}]
    folder = written(tmp_path, {"a.jsonl": rows(metadata={"page": "http://e.org/3"})}, sources=sources)
    built(folder, "normalized_documents")
    code, found = verified(folder, line)
    assert code == 1
    assert [where for where in found if why in where and line.replace("\t", "\\t") in where]


def test_what_could_be_compared_is_proven_absent(tmp_path: Path) -> None:
    (tmp_path / "gone.txt").write_text("https://e.org/3\nd4\n", encoding="utf-8")
    data = rows()
    data[3]["metadata"] = {"url": "https://e.org/3"}  # The only URL, which the takedown removes.
    folder = written(tmp_path, {"a.jsonl": data}, remove={"location": "gone.txt"})
    built(folder, "normalized_documents")
    lines = ["https://e.org/3", "d4", "sha256:" + "0" * 64, "a.jsonl:7", "books\td1"]
    assert verified(folder, *lines) == (0, [])


def test_nothing_stored_proves_nothing(tmp_path: Path) -> None:
    folder = written(tmp_path, {"a.jsonl": rows()})
    code, found = verified(folder, "d3")
    assert (code, len(found)) == (1, 1)
    drive(opened(folder), [opened(folder).graph["inventory"]])
    code, found = verified(folder, "d3")
    assert code == 1
    assert "no row is stored" in found[0]


def test_an_id_that_several_rows_have_is_told(tmp_path: Path) -> None:
    folder = written(tmp_path, {"a.jsonl": [{**row, "id": "same"} for row in rows()], "b.jsonl": rows()})
    (note,) = built(folder, "normalized_documents")
    assert note.startswith("source web: 19 of 40 rows have the id of an earlier one in a file; 'same' is that of 20 ")


def test_ids_that_files_have_in_common_are_told(tmp_path: Path) -> None:
    folder = written(tmp_path, {"a.jsonl": rows(), "b.jsonl": rows(), "c.jsonl": rows()[:1]})
    (note,) = built(folder, "normalized_documents")
    assert note.startswith("source web: ids repeat between its files; 'd")


def test_ids_that_differ_or_are_made_from_files_are_no_matter(tmp_path: Path) -> None:
    plain = [{"text": row["text"]} for row in rows()]
    given = [{**row, "id": f"other{n}"} for n, row in enumerate(rows())]
    files = {"a.jsonl": plain, "b.jsonl": plain, "c.jsonl": rows(), "d.jsonl": given}
    assert built(written(tmp_path, files), "normalized_documents") == []


def test_fewer_epochs_than_one_are_what_was_asked_for(tmp_path: Path) -> None:
    sources = [{"name": name, "location": f"raw/{name}", "epochs": epochs} for name, epochs in (("a", 0), ("b", 0.25))]
    files = {f"{name}/1.jsonl": [{"text": prose(f"{name} {n}")} for n in range(ROWS)] for name in "ab"}
    assert built(written(tmp_path, files, sources=sources), "mixed_pass1") == []


def test_each_reason_has_rows_with_place_id_and_text(tmp_path: Path) -> None:
    data = rows()
    for number in range(0, ROWS, 2):
        data[number]["text"] = f"Tiny {number}."
    data += [{"id": "x", "body": "no text"}, {"id": "y", "text": prose("y") + " bad"}]
    data.append({**data[1], "id": "copy"})
    config = {"filter": {"exclude": ["$.metadata[?(@.bad)]"]}, "remove": {"location": "gone.txt"}}
    data[-2]["metadata"] = {"bad": True}
    (tmp_path / "gone.txt").write_text("d3\n", encoding="utf-8")
    folder = written(tmp_path, {"a.jsonl": data}, **config)
    notes = built(folder, "mixed_pass1")
    assert notes[0] == "source web: 10 of 20 documents (50%) are left out as short"
    shown = dropped_examples(opened(folder).planner())
    assert shown[0] == "short (10 in mixed_pass1): web/a.jsonl document 0, id 'd0': 'Tiny 0.'"
    assert [line for line in shown if line.startswith("duplicate (1 in mixed_pass1): web/a.jsonl document")]
    (bad,) = (line for line in shown if line.startswith("no text (1 in "))
    assert "web/a.jsonl line 21" in bad
    assert "'body'" in bad
    (dropped,) = (line for line in shown if line.startswith("exclude.0 (1 in filtered_documents)"))
    assert f"id 'y': $.metadata[?(@.bad)] matches: {prose('y')[:80]!r}" in dropped
    (gone,) = (line for line in shown if line.startswith("takedown (1 in "))
    assert gone.endswith("web/a.jsonl row 3")  # A document that must be nowhere is not shown.
    assert "d3" not in "".join(shown)


@pytest.mark.parametrize(
    ("given", "keys", "why"),
    [
        ({"extractor": "html:escape"}, ["extractor"], "is WARC, which holds web pages"),
        ({"csv": {"delimiter": ";", "escape": "!"}}, ["csv.delimiter", "csv.escape"], "is CSV or TSV"),
        ({"text_separator": "|", "text_key": ["text", "id2"]}, [], "has rows with keys"),
    ],
)
def test_a_key_that_no_file_of_a_source_has_a_use_for_is_told(
    tmp_path: Path, given: dict[str, Any], keys: list[str], why: str
) -> None:
    source = {"name": "web", "location": "raw", **given}
    folder = written(tmp_path, {"a.jsonl": rows(id2="x")[:5], "b.jsonl": rows(id2="x")[5:]}, sources=[source])
    told = [note for note in built(folder, "normalized_documents") if "there are: jsonl 2" in note]
    assert told == [f"sources.web.{key}: none of 2 files of source web {why}; there are: jsonl 2" for key in keys]


@pytest.mark.parametrize(
    ("format", "content", "key"),
    [("txt", "a text", {"text_separator": "|"}), ("warc.wet", "", {"text_key": "body"}), ("csv", "text\na\n", {})],
)
def test_keys_of_rows_are_told_where_rows_have_none(
    tmp_path: Path, format: str, content: str, key: dict[str, str]
) -> None:
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "a.x").write_text(content, encoding="utf-8")
    source = {"name": "web", "location": "raw", "format": format, "may_be_empty": True, **key}
    notes = built(written(tmp_path, {}, sources=[source]), "normalized_documents")
    told = [note for note in notes if note.endswith(f"has rows with keys; there are: {format} 1")]
    assert [note.split(":")[0] for note in told] == [f"sources.web.{name}" for name in key]


def test_options_of_pages_need_an_extractor_that_has_a_use_for_them(tmp_path: Path) -> None:
    for given, why in (
        ({"html": {"form": "markdown"}}, "form without effect unless `extractor` is given"),
        ({"extractor": "combined", "html": {"least": 9}}, "least without effect unless `extractor` is a list"),
    ):
        written(tmp_path, {"a.jsonl": rows()}, sources=[{"name": "web", "location": "raw", **given}])
        with pytest.raises(ConfigError, match=why):
            opened(tmp_path)


def test_a_key_of_ids_that_are_derived_is_told(tmp_path: Path) -> None:
    source = {"name": "web", "location": "raw", "id_key": "uid", "ids": "derived"}
    notes = built(written(tmp_path, {"a.jsonl": rows(uid="x")}, sources=[source]), "normalized_documents")
    assert [note for note in notes if note.startswith("sources.web.id_key: is not read, since `ids: derived`")]


def test_a_key_that_no_file_of_a_dataset_or_benchmark_has_a_use_for_is_told(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "a.jsonl").write_text(rows_of(text="a b c"), encoding="utf-8")
    (benchmark, own) = ({"location": "own", "csv": {"quote": None}} for _ in range(2))
    dataset = {"name": "sft", "mode": "lm", "input": own, "sequence_length": 64}
    folder = written(tmp_path, {"a.jsonl": rows()}, datasets=[dataset], benchmarks=[{"name": "quiz", **benchmark}])
    for asset, place in (("sft_examples", "datasets.sft.input"), ("quiz_items", "benchmarks.quiz")):
        told = [note for note in built(folder, asset) if note.startswith(f"{place}.csv.quote: none of 1 files")]
        assert len(told) == 1
