"""Every example does what its page says: its commands run in a copy of the folder, and give what they should."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from tokenizers import Tokenizer

from resources.ledger.ledger import Record
from resources.stage.partition import Partition
from tests.build.small import opened
from tests.forked import path_of_commands

EXAMPLES = Path(__file__).parents[2] / "examples"


def commands(example: str) -> list[str]:
    """Lines of the `sh` blocks of the page of an example."""
    blocks = re.findall(r"```sh\n(.*?)```", (EXAMPLES / example / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    lines = [line.partition("  #")[0].strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if line]


@dataclass
class Done:
    """A copy of an example in which the commands of its page ran, and what each of them printed."""

    folder: Path
    said: Mapping[str, str]

    def statistics(self, asset: str) -> list[Mapping[str, Any]]:
        """What the records of an asset count, in the order of its partitions."""
        records = opened(self.folder).ledger.records(asset)
        return [records[key].statistics for key in sorted(records, key=str)]

    def dropped(self, asset: str) -> dict[str, int]:
        """How many rows an asset left out, by reason."""
        found: dict[str, int] = {}
        for statistics in self.statistics(asset):
            for reason, count in statistics.get("dropped", {}).items():
                found[reason] = found.get(reason, 0) + count
        return found

    def documents(self, asset: str) -> dict[str, str]:
        """Texts of all documents of an asset, by id."""
        corpus = opened(self.folder)
        records: Mapping[str | None, Record] = corpus.ledger.records(asset)
        partitions = [Partition(corpus.storage, record) for record in records.values()]
        return {row.id: row.text for partition in partitions for row in partition.documents()}

    def rows(self, dataset: str) -> np.ndarray[Any, np.dtype[np.int32]]:
        """All token rows of a dataset in HDF5: (rows, channels, L)."""
        files = sorted((self.folder / "corpus" / "tokens" / dataset).glob("*.h5"))
        return np.concatenate([h5py.File(file)["data"][:] for file in files])

    def tokenizer(self) -> Tokenizer:
        """The tokenizer of the corpus."""
        return Tokenizer.from_file(str(self.folder / "corpus" / "tokenizer" / "tokenizer.json"))


def follow(example: str, folder: Path) -> Done:
    """Runs the commands of an example's page in a copy of it; each has to end well."""
    copy = folder / example
    shutil.copytree(EXAMPLES / example, copy, ignore=shutil.ignore_patterns("corpus", ".dagster_home"))
    environment = {**os.environ, "PATH": path_of_commands(), "DAGSTER_HOME": str(copy / ".dagster_home")}
    said = {}
    for command in commands(example):
        run = ["bash", "-c", command]
        done = subprocess.run(run, check=False, cwd=copy, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        said[command] = done.stdout
    return Done(copy, said)


def decoded(tokenizer: Tokenizer, ids: np.ndarray[Any, np.dtype[Any]]) -> str:
    """Text of ids, control tokens included."""
    text: str = tokenizer.decode(ids.tolist(), skip_special_tokens=False)
    return text


def test_all_examples_are_listed_and_tested() -> None:
    found = {file.parent.name for kind in ("corpus.yaml", "*.ipynb") for file in EXAMPLES.glob(f"*/{kind}")}
    listed = set(re.findall(r"\]\(([\w-]+)/README\.md\)", (EXAMPLES / "README.md").read_text(encoding="utf-8")))
    tests = "".join(file.read_text(encoding="utf-8") for file in Path(__file__).parent.glob("test_*.py"))
    followed = set(re.findall(r'(?:follow|commands)\("([\w-]+)"', tests))
    assert found == listed == followed
    assert {file.parent.name for file in EXAMPLES.glob("*/README.md")} == found


@pytest.mark.slow
def test_instructions(tmp_path: Path) -> None:
    done = follow("instructions", tmp_path)
    assert done.dropped("chat_examples") == {"content_not_text": 1}
    assert done.dropped("pairs_examples") == {"empty_completion": 1}
    assert done.dropped("preferences_tokens") == {"equal_responses": 1}
    tokenizer = Tokenizer.from_file(str(done.folder / "tokenizer/tokenizer.json"))

    def texts(dataset: str) -> tuple[str, str]:
        """What is read, and what is learned."""
        rows = done.rows(dataset)
        learned = rows[:, 2][rows[:, 1] == 1]
        return decoded(tokenizer, rows[:, 0].ravel()), decoded(tokenizer, learned)

    read, learned = texts("chat")
    for said in ("Why does bread rise?", "Ten cups.", "rain", "millimetres", "<|im_start|>system\nYou are a cook."):
        assert said in read
    for said in ("Yeast eats sugar", "that was wrong", "tool_call", "<|im_end|>"):
        assert said in learned
    assert "Ten cups." not in learned
    assert "Why does bread rise?" not in learned
    read, learned = texts("pairs")
    assert "Make the sentence shorter.\n\nIt is necessary that you should close the window." in read
    assert "Please close the window." in learned
    assert "necessary" not in learned
    assert done.rows("preferences").shape[:2] == (4, 6)
    assert "«" in done.said["corpus show chat_tokens chat--kitchen"]


@pytest.mark.slow
def test_code(tmp_path: Path) -> None:
    done = follow("code", tmp_path)
    long_lines = "shape.code_redpajama_taggers_v1.max_line_length_doc"
    assert done.dropped("filtered_documents") == {"licence": 1, long_lines: 1, "contamination": 1}
    assert done.dropped("mixed_pass1") == {"duplicate": 1}
    assert "GPL-2.0-only" in done.said["corpus why files/part-1.jsonl 3"]
    tokenizer, train, validation = done.tokenizer(), done.rows("train"), done.rows("validation")
    prefix, middle, suffix = (tokenizer.token_to_id(f"<|fim_{part}|>") for part in ("prefix", "middle", "suffix"))
    ids = train[:, 0].ravel()
    rearranged = np.count_nonzero(ids == prefix)
    params = json.loads((done.folder / "corpus/tokens/train/data_params.json").read_text(encoding="utf-8"))
    kinds = params["post-process"]["kinds"]
    assert 0 < rearranged == sum(kinds.values()) - kinds["fim_none"]
    assert kinds["fim_none"] > 0
    assert np.count_nonzero(ids == middle) == np.count_nonzero(ids == suffix) == rearranged
    assert len(validation) > 0
    assert {prefix, middle, suffix}.isdisjoint(validation[:, 0].ravel().tolist())


@pytest.mark.slow
def test_takedown(tmp_path: Path) -> None:
    done = follow("takedown", tmp_path)
    assert done.dropped("normalized_documents") == {"takedown": 4}
    left = done.documents("normalized_documents")
    assert len(left) == 20
    assert left.keys().isdisjoint({"page-3", "letter-4", "letter-5", "letter-9"})
    fresh = re.search(r"(\d+) partitions recomputed, (\d+) fresh", done.said["corpus build"])
    assert fresh is not None
    assert int(fresh[2]) > 0
    both = done.said["corpus verify --absent lists/first.txt --absent lists/second.txt"]
    assert "0 rows found, 0 places unproven" in both


@pytest.mark.slow
def test_repeats(tmp_path: Path) -> None:
    done = follow("repeats", tmp_path)
    texts = done.documents("filtered_documents")
    assert len(texts) == 12
    assert not any("friends of the village mill" in text for text in texts.values())
    assert "Agnes" in texts["page-11"]
    assert done.dropped("mixed_pass1") == {"duplicate": 3}
    assert texts.keys() - done.documents("decontaminated_train").keys() == {"page-3", "page-4", "page-10"}
    assert "which is kept" in done.said["corpus why site/pages.jsonl 2"]
    assert (done.folder / "audit" / "sheet.html").stat().st_size


@pytest.mark.slow
def test_slimpajama(tmp_path: Path) -> None:
    done = follow("slimpajama", tmp_path)
    assert done.dropped("mixed_pass1") == {"duplicate": 2, "short": 2}
    mended = done.said["corpus show normalized_documents web--crawl-0 --row 14"]
    assert "\N{EN DASH}" in mended
    assert "\N{EURO SIGN}" not in mended
    raw = (EXAMPLES / "slimpajama/raw/web/crawl-0.jsonl").read_text(encoding="utf-8")
    assert "\N{EURO SIGN}" in raw
    train, holdout = (done.documents(asset) for asset in ("decontaminated_train", "holdout"))
    assert holdout
    assert set(train.values()).isdisjoint(holdout.values())
    assert done.rows("train").shape[1:] == (3, 256)


@pytest.mark.slow
def test_web_crawl(tmp_path: Path) -> None:
    pytest.importorskip("resiliparse", reason="it comes with the extra `warc`")
    done = follow("web-crawl", tmp_path)
    assert done.dropped("normalized_documents") == {"not_a_document": 17, "http_status": 1, "binary_content": 1}
    rules = ("quality.gopher_v2.word_count", "quality.c4_v2.has_lorem_ipsum", "contamination")
    assert done.dropped("filtered_documents") == dict.fromkeys(rules, 1)
    assert done.dropped("mixed_pass1") == {"duplicate": 1}
    tokenizer = done.tokenizer()
    files = sorted((done.folder / "corpus/exports").glob("megatron*/*.bin"))
    texts = decoded(tokenizer, np.concatenate([np.fromfile(file, dtype="<u2") for file in files]))
    pages = texts.split("<|endoftext|>")[:-1]
    assert len(pages) == 13
    assert sum("|||EMAIL_ADDRESS|||" in page for page in pages) == 1
    for gone in ("archive@village.example", "Jupiter", "Lorem ipsum", "Contact", "Cookies", "<p>"):
        assert gone not in texts
    (report,) = [text for command, text in done.said.items() if command.startswith("corpus show contamination_report")]
    assert '"held": 1' in report
    assert all("CC-MAIN-example.warc.gz" in text for command, text in done.said.items() if "trace" in command)


@pytest.mark.slow
def test_dclm(tmp_path: Path) -> None:
    pytest.importorskip("fasttext", reason="it comes with the extra `fasttext`")
    done = follow("dclm", tmp_path)
    kept = done.documents("filtered_documents")
    assert {name.partition("-")[0] for name in kept} == {"explains"}
    assert len(kept) > 70
    figures = re.search(r"recall ([\d.]+).*auc ([\d.]+)", done.said["corpus classifier explains"])
    assert figures is not None
    assert float(figures[1]) > 0.9  # One page in five, of the negative examples, explains something too.
    assert 0.8 < float(figures[2]) < 1
    assert (done.folder / "explains.classifier").stat().st_size > 1_000_000


@pytest.mark.slow
def test_fineweb_edu(tmp_path: Path) -> None:
    done = follow("fineweb-edu", tmp_path)
    kept = done.documents("filtered_documents")
    assert {name.partition("-")[0] for name in kept} == {"explains"}
    assert 90 < len(kept) <= 100
    assert "judge_attributes" in done.said["corpus plan --config annotate.yaml --select +scored_stream"]
    figures = done.said["corpus classifier edu"]
    assert "held out 20 positive, 20 negative" in figures
