"""`corpus import cerebras`: configurations of Model Zoo as datasets; those of golden runs give the golden rows."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from numpy.typing import NDArray

from corpus_assets.importer.cerebras.datasets import import_cerebras
from corpus_assets.importer.draft import Draft
from resources.errors import ConfigError
from tests.golden import shared
from tests.golden.test_cerebras import RUNS, difference, expected, rows_in
from tests.importer.built import assert_all_named, built, imported, text, write_tokenizer
from tests.tokenize.reference_reading import case
from tests.tokenize.tokenizers_for_tests import files_of_case

BY_MODE = {case(name)["mode"]: name for name in reversed(RUNS) if not difference(name)}
"""A golden run of each of the six modes."""
SETUP = ("input_dir", "output_dir", "processes", "dataset_processor", "mode")
HOOKS = "cerebras.modelzoo.data_preparation.data_preprocessing.hooks:"


def old(name: str) -> dict[str, Any]:
    """The configuration of a golden run, as a file of release 2.2.1."""
    given = case(name)
    said = given["tokenizer"]
    first, *others = map(str, files_of_case(said["files"]))
    files = {"GPT2Tokenizer": ("vocab_file", "encoder_file"), "NeoXTokenizer": ("encoder_file",)}
    names = files.get(said["tokenizer_type"], ("huggingface_tokenizer",))
    folder = shared("golden", "cerebras", *Path(given["input"]).parts)
    return {
        "setup": {"input_dir": str(folder), "output_dir": "out", "processes": 1},
        "processing": {
            "tokenizer_type": said["tokenizer_type"],
            **dict(zip(names, (first, *others), strict=False)),
            **({"eos_id": said["eos_id"], "pad_id": said["pad_id"]} if len(names) == 1 else {}),
            **given["processing"],
            **given["cli"],
        },
        "dataset": given["dataset"],
    }


def rows(draft: Draft, folder: Path) -> NDArray[np.int32]:
    draft.values["datasets"][0]["name"] = "golden"
    built(draft, folder)
    return rows_in(folder)


def test_every_mode_has_a_golden_run() -> None:
    if not RUNS:
        pytest.skip("no golden runs of Cerebras beside this checkout")
    assert set(BY_MODE) == {"LMData", "LMData_VSL", "FIM", "Summarization", "Summarization_VSL", "DPO"}


@pytest.mark.parametrize("mode", BY_MODE)
def test_a_configuration_of_each_mode_gives_the_rows_of_the_original(mode: str, tmp_path: Path) -> None:
    values = old(BY_MODE[mode])
    line = f"python create_hdf5_dataset.py {mode} --params old.yaml --write_in_batch True --shuffle_seed 5"
    (tmp_path / "old.yaml").write_text(yaml.safe_dump(values))
    draft = imported(import_cerebras, tmp_path, {"run.sh": line})
    assert_all_named(draft, [*(key for section in values.values() for key in section), "shuffle_seed"])
    np.testing.assert_array_equal(rows(draft, tmp_path), expected(BY_MODE[mode]))


def new(mode: str, hook: str, **dataset: Any) -> dict[str, Any]:
    """A file of release 2.10."""
    keys = {"text_read_hook": ["text_key"], "dpo_read_hook": ["prompt_key", "chosen_key", "rejected_key"]}
    pair = ["prompt_key", "completion_key"]
    return {
        "setup": {"data": {"source": "raw", "type": "local"}, "output_dir": "out", "processes": 4, "mode": mode},
        "processing": {
            "custom_tokenizer": "neoxtokenizer",
            "tokenizer_params": {"encoder_file": "tokenizer/tokenizer.json"},
            "eos_id": 0,
            "max_seq_length": 64,
            "write_in_batch": True,
            "resume_from_checkpoint": False,
            "read_hook": f"{HOOKS}{hook}",
            "read_hook_kwargs": {key: key.removesuffix("_key") for key in keys.get(hook, pair)},
            "use_ftfy": False,
            "ftfy_normalizer": None,
            "read_chunk_size": 64,
            "shuffle": False,
            "UNSAFE_skip_jsonl_decoding_errors": False,
        },
        "dataset": dataset,
    }


PARTS = ("prefix", "middle", "suffix")
ROW = {"text": text(1, 9), "prompt": text(2, 9), "completion": text(3, 9), "chosen": text(4, 9), "rejected": text(5, 9)}
FIM = {"fim_rate": 0.5, "spm_rate": 0.5, **{f"fim_{part}_tok": f"<fim_{part}>" for part in PARTS}}


@pytest.mark.parametrize(
    ("mode", "hook", "dataset", "ours"),
    [
        ("pretraining", "text_read_hook", {"pack_sequences": True}, "lm"),
        ("pretraining", "text_read_hook", {"use_vsl": True, "fold_long_doc": False}, "lm_vsl"),
        ("pretraining", "text_read_hook", {"training_objective": "fim", **FIM}, "fim"),
        ("finetuning", "prompt_completion_text_read_hook", {"sep_token": None}, "summarization"),
        ("finetuning", "prompt_completion_text_read_hook", {"use_vsl": True}, "summarization_vsl"),
        ("dpo", "dpo_read_hook", {"user_role": "user", "response_delimiter": "[/INST]"}, "dpo"),
    ],
)
def test_files_of_the_newest_release(
    mode: str, hook: str, dataset: dict[str, Any], ours: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_tokenizer(tmp_path / "tokenizer" / "tokenizer.json")
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "a.jsonl").write_text(f"{json.dumps(ROW)}\n" * 12)
    values = new(mode, hook, **dataset)
    draft = imported(import_cerebras, tmp_path, {"new.yaml": yaml.safe_dump(values)})
    (entry,) = draft.values["datasets"]
    assert (entry["mode"], entry["compat"], entry["normalization"]) == (ours, "cerebras", None)
    assert entry.get("packing_text") == (64 * 1024 if ours.endswith("_vsl") else None)
    assert draft.values["engine"] == {"workers": 4}
    inside = values["processing"]["read_hook_kwargs"]
    assert_all_named(
        draft, [*values["setup"]["data"], *values["processing"].keys() - {"read_hook_kwargs", "tokenizer_params"}]
    )
    assert_all_named(draft, [*inside, *dataset, "encoder_file", "output_dir", "mode"])
    assert len(rows(draft, tmp_path))


def test_chats_take_the_template_of_their_tokenizer(tmp_path: Path) -> None:
    keys = {"multi_turn_key": "messages", "multi_turn_content_key": "content", "multi_turn_role_key": "role"}
    values = new("finetuning", "chat_read_hook", use_vsl=True, truncate_to_msl=None)
    values["processing"] |= {"huggingface_tokenizer": "org/name", "read_hook_kwargs": keys}
    del values["processing"]["custom_tokenizer"], values["processing"]["tokenizer_params"]
    draft = imported(import_cerebras, tmp_path, {"chat.yaml": yaml.safe_dump(values)})
    (entry,) = draft.values["datasets"]
    assert (entry["mode"], entry["pack"], entry["ftfy"], entry["truncate"]) == ("chat", True, False, "discard")
    assert entry["input"]["messages_key"] == "messages"
    assert entry["input"]["role_key"] == "role"
    assert draft.values["tokenizer"]["name"] == "org/name"


def test_what_has_no_counterpart_is_named(tmp_path: Path) -> None:
    values = new("finetuning", "prompt_completion_text_read_hook", truncate_to_msl={"truncation_mode": "keep_start"})
    values["setup"] |= {"data_splits": {"train": {"split_fraction": 0.8}}, "num_nodes": 2, "colour": "blue"}
    values["processing"] |= {"short_seq_prob": 0.1, "max_seq_length": "<length>", "auth_token": "secret-of-mine"}
    values["processing"]["read_hook"] = "mine.hooks:read"
    values["processing"]["semantic_loss_weight"] = {"text": 1}
    draft = imported(import_cerebras, tmp_path, {"new.yaml": yaml.safe_dump(values)})
    left = draft.left_out
    assert "Cerebras does not read it in this mode" in left["processing.short_seq_prob"]
    assert "received '<length>'; valid: a whole number" in left["processing.max_seq_length"]
    assert "mine.hooks:read is code of its own" in left["processing.read_hook"]
    assert "known here" in left["setup.colour"]
    assert {"setup.data_splits", "setup.num_nodes", "processing.semantic_loss_weight"} <= left.keys()
    assert draft.values["datasets"][0]["truncate"] == "prompt_end"
    assert "secret-of-mine" not in f"{draft}".replace(str(values), "") or "auth_token" not in draft.taken
    assert not any("secret-of-mine" in why for why in [*left.values(), *draft.taken.values(), *draft.to_do])
    assert "secret-of-mine" not in yaml.safe_dump(draft.values)


@pytest.mark.parametrize(
    ("dataset", "ours"),
    [
        ({}, "lm"),
        ({"fold_long_doc": True}, "lm_vsl"),
        ({"prompt_key": "p", "completion_key": "c"}, "summarization"),
        ({"multi_turn_key": "m"}, "summarization_vsl"),
        ({"chosen_key": "c"}, "dpo"),
        ({"fim_rate": 0.5}, "fim"),
    ],
)
def test_a_mode_that_no_key_says(dataset: dict[str, Any], ours: str, tmp_path: Path) -> None:
    values = {"setup": {"input_dir": "raw"}, "processing": {"tokenizer_type": "GPT2Tokenizer"}, "dataset": dataset}
    files = {"a.yaml": yaml.safe_dump(values)}
    draft = imported(import_cerebras, tmp_path, files)
    assert draft.values["datasets"][0]["mode"] == ours
    assert any(f"its keys are those of {ours}; --mode names another" in step for step in draft.to_do)
    named = import_cerebras([tmp_path / "a.yaml"], tmp_path, "LMData_VSL")
    assert named.values["datasets"][0]["mode"] == "lm_vsl"


@pytest.mark.parametrize(
    ("setup", "message"),
    [
        ({"input_dir": "raw", "mode": "nlg"}, "its files hold ids and no texts"),
        ({"input_dir": "raw", "mode": "MLM"}, "no masked-language rows"),
        ({"input_dir": "raw", "mode": "weird"}, "'weird' is no mode here; valid: lmdata"),
        ({"input_dir": "raw", "dataset_processor": "MLMPreprocessor"}, "has no mode here"),
        ({"mode": "LMData"}, "no folder of raw files"),
        ("x", "setup: received 'x'; valid: a mapping"),
    ],
)
def test_what_gives_no_dataset_is_refused(setup: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=message):
        imported(import_cerebras, tmp_path, {"a.yaml": yaml.safe_dump({"setup": setup})})


@pytest.mark.parametrize("content", ["!!python/object/apply:os.system ['true']", "a: &x [1]\nb: *x", "- 1", "{"])
def test_what_is_no_plain_mapping_is_refused(content: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"a\.yaml"):
        imported(import_cerebras, tmp_path, {"a.yaml": content})
