"""`corpus import slimpajama`: lines of its steps as a corpus.yaml with its profile, which is built."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from corpus_assets.cli.main import app
from corpus_assets.importer.slimpajama import import_slimpajama
from resources.errors import ConfigError
from tests.importer.built import assert_all_named, built, imported, text, texts

STEPS = """
IN=raw
for ds in book c4; do
  python preprocessing/normalize_text.py --data_dir $IN/$ds/ --target_dir norm/$ds/
done
for year in 2019-30 2020-05; do
  python preprocessing/normalize_text.py -d $IN/common_crawl/$year -t norm/common_crawl/$year --zst --idx 0
done
python preprocessing/filter.py norm/ short.pickle 60 all 150
python dedup/to_hash.py book norm/book/ hashes/book/ 9 0 0 9 -w 11 -k 1000
python dedup/generate_duplicate_pairs.py --input_dir hashes --out_file dup/pairs.txt --range 12 --bands 8 --processes 2
python dedup/generate_connected_components.py --input_dir dup --out_file dup/components.pickle
python dedup/generate_duplicates_dict.py --input_file dup/components.pickle --out_file dup/duplicates.pickle
python preprocessing/shuffle_holdout.py pass1 --input_dir norm/ --duplicates dup/duplicates.pickle \\
  --short_docs short.pickle --out_dir pass1
for j in {1..3}
do
  python preprocessing/shuffle_holdout.py pass2 "$((j-1))" "$j" "$j" --input_dir pass1 --train_dir train \\
    --holdout_dir holdout > $j.log 2>&1 &
  python dedup/dedup_train.py $j --src_dir train --tgt_dir holdout --out_dir deduped
done
"""


def write_raw(folder: Path) -> None:
    for place, name in enumerate(("book", "c4", "common_crawl/2019-30", "common_crawl/2020-05")):
        (folder / "raw" / name).mkdir(parents=True)
        rows = [text(number) for number in range(place * 10, place * 10 + 8)]
        rows += [text(0) + " the end"] if name == "c4" else ["too short"]
        lines = [json.dumps({"text": row, "meta": {}}) for row in rows]
        (folder / "raw" / name / "part.jsonl").write_text("\n".join(lines))


def test_steps_become_the_profile_and_are_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_raw(tmp_path)
    draft = imported(import_slimpajama, tmp_path, {"run.sh": STEPS})
    assert draft.values == {
        "compat": "slimpajama",
        "sources": [
            {"name": "book", "location": "raw/book"},
            {"name": "c4", "location": "raw/c4"},
            {"name": "common_crawl", "location": "raw/common_crawl", "glob": ["2019-30/**/*", "2020-05/**/*"]},
        ],
        "short_documents": {"threshold": 150},
        "minhash": {"width": 11, "rows": 12, "bands": 8},
        "mix": {"chunks": 3},
        "datasets": [
            {"name": "train", "format": "text", "input": "decontaminated_train", "files": "jsonl.zst"},
            {"name": "holdout", "format": "text", "input": "holdout", "files": "jsonl.zst"},
        ],
        "engine": {"workers": 2},
    }
    assert draft.to_do == []
    options = (
        "data_dir",
        "target_dir",
        "zst",
        "idx",
        "input_dir",
        "output_file",
        "n_docs",
        "dataset_name",
        "threshold",
    )
    more = ("iter", "index_start", "index_end", "w", "k", "range", "bands", "processes", "out_file", "input_file")
    last = (
        "stage",
        "duplicates",
        "short_docs",
        "out_dir",
        "start_index",
        "end_index",
        "chunk_id",
        "train_dir",
        "src_dir",
    )
    assert_all_named(draft, [*options, *more, *last])
    corpus = built(draft, tmp_path)
    found = texts(corpus, "decontaminated_train") | texts(corpus, "holdout")
    assert found == {text(number) for start in (0, 10, 20, 30) for number in range(start, start + 8)}


def test_steps_that_no_line_does_are_turned_off(tmp_path: Path) -> None:
    line = "python dedup/to_hash.py wiki norm/wiki out 9 0 0 9\n"
    draft = imported(import_slimpajama, tmp_path, {"run.sh": line})
    assert [source["name"] for source in draft.values["sources"]] == ["wiki"]
    assert draft.values["minhash"] == {"width": 6}
    assert draft.values["normalize"] == {"method": "none"}
    assert draft.values["mix"]["leave_out"] == []
    assert draft.values["split"] == {"holdout": 0.0}
    assert [dataset["input"] for dataset in draft.values["datasets"]] == ["train"]
    assert len(draft.to_do) == 4


def test_bands_that_a_signature_has_not_are_named(tmp_path: Path) -> None:
    lines = "python main.py /nowhere\npython dedup/generate_duplicate_pairs.py --range 20 --bands 9\n"
    draft = imported(import_slimpajama, tmp_path, {"run.sh": lines})
    assert "minhash" not in draft.values
    assert "more than the 128" in draft.left_out["line 2: generate_duplicate_pairs bands"]
    assert [source["name"] for source in draft.values["sources"]][-1] == "common_crawl"


def test_placeholders_are_named(tmp_path: Path) -> None:
    page = "```bash\npython preprocessing/normalize_text.py --data_dir <prefix_path>/arxiv/ --target_dir x\n"
    page += "python preprocessing/filter.py <prefix_path>/x y <n_docs> <dataset_name> <threshold>\n```\n"
    (tmp_path / "README.md").write_text(page)
    arguments = ["import", "slimpajama", str(tmp_path / "README.md")]
    done = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert "not taken over: line 3: filter threshold: received '<threshold>'; valid: a whole number" in done.output
    assert "to do: write the place in place of <prefix_path> in corpus.yaml" in done.output
    assert "taken over: line 2: normalize_text data_dir: as sources[].location" in done.output


@pytest.mark.parametrize(
    ("lines", "message"),
    [("ls -l", "nothing can be imported"), ("python main.py 'raw", "line 1: a ' has no end")],
)
def test_lines_without_documents_are_refused(tmp_path: Path, lines: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        imported(import_slimpajama, tmp_path, {"run.sh": lines})
