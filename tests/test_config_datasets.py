"""`datasets`: Cerebras' names for every mode; what cannot be made is refused with its key and what is valid."""

import re
from pathlib import Path
from typing import Any

import pytest

from corpus_assets.config.datasets.cerebras_names import ELSEWHERE, NO_EFFECT
from corpus_assets.config.datasets.files import Files
from corpus_assets.config.datasets.modes import (
    SECTIONS,
    DatasetSection,
    DPODataset,
    FIMDataset,
    LMDataset,
    SummarizationVSLDataset,
    VSLDataset,
    dataset_section,
)
from corpus_assets.config.reading.loading import parse_config
from corpus_assets.tokenize.datasets import dataset_parameters
from resources.errors import ConfigError

FILES = {"location": "own"}


def parsed(**values: Any) -> Any:
    config = parse_config({"sources": [{"name": "a", "location": "raw"}], "datasets": [{"name": "d", **values}]})
    return config.datasets[0]


def refused(**values: Any) -> str:
    with pytest.raises(ConfigError) as error:
        parsed(**values)
    return str(error.value)


def test_language_modelling_by_the_names_of_the_original() -> None:
    found = parsed(
        mode="LMData",
        max_seq_length=128,
        min_sequence_len=4,
        short_seq_prob=0.25,
        pack_sequences=False,
        use_ftfy=True,
        ftfy_normalizer=None,
        wikitext_detokenize=True,
        split_text_to_tokenize=True,
        chunk_len_to_split=500,
        remove_bos_in_chunks=True,
        seed=3,
        shuffle=True,
        shuffle_seed=4,
        jsonl_key="content",
        input_dir="own",
    )
    assert isinstance(found, LMDataset)
    assert (found.sequence_length, found.minimum_length, found.short_sequence_probability) == (128, 4, 0.25)
    assert (found.pack, found.ftfy, found.normalization, found.wikitext) == (False, True, None, True)
    assert (found.split_text, found.remove_bos_in_pieces) == (500, True)
    assert (found.seed, found.shuffle, found.shuffle_seed) == (3, True, 4)
    assert isinstance(found.input, Files)
    assert (found.input.location, found.input.text_key) == ("own", "content")


def test_pieces_have_the_length_of_the_original_unless_given() -> None:
    assert parsed(split_text_to_tokenize=True).split_text == 2000
    assert parsed(split_text_to_tokenize=False).split_text is None
    assert parsed(mode="LMData_VSL", split_text_to_tokenize=False).split_text is None


@pytest.mark.parametrize(("fold", "ours"), [(True, "fold"), (False, "drop")])
def test_packed_documents_by_the_names_of_the_original(fold: bool, ours: str) -> None:
    found = parsed(mode="LMData_VSL", max_seq_length=64, fold_long_doc=fold)
    assert isinstance(found, VSLDataset)
    assert found.long_documents == ours


def test_fill_in_the_middle_by_the_names_of_the_original() -> None:
    found = parsed(
        mode="FIM", fim_rate=0.5, spm_rate=0.1, fim_prefix_tok="<p>", fim_middle_tok="<m>", fim_suffix_tok="<s>"
    )
    assert isinstance(found, FIMDataset)
    assert (found.fim_rate, found.spm_rate) == (0.5, 0.1)
    assert (found.prefix_token, found.middle_token, found.suffix_token) == ("<p>", "<m>", "<s>")


def test_turns_by_the_names_of_the_original() -> None:
    found = parsed(
        mode="Summarization_VSL",
        input_dir="own",
        multi_turn_key="turns",
        multi_turn_content_key="value",
        sep_token="<sep>",
        prompt_prefix="Q",
        completion_prefix="A",
        eos_after_prompt=True,
    )
    assert isinstance(found, SummarizationVSLDataset)
    assert (found.input.messages_key, found.input.content_key) == ("turns", "value")
    assert (found.separator, found.prompt_prefix, found.completion_prefix) == ("<sep>", "Q", "A")
    assert found.eos_after_prompt


def test_a_name_of_the_original_without_a_value_says_nothing() -> None:
    keys = ("jsonl_key", "prompt_key", "completion_key", "multi_turn_key", "multi_turn_content_key")
    nothing = dict.fromkeys((*keys, "chosen_key", "rejected_key", "metadata_files", "auth_token", "output_name"))
    for mode in ("LMData", "Summarization", "DPO"):
        assert parsed(mode=mode, input_dir="own", **nothing) == parsed(mode=mode, input_dir="own")
    assert parsed(**nothing).input == "decontaminated_train"


def test_preferences_by_the_names_of_the_original() -> None:
    found = parsed(
        mode="DPO",
        input_dir="own",
        prompt_key="p",
        chosen_key="c",
        rejected_key="r",
        max_prompt_length=64,
        response_delimiter="<response>",
    )
    assert isinstance(found, DPODataset)
    assert (found.input.prompt_key, found.input.chosen_key, found.input.rejected_key) == ("p", "c", "r")
    assert (found.max_prompt_length, found.response_delimiter) == (64, "<response>")


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ({"tokenizer_type": "GPT2Tokenizer", "vocab_file": "v", "encoder_file": "e"}, "gpt2"),
        ({"tokenizer_type": "NeoXTokenizer", "encoder_file": "e", "eos_id": 1, "pad_id": 2}, "neox"),
        ({"tokenizer_type": "HuggingFaceTokenizer", "huggingface_tokenizer": "folder"}, "huggingface"),
    ],
)
def test_tokenizers_by_the_names_of_the_original(given: dict[str, Any], kind: str) -> None:
    found = parsed(**given).tokenizer
    assert found.kind == kind
    assert (getattr(found, "eos", None), getattr(found, "pad", None)) == (given.get("eos_id"), given.get("pad_id"))


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"max_seq_length": 8, "sequence_length": 8}, "max_seq_length and sequence_length are two names of one value"),
        ({"processes": 4}, "processes cannot be set for a dataset: `engine.workers`"),
        ({"auth_token": "x"}, "nothing secret belongs in this file"),
        ({"params": "a.yaml"}, "this file takes the place of the one that it names"),
        ({"tokenizer_type": "T"}, "tokenizer_type is 'T'; valid: GPT2Tokenizer, NeoXTokenizer, HuggingFaceTokenizer"),
        ({"vocab_file": "v"}, "vocab_file without tokenizer_type"),
        ({"jsonl_key": "x", "input": "train"}, "jsonl_key: keys of files; but input is 'train'"),
        ({"mode": "dpo", "input": FILES, "inverted_mask": True}, "inverted_mask: unknown key"),
        ({"mode": "dpo", "input": FILES, "user_role": "x", "assistant_role": "x"}, "valid: two different names"),
        ({"mode": "dpo", "input": FILES, "max_prompt_length": 2048}, "max_prompt_length is 2048; valid: 1 to 2047"),
        ({"mode": "summarization", "input": FILES, "truncate": "oldest_turns"}, "valid: 'discard', 'prompt_start'"),
        ({"mode": "summarization", "input": FILES, "sequence_length": 8, "minimum_length": 9}, "valid: at most 8"),
        ({"mode": "chat", "input": FILES, "day": "2024-13-45"}, "day is '2024-13-45'; valid: a date"),
        ({"mode": "chat", "input": FILES, "loss_roles": []}, "loss_roles: received [] (list)"),
        ({"mode": "chat", "input": FILES, "loss_roles": []}, "or null, for what the template's"),
        ({"mode": "fim", "prefix_token": "x", "suffix_token": "x"}, "valid: three different ones"),
        ({"mode": "fim", "split_text": 5}, "split_text and remove_bos_in_pieces go with fim_level row"),
        ({"mode": "fim", "sequence_length": 4}, "sequence_length is 4; valid with FIM: 8 or more"),
        ({"mode": "lm_vsl", "packing": "nearest_previous", "packing_depth": 2}, "packing depth is 2"),
        ({"mode": "chat"}, "datasets.0.input: missing, but required"),
        ({"sequence_length": 0}, "datasets.0.sequence_length: received 0 (int); input should be greater"),
        ({"sequence_length": 8, "minimum_length": 10}, "minimum_length is 10; valid: at most 9"),
        ({"short_sequence_probability": 1.5}, "short_sequence_probability: received 1.5"),
        ({"sequence_length": 2, "minimum_length": 2, "short_seq_prob": 0.5}, "sequence_length is 2; valid with short"),
        ({"mode": "fim", "fim_rate": 1.5}, "fim_rate: received 1.5"),
        ({"mode": "fim", "spm_rate": -0.1}, "spm_rate: received -0.1"),
        ({"mode": "lm_vsl", "sequence_length": 8, "minimum_length": 10}, "minimum_length is 10; valid: at most 9"),
        ({"mode": "lm_vsl", "packing": "first_fit"}, "packing: received 'first_fit' (str); valid: 'best_fit'"),
        ({"mode": "lm_vsl", "packing_window": 0}, "packing_window: received 0"),
        ({"mode": "lm_vsl", "long_documents": "keep"}, "received 'keep' (str); valid: 'fold', 'cut' or 'drop'"),
        ({"mode": "summarization_vsl", "input": FILES, "truncate": "all"}, "received 'all' (str); valid: 'discard'"),
        ({"mode": "chat", "input": FILES, "sequence_length": 8, "minimum_length": 10}, "valid: at most 9"),
        ({"mode": "chat", "input": FILES, "train_on": "x"}, "train_on: received 'x' (str); valid: 'all_turns'"),
        ({"mode": "chat", "input": FILES, "truncate": "x"}, "truncate: received 'x' (str); valid: 'discard'"),
        ({"mode": "dpo", "input": FILES, "sequence_length": 1}, "sequence_length: received 1 (int)"),
        ({"mode": "dpo", "input": FILES, "sequence_length": 64, "max_prompt_length": 64}, "valid: 1 to 63"),
        ({"mode": "dpo", "input": FILES, "max_prompt_length": 0}, "max_prompt_length: received 0"),
        ({"mode": "dpo", "input": FILES, "response_delimiter": ""}, "response_delimiter is empty; valid: text"),
        ({"input": {**FILES, "text_key": ""}}, "text_key: received ''"),
        ({"input": {**FILES, "text_key": "id"}}, "keys are 'id', 'id', 'metadata'; valid: non-empty, each one used"),
        ({"input": {**FILES, "id_key": ""}}, "keys are 'text', '', 'metadata'; valid: non-empty"),
        ({"input": {**FILES, "role_key": "a", "content_key": "a"}}, "keys are 'a', 'a'; valid"),
        ({"mode": "summarization", "input": {**FILES, "prompt_key": []}}, "prompt_key: received []"),
        ({"mode": "summarization", "input": {**FILES, "prompt_key": "completion"}}, "keys are 'completion', 'comp"),
        ({"mode": "chat", "input": {**FILES, "messages_key": "id"}}, "keys are 'id', 'id'"),
        ({"mode": "dpo", "input": {**FILES, "prompt_key": ["a", "a"]}}, "keys are 'a', 'a', 'chosen', 'rejected'"),
        ({"input": {**FILES, "prompt_key": "q"}}, "prompt_key is not read: the files hold texts; valid: text_key"),
        ({"input": {**FILES, "role_key": "who"}}, "role_key is not read: the files hold texts"),
        ({"format": "mds", "input": {**FILES, "chosen_key": "a"}}, "chosen_key is not read: the files hold texts"),
        (
            {"mode": "summarization", "input": {**FILES, "text_key": "t"}},
            "text_key is not read: the files hold pairs, as messages_key is not given; valid: completion_key",
        ),
        (
            {"mode": "chat", "input": {**FILES, "messages_key": "turns", "prompt_key": "q"}},
            "prompt_key is not read: the files hold conversations; valid: content_key, messages_key, role_key",
        ),
        ({"mode": "dpo", "input": {**FILES, "messages_key": "m"}}, "messages_key is not read: the files hold pref"),
        ({"mode": "LM"}, "received 'LM' as 'mode'; valid: 'lm', 'lm_vsl', 'fim'"),
    ],
)
def test_what_cannot_be_made_is_refused(values: dict[str, Any], words: str) -> None:
    message = refused(**values)
    assert words in message
    assert "datasets.0" in message


@pytest.mark.parametrize("mode", SECTIONS)
def test_a_section_comes_back_from_its_plain_values(mode: str) -> None:
    given = parsed(mode=mode, input=FILES)
    assert dict(dataset_section(given.model_dump())) == given.model_dump()
    rows_depend_on = {name: value for name, value in given.model_dump().items() if name not in ("name", "format")}
    found = dataset_section({**rows_depend_on, "input": "files", "files": 8})
    assert type(found) is type(given)
    assert found.sequence_length == given.sequence_length


@pytest.mark.parametrize("section", [section for section in SECTIONS.values() if section.cerebras_name])
def test_what_cerebras_sets_is_set_unless_given(section: type[DatasetSection]) -> None:
    found = parsed(mode=section.cerebras_name, compat="cerebras", input=FILES)
    assert type(found) is section
    assert {name: getattr(found, name) for name in section.cerebras_values} == section.cerebras_values
    assert not parsed(mode=section.cerebras_name, compat="cerebras", input=FILES, ftfy=False).ftfy
    assert isinstance(found.input, Files)
    assert found.input.ids == "optional"
    given = parsed(mode=section.cerebras_name, compat="cerebras", input={**FILES, "ids": "given"})
    assert isinstance(given.input, Files)
    assert given.input.ids == "given"


def test_rows_depend_on_whether_empty_texts_are_kept() -> None:
    for values, found in (({}, False), ({"keep_empty": True}, True), ({"compat": "cerebras"}, True)):
        entry = parsed(mode="lm", input=FILES, **values).model_dump()
        settings = {"datasets": [entry], "mix": {"chunks": 1}}
        name = f"datasets.{entry['name']}.keep_empty"
        assert dataset_parameters(settings, entry["name"]).get(name) is found


@pytest.mark.parametrize(
    ("mode", "options"),
    [
        ("LMData", {"fold_long_doc": False, "sep_token": "<s>", "write_in_batch": True}),
        # Documents of LMData_VSL are encoded whole (docs/formats/cerebras-rows.md "LMData_VSL").
        ("LMData_VSL", {"split_text_to_tokenize": True, "chunk_len_to_split": 9, "remove_bos_in_chunks": True}),
        ("LMData_VSL", {"pack_sequences": False, "input_ids_dtype": "int64"}),
        ("Summarization", {"short_seq_prob": 0.5, "seed": 3, "eos_after_prompt": True}),
        ("Summarization_VSL", {"pack_sequences": False, "split_text_to_tokenize": True}),
        ("DPO", {"min_sequence_len": 30, "inverted_mask": True, "sep_token": "<s>", "short_seq_prob": 0.1}),
    ],
)
def test_what_cerebras_ignores_in_a_mode_is_ignored_with_its_profile_alone(mode: str, options: dict[str, Any]) -> None:
    given = {"mode": mode, "input": FILES}
    assert parsed(**given, compat="cerebras", **options) == parsed(**given, compat="cerebras")
    assert "short_sequence" in refused(**given, compat="cerebras", short_sequences=1)  # not a name of Cerebras
    try:
        without_profile = parsed(**given, **options)
    except ConfigError:
        return
    assert without_profile != parsed(**given)


def test_every_parameter_of_cerebras_without_a_counterpart_has_its_line_on_the_page() -> None:
    page = Path(__file__).parents[1].joinpath("docs/formats/cerebras-hdf5.md").read_text(encoding="utf-8")
    named = {name for line in page.splitlines() if line.startswith("| `") for name in re.findall("`([a-z_]+)`", line)}
    assert (ELSEWHERE | NO_EFFECT).keys() - named == set()
    assert f"writes this {parsed().minimum_length} over" in " ".join(page.split())


def test_a_dataset_with_files_of_its_own_is_not_named_like_a_source() -> None:
    values = {"sources": [{"name": "a", "location": "raw"}], "datasets": [{"name": "a", "input": FILES}]}
    with pytest.raises(ConfigError, match="'a' reads files of its own and is named like a source; rename one"):
        parse_config(values)
