"""The pages say what is so: generated ones are current, and what they tell a reader to type works."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml
from pydantic import BaseModel

from corpus_assets.config.datasets.document_exports import OlmoExport
from corpus_assets.config.datasets.modes import DPODataset, LMDataset
from corpus_assets.config.sections import Source
from corpus_assets.config.tokenizers import TokenizerFile
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.raw.sample.writing import write_sample
from docs.generate import FOLDER, PAGES
from docs.headings import link
from resources import TokenRows
from tests.build.small import drive, prose, write_raw, write_small
from tests.forked import path_of_commands

ROOT = FOLDER.parent


@pytest.mark.parametrize("name", PAGES)
def test_generated_page_is_current(name: str) -> None:
    assert (FOLDER / name).read_text(encoding="utf-8") == PAGES[name](), "run `make docs`"


def test_values_are_shown_as_they_may_be_written() -> None:
    page = PAGES["configuration.md"]()
    for row in (
        "| `limit` | size | `20 GB` | ",
        "| `memory` | size | `2 GiB` | ",
        "| `part_size` | size | `8 MiB` | bytes of a request for a part of a file (at least 5 MiB, at most 1 GiB) |",
        "| `max_size` | size | none | ",
        "| `keep` | list of `source` \\| `longest` \\| `newest` \\| `first` | `[first]` | ",
        "| `prefix_token` | text | `<\\|fim_prefix\\|>` | ",
        '| `replacement` | text | `""` | ',
        "| `dedup.guard` | `{action: 'off'}` |",
        "| `dedup.exact_first` | `false` |",
    ):
        assert f"\n{row}" in page, row
    assert "see below |  |" not in page  # Every section says what it is about.


def test_options_with_a_value_show_it() -> None:
    page = PAGES["cli.md"]()
    assert "\n| `--jobs` | How many partitions are copied at a time. Default 4. |\n" in page
    assert "\n| `--host` | Address to listen on. Default 127.0.0.1. |\n" in page
    assert "\n## `corpus copy OTHER_ROOT [OPTIONS]`\n" in page


def test_blocks_of_the_page_about_the_configuration_are_configurations(tmp_path: Path) -> None:
    blocks = re.findall(r"```yaml\n(.*?)```", PAGES["configuration.md"](), re.DOTALL)
    assert blocks[0].count("\n") == 3  # The smallest: nothing but a folder with a name.
    for block in blocks:
        (tmp_path / "corpus.yaml").write_text(block)
        assert Corpus.open(tmp_path / "corpus.yaml").config.sources[0].name == "books"


@pytest.mark.parametrize("name", PAGES)
def test_links_within_a_generated_page_lead_to_a_heading(name: str) -> None:
    page = PAGES[name]()
    headings = {link(words, "").removeprefix("[](#").removesuffix(")") for words in re.findall("^#+ (.*)$", page, re.M)}
    led_to = set(re.findall(r"\]\(#([^)]+)\)", page))
    assert len(led_to) > 3
    assert led_to <= headings


def keys_below(page: str, *titles: str) -> list[str]:
    sections = dict(part.partition("\n")[::2] for part in page.split("\n## "))
    return [key for title in titles for key in re.findall(r"^\| `(\w+)` \| ", sections[title], re.M)]


@pytest.mark.parametrize(
    ("model", "titles"),
    [
        (LMDataset, ("`datasets[]` with `mode: lm`", "`datasets[]` with any `mode`")),
        (DPODataset, ("`datasets[]` with `mode: dpo`", "`datasets[]` with any `mode`")),
        (OlmoExport, ("`datasets[]` with `format: olmo`", "`datasets[]` with any `format`")),
        (TokenizerFile, ("`tokenizer` with `kind: tokenizer_json`", "`tokenizer` with any `kind`")),
        (Source, ("`sources[]`",)),
    ],
)
def test_a_section_and_that_of_shared_keys_have_every_key_once(model: type[BaseModel], titles: Sequence[str]) -> None:
    assert sorted(keys_below(PAGES["configuration.md"](), *titles)) == sorted(model.model_fields)


def test_the_table_of_sections_leads_to_all_of_them() -> None:
    page = PAGES["configuration.md"]()
    table = page[page.index("| section |") : page.index("## Top level")]
    headings = re.findall("^## (.*)$", page, re.M)
    assert [words for words in headings if link(words, "").removeprefix("[]") not in table] == ["Top level"]


def test_every_promise_names_a_test_that_exists() -> None:
    page = (FOLDER / "reliability.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(?:[\w/.]*::)?(test_\w+)`", page))
    known = {
        name
        for file in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", file.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert len(named) > 20
    assert named <= known
    assert all((ROOT / file).exists() for file in re.findall(r"`(tests/[\w/]+\.py)", page))


def shell_lines(page: Path) -> list[str]:
    """Commands of the `sh` blocks of a page, without `make`, which sets up the machine."""
    blocks = re.findall(r"```sh\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    lines = [line.partition("#")[0].strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if line and not line.startswith("make ")]


@pytest.mark.slow
def test_the_tour_runs(tmp_path: Path) -> None:
    for name in ("corpus.yaml", "dagster.yaml"):
        shutil.copy(ROOT / name, tmp_path / name)
    write_sample(tmp_path / "data" / "raw", megabytes=1)
    environment = {**os.environ, "PATH": path_of_commands(), "DAGSTER_HOME": str(tmp_path / ".dagster_home")}
    environment.pop("CORPUS_CONFIG", None)
    commands = shell_lines(ROOT / "README.md")
    assert len(commands) > 10
    for command in ["corpus build", *commands]:
        run = ["bash", "-c", command]
        done = subprocess.run(run, check=False, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"


def own_stage_page(language: str) -> list[str]:
    """Code blocks of the page about stages of one's own."""
    page = (FOLDER / "own-stage.md").read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)


def test_own_stage_page_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tagger, the counts, the exporter and the engine of the page, on a small corpus."""
    for code in own_stage_page("python"):
        (tmp_path / code.partition("\n")[0].removeprefix("# ")).write_text(code)
    write_small(tmp_path, {})
    settings, engine = own_stage_page("yaml")
    config = yaml.safe_load((tmp_path / "corpus.yaml").read_text()) | yaml.safe_load(engine)
    config["mix"] |= yaml.safe_load(settings)["mix"]
    config |= {"own": yaml.safe_load(settings)["own"], "stages": ["my_stages", "my_counts", "my_export"]}
    shouted = [{"id": f"loud-{n}", "text": f"{prose(n)} ".upper()} for n in range(3)]
    write_raw(tmp_path, "books/loud.jsonl", shouted)
    (tmp_path / "corpus.yaml").write_text(yaml.safe_dump(config))
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in ("my_stages", "my_counts", "my_export", "my_engine"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    corpus = Corpus.open(tmp_path / "corpus.yaml")
    assert drive(corpus).failed == []
    mixed = corpus.ledger.read("mixed_pass1", "books--loud")
    assert mixed is not None and mixed.statistics["dropped"] == {"shouting": 3}
    for key, record in corpus.ledger.records("character_counts").items():
        documents, counted = corpus.partition("normalized_documents", key), corpus.handle(record).array(".npy")
        assert documents is not None
        lengths = [len(document.text) for document in documents.documents()]
        assert [n for n in counted.tolist() if n] == [n for n in lengths if n >= 60], (
            "texts under `short_documents.threshold`"
        )
        assert record.statistics["rows_out"] == len(lengths) == len(counted)
        assert 0 < record.statistics["different"] <= len(lengths)
    flat = corpus.ledger.records("validation_flat")
    assert flat.keys() == corpus.ledger.records("validation_tokens").keys()
    for key, record in flat.items():
        tokens = corpus.partition("validation_tokens", key)
        assert tokens is not None
        inputs = [block[:, 0].ravel() for block in TokenRows(tokens).rows()]
        assert corpus.handle(record).array(".npy").tolist() == [one for block in inputs for one in block.tolist()]
    assert sum(file.rows or 0 for record in flat.values() for file in record.files) > 0


def test_packing_page_works(capsys: pytest.CaptureFixture[str]) -> None:
    """The Python code of the page prints what its comments say."""
    page = (FOLDER / "packing.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    exec(compile(code, "packing.md", "exec"), {})
    assert capsys.readouterr().out.splitlines() == [
        "2 0.98828125 12",
        "1 rows with sequences of (300, 200, 12)",
        "1 rows with sequences of (500,)",
        "SpanLengths(raw=568, targets=114)",
    ]
