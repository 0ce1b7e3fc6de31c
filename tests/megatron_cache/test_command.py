"""`corpus megatron-cache`: the files of megatron-core, recorded; and what is refused."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from corpus_assets.cli.main import app
from corpus_assets.cli.megatron.command import tokenizer_in
from corpus_assets.megatron_cache.folder import CacheFolder
from resources.errors import BadFileError, ConfigError
from tests.megatron_cache.plain import write_indexed

LENGTHS = {"books": [7, 1, 12, 30, 4], "web": [3] * 40}
TOKENIZER = {"class": "tokenizers.Text", "tokenizer_path": "é/own"}
RECORDED: list[tuple[str, list[str], str]] = [
    (
        "books --split 75,25,0 --samples 30,3,0",
        ["c5ad9a584315a2ff929eae37d62cbfb9-GPTDataset-train", "ca5cdcf486991b5771e30fb25af525f7-GPTDataset-valid"],
        "04cacc840fd5ca876bab2ad6ec77c9319423e3eb6d2176c329e0b60ce5703269",
    ),
    (
        "3.0 books 1 web --split 100,0,0 --samples 40",
        [
            "2653f4cd67197c1b6c20e38131cf865b-GPTDataset-train",
            "9639e91dac03a3aab5b0e1f4064c680a-BlendedDataset-train",
            "b12340ca07c9ca2b42d5da1a906ae21d-GPTDataset-train",
        ],
        "83727b39e7daf1e6c17bc6b809278c49e3a477d97cf945410486669d623cc41d",
    ),
    (
        "books web --split 100,0,0 --samples 10",
        [
            "8b826c531d4e75b4657594e5c75808b2-GPTDataset-train",
            "f0a724c5a380d3d04ee764a13e50db37-BlendedDataset-train",
            "feee5bfb0d838ede9fd39ce62cb486f5-GPTDataset-train",
        ],
        "67c8b6a7935d9d05d79aee74a293b63da4aca7119b2c0e6ad995d0196df163f8",
    ),
]
"""Names of files and a digest of all their bytes, as megatron-core 0.16.1 and numpy 2.4 wrote them."""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, lengths in LENGTHS.items():
        write_indexed(Path(name), lengths)
    Path("tokenizer.json").write_text(json.dumps(TOKENIZER))


def invoked(words: str, *more: str) -> Any:
    """The command; its errors are raised."""
    options = ("--output", "cache", "--tokenizer", "tokenizer.json", "--seq-length", "8", *more)
    return CliRunner().invoke(app, ["megatron-cache", *words.split(), *options], catch_exceptions=False)


def run(words: str) -> dict[str, Any]:
    """What the command prints with --json."""
    done = invoked(words, "--json")
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def digest() -> str:
    found = hashlib.sha256()
    for file in sorted(Path("cache").iterdir()):
        found.update(file.read_bytes())
    return found.hexdigest()


@pytest.mark.parametrize(("words", "names", "content"), RECORDED)
def test_files_are_those_that_megatron_wrote(words: str, names: list[str], content: str) -> None:
    found = run(words)
    assert sorted({file.name.rpartition("-")[0] for file in Path("cache").iterdir()}) == names
    assert sorted(one["base"] for one in found["caches"]) == names
    assert digest() == content


def test_a_prefix_has_the_trainers_name_and_lies_elsewhere(tmp_path: Path) -> None:
    Path("exports").mkdir()
    for file in tmp_path.glob("books.*"):
        file.rename(Path("exports") / file.name)
    (cache,) = run("/data/books --map /da=nowhere --map /data/=exports/ --samples 3")["caches"]
    description = json.loads((Path("cache") / f"{cache['base']}-description.txt").read_text())
    assert description["dataset_path"] == "/data/books"
    assert (description["split"], description["split_matrix"], description["index_split"]) == (None, None, "train")


@pytest.mark.parametrize("lines", [{"tokenizer": TOKENIZER}, {"datasets": [{"tokenizer": TOKENIZER}]}])
def test_the_tokenizer_is_taken_from_a_description(lines: dict[str, Any]) -> None:
    Path("tokenizer.json").write_text(json.dumps({"class": "GPTDataset", **lines}))
    words, _, content = RECORDED[0]
    run(words)
    assert digest() == content


def test_a_run_is_described_by_its_iterations() -> None:
    train, valid, test = run("books --split 2,2,1 --train-iters 5 --global-batch-size 2 --eval-iters 1")["caches"]
    assert [train["asked"], valid["asked"], test["asked"]] == [10, 2, 2]
    assert train["part"] == "train"


def test_a_single_number_of_samples_is_of_the_part() -> None:
    (cache,) = run("books --part valid --samples 9")["caches"]
    assert (cache["part"], cache["asked"]) == ("valid", 9)


def test_a_blend_without_weights_says_that_it_ends_early() -> None:
    said = invoked("books web --samples 1000").stderr
    assert "train has 20 of 1,000 samples: without weights Megatron draws every prefix once" in said
    assert "samples: without" not in invoked("1 books 1 web --samples 1000").stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("books --samples 5 --train-iters 5", "either --samples, or --train-iters and --global-batch-size"),
        ("books", "either --samples, or --train-iters and --global-batch-size"),
        ("books --samples 5,x,1", "--samples '5,x,1' is not valid"),
        ("books --samples 5 --part dev", "--part 'dev' is not valid"),
        ("books --samples 5 --map nowhere", "--map 'nowhere' is not valid"),
        ("books --samples 5 --split a", "--split 'a' is not valid"),
        ("1 books web web --samples 5", "'web' stands where a weight should"),
        ("0 books 1 web --samples 5", "'0' stands where a weight should"),
        ("books --samples 5 --split 99,1,0", "documents 5 to 5 of 5 have no ids"),
        ("books tiny --samples 5", "tiny: too few ids in train for one sample of 8"),
    ],
)
def test_what_megatron_would_not_begin_is_refused(words: str, said: str) -> None:
    write_indexed(Path("tiny"), [3])
    with pytest.raises(ConfigError) as error:
        run(words)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"{}", "names no tokenizer"), (b"[1]", "names no tokenizer"), (b"\xff", "is no JSON"), (b"{", "is no JSON")],
)
def test_a_file_without_a_tokenizer_is_refused(content: bytes, said: str) -> None:
    Path("tokenizer.json").write_bytes(content)
    with pytest.raises(ConfigError, match=said):
        run("books --samples 5")


def test_a_file_that_is_not_there_is_said_in_words() -> None:
    with pytest.raises(ConfigError, match=r"--tokenizer nowhere\.json: cannot be read: No such file or directory$"):
        tokenizer_in(Path("nowhere.json"))


def test_damaged_files_are_named() -> None:
    with pytest.raises(BadFileError, match=r"nothing\.idx: No such file"):
        run("nothing --samples 5")
    Path("web.bin").write_bytes(b"1234")
    with pytest.raises(BadFileError, match=r"web\.bin: has 4 bytes; the sequences of web\.idx are 240 bytes long"):
        run("web --samples 5")
    index = Path("books.idx").read_bytes()
    Path("books.idx").write_bytes(index[:34] + b"\xff" * 4 + index[38:])
    with pytest.raises(BadFileError, match=r"books\.idx: sequence 0 has -1 ids"):
        run("books --samples 5")
    Path("books.idx").write_bytes(index[:60])
    with pytest.raises(BadFileError, match=r"books\.idx: has 60 bytes"):
        run("books --samples 5")


def test_a_set_of_files_appears_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(folder: CacheFolder, base: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(CacheFolder, "finish", killed)
    assert invoked("books --samples 5").exit_code != 0
    assert list(Path("cache").iterdir()) == []
