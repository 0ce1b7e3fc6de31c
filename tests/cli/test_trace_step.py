"""`corpus trace --step`: from the step of a training run to the raw rows of its documents."""

import json
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from corpus_assets.cli.main import app
from corpus_assets.reading import Phase, PhasedStream, RawRow, TokenStream, WindowDataset, WindowStream
from resources.errors import ConfigError
from tests.build.small import drive, opened, prose, raw_rows, write_raw
from tests.export.exported import exported, tokenizer_of
from tests.token_files import writing
from tests.token_files.given import corpus_of

STREAM = "decontaminated_train"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus with a token stream."""
    made = tmp_path_factory.mktemp("traced")
    exported(made, {"name": "meg", "format": "megatron"})
    return made


def asked(folder: Path, *arguments: object) -> Any:
    given = ["trace", *map(str, arguments), "--config", str(folder / "corpus.yaml")]
    return CliRunner().invoke(app, given)


def said(folder: Path, *arguments: object) -> dict[str, Any]:
    done = asked(folder, *arguments, "--json")
    assert done.exit_code == 0, done.output + str(done.exception)
    found: dict[str, Any] = json.loads(done.output)
    return found


def batches_of(folder: Path, **options: Any) -> WindowStream:
    windows = WindowDataset(TokenStream.of_corpus(folder / "corpus.yaml", STREAM), 32, seed=4)
    return WindowStream(windows, 6, **options)


OPTIONS = ("--length", 32, "--batch-size", 6, "--seed", 4)


def test_a_step_leads_to_raw_rows(folder: Path) -> None:
    """The text of the raw row that a piece names holds the text of the piece."""
    found = said(folder, STREAM, "--step", 2, *OPTIONS, "--ranks", 2, "--text")
    assert [(one["rank"], one["window"]) for one in found["windows"]] == [(r, w) for r in range(2) for w in range(3)]
    tokenizer = tokenizer_of(opened(folder))
    for rank in range(2):
        batch = next(islice(batches_of(folder, rank=rank, ranks=2), 2, None))
        for window, ids in zip((one for one in found["windows"] if one["rank"] == rank), batch, strict=True):
            assert window["pieces"][-1]["end"] == len(ids)
            for piece in window["pieces"]:
                part = ids[piece["begin"] : piece["end"]]
                assert piece["text"] == tokenizer.decode(part[part != tokenizer.eos_id])
                path = str(Path(piece["file"]).relative_to(folder / "raw"))
                row = raw_rows()[path][piece["row"]]
                assert path.endswith(".txt") or row["id"] == piece["id"]
                assert piece["text"].strip("\ufffd") in row["text"]


def test_python_says_the_same(folder: Path) -> None:
    found = said(folder, STREAM, "--step", 1, *OPTIONS, "--rank", 0)
    steps = batches_of(folder).documents(1)
    assert [
        [(one["document"], one["first"], RawRow(one["file"], one["row"])) for one in window["pieces"]]
        for window in found["windows"]
    ] == [[(piece.document, piece.first, piece.raw) for piece in pieces] for pieces in steps]
    assert all(piece.raw is None for pieces in batches_of(folder).documents(1, raw=False) for piece in pieces)


def test_a_state_says_where_the_run_stood(folder: Path, tmp_path: Path) -> None:
    run = batches_of(folder)
    list(islice(run, 5))
    state = tmp_path / "state.json"
    state.write_text(json.dumps(run.state_dict()))
    for step, of_run in ((-1, 4), (0, 5), (3, 8)):
        given = said(folder, STREAM, "--state", state, "--step", step, "--batch-size", 6)
        assert given["windows"] == said(folder, STREAM, "--step", of_run, *OPTIONS)["windows"]
    unshared = WindowStream(WindowDataset(run.windows.stream, 16, shared=False, seed=None), 2)
    state.write_text(json.dumps(unshared.state_dict()))
    numbers = [
        one["number"] for one in said(folder, STREAM, "--state", state, "--step", 3, "--batch-size", 2)["windows"]
    ]
    assert numbers == [6, 7]


def test_a_state_of_a_run_with_phases(folder: Path, tmp_path: Path) -> None:
    stream = TokenStream.of_corpus(folder / "corpus.yaml", STREAM)
    plan = [Phase(16 * 10, {"books": 1, "web": 1}), Phase(16 * 8, {"notes": 1, "web": 2})]
    run = PhasedStream(stream, 16, plan, 2, seed=5)
    state = tmp_path / "state.json"
    state.write_text(json.dumps(run.state_dict()))
    for step, pieces in enumerate(run.documents(step) for step in range(9)):
        found = said(folder, STREAM, "--state", state, "--step", step, "--batch-size", 2)
        expected = [[(one.document, one.raw) for one in window] for window in pieces]
        assert expected == [
            [(one["document"], RawRow(one["file"], one["row"])) for one in window["pieces"]]
            for window in found["windows"]
        ]
        assert [one["of_source"] for one in found["windows"]] == [one.source for one in run.drawn(step)]


def test_the_table_names_document_file_and_row(folder: Path) -> None:
    found = said(folder, STREAM, "--step", 0, *OPTIONS, "--window", 5)
    (window,) = found["windows"]
    shown = asked(folder, STREAM, "--step", 0, *OPTIONS, "--window", 5, "--text").output
    for piece in window["pieces"]:
        assert f"{piece['source']}/{piece['id']}" in shown
        assert f"row {piece['row']}" in shown


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ((STREAM,), "received neither a file and a row, nor --step"),
        ((STREAM, "--step", 1), "--length is missing"),
        ((STREAM, "file", "--step", 1), "leave out the file"),
        (("meg", "--step", 1, *OPTIONS), "no token stream 'meg'; valid: decontaminated_train"),
        ((STREAM, "--step", -1, *OPTIONS), "step is -1; valid: 0 or more"),
        ((STREAM, "--step", 1, *OPTIONS, "--rank", 1), "rank is 1 of 1"),
        ((STREAM, "--step", 1, *OPTIONS, "--window", 6), "--window 6: valid: 0 to 5"),
        ((STREAM, "--step", 1, *OPTIONS, "--state", "x.json"), "--length, --seed: the state says that itself"),
        ((STREAM, "--step", 1, "--state", "/nowhere.json"), "cannot be read: FileNotFoundError"),
    ],
)
def test_what_cannot_be_traced(folder: Path, arguments: tuple[object, ...], fault: str) -> None:
    done = asked(folder, *arguments)
    assert isinstance(done.exception, ConfigError)  # The command line is wrong: exit code 2.
    assert fault in str(done.exception) + done.output


@pytest.mark.parametrize("content", ["[1]", "[]", "null", "{", "", "3"])
def test_a_file_that_is_no_state(folder: Path, tmp_path: Path, content: str) -> None:
    (tmp_path / "state.json").write_text(content)
    done = asked(folder, STREAM, "--step", 1, "--state", tmp_path / "state.json")
    assert "valid: a file with the `state_dict()` of the run as JSON" in str(done.exception)


@pytest.mark.parametrize(
    "content",
    ["{}", '{"of": {"width": 5}}', '{"of": {"width": 1, "step": 1, "seed": 0, "before": 1, "after": 1}}'],
)
def test_json_that_is_no_state(folder: Path, tmp_path: Path, content: str) -> None:
    (tmp_path / "state.json").write_text(content)
    done = asked(folder, STREAM, "--step", 1, "--state", tmp_path / "state.json")
    assert "no state of a WindowStream or PhasedStream" in str(done.exception)


def test_a_document_that_is_gone_from_the_mix_says_so(tmp_path: Path) -> None:
    """The stream still has it; the mix was made again without it."""
    exported(tmp_path, {"name": "meg", "format": "megatron"})
    corpus = opened(tmp_path)
    stream = TokenStream.of_corpus(corpus.file, STREAM)
    for key in range(3):
        corpus.ledger.forget("mixed_pass2", f"chunk-{key:04d}")
    assert stream.raw_rows([0]) == [RawRow(None, None)]
    assert "not known: the corpus has no such document now" in asked(tmp_path, STREAM, "--step", 0, *OPTIONS).output


def test_rows_of_a_dataset_s_own_files(tmp_path: Path) -> None:
    rows = [{"id": f"d{n}", "text": prose(f"own {n}")} for n in range(5)]
    write_raw(tmp_path, "own/a.jsonl", rows)
    file = tmp_path / "raw/own/a.jsonl"
    file.write_text("not JSON\n" + file.read_text())
    exported(tmp_path, {"name": "meg", "format": "megatron", "input": {"location": "raw/own"}})
    found = said(tmp_path, "meg", "--step", 0, "--length", 16, "--batch-size", 3)
    for window in found["windows"]:
        for piece in window["pieces"]:
            assert (piece["file"], piece["row"]) == (str(file), int(piece["id"][1:]) + 1)


def test_files_of_ids_have_a_document_number_and_no_text(tmp_path: Path) -> None:
    (tmp_path / "tokens").mkdir()
    writing.megatron(tmp_path / "tokens", [[999, 0], *([n, n + 1, n + 2, 0] for n in range(20, 40, 4))], name="sub-a")
    corpus = corpus_of(tmp_path, {"format": "megatron", "max_bad_rows": 1.0}, format="parquet", unit="document")
    drive(corpus, corpus.graph.select(["+again_manifest"]))
    found = said(tmp_path, "again", "--step", 0, "--length", 6, "--text")
    assert found["stream"] == "again"
    for piece in found["windows"][0]["pieces"]:
        row = piece["row"]
        assert (piece["id"], piece["file"]) == (f"sub-a.bin:{row}", str(tmp_path / "tokens/sub-a.bin"))
        last = min(3, piece["first"] + piece["end"] - piece["begin"])  # The fourth is the separator.
        assert piece["text"] == "".join(f"<{20 + 4 * (row - 1) + n}>" for n in range(piece["first"], last))
