"""The page on mixing by buckets: its example runs, and says the truth about copies and order."""

import json
import random
import re
from pathlib import Path

import yaml

from corpus_assets.config.reading.loading import parse_config
from tests.build.small import drive, opened, prose
from tests.export.exported import manifest_of

PAGE = (Path(__file__).parent.parent.parent / "docs" / "mixing-by-buckets.md").read_text(encoding="utf-8")
SMALL = {
    "minhash": {"permutations": 64, "width": 5, "bands": 3, "rows": 8},
    "short_documents": {"threshold": 0},
    "tokenizer": {"kind": "train", "vocabulary": 300, "sample": 20000},
    "engine": {"workers": 0},
    "storage": {"sync": False},
}
"""What keeps the build of the example short; the page has the defaults."""


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def write_raw(folder: Path) -> None:
    (folder / "raw/web").mkdir(parents=True)
    chance = random.Random(0)
    rows = (
        {
            "id": f"d{number}",
            "text": prose(number, 20),
            "metadata": {
                "quality": chance.random(),
                **({"topic": chance.choice(["science", "sports"])} if number % 9 else {}),
            },
        }
        for number in range(1500)
    )
    (folder / "raw/web/rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_the_example_gives_the_shares_of_its_table(tmp_path: Path) -> None:
    write_raw(tmp_path)
    config = {**yaml.safe_load(blocks("yaml")[0]), **SMALL}
    (tmp_path / "corpus.yaml").write_text(yaml.safe_dump(config))
    table = blocks("csv")[0]
    (tmp_path / "weights.csv").write_text(table)
    corpus = opened(tmp_path)
    done = drive(corpus, corpus.graph.select(["+pretraining_manifest"]))
    assert done.failed == []
    used = manifest_of(corpus, "pretraining")["mixture"]["units"]
    shares = {f"{topic}/{q}": float(share) for topic, q, share in (row.split(",") for row in table.splitlines()[1:])}
    assert {unit for unit, one in used.items() if one["asked"]} == set(shares)
    whole = sum(one["reached"] for one in used.values())
    for unit, share in shares.items():
        assert abs(used[unit]["reached"] / used[unit]["target"] - 1) < 0.01
        if used[unit]["asked"] == used[unit]["target"]:
            assert abs(used[unit]["reached"] / whole - share) < 0.002


def test_the_other_blocks_are_configurations() -> None:
    whole = yaml.safe_load(blocks("yaml")[0])
    for block in blocks("yaml")[1:]:
        parse_config({**whole, "datasets": [], **yaml.safe_load(block)})
