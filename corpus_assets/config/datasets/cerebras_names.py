"""Parameter names of Cerebras' Model Zoo for datasets (docs/formats/cerebras-hdf5.md "Parameter names"), read as ours.

The names of the modes are in the sections themselves (`modes.py`).
"""

from collections.abc import Container, Iterator, Mapping
from typing import Any

OPTIONS = {
    "max_seq_length": "sequence_length",
    "min_sequence_len": "minimum_length",
    "short_seq_prob": "short_sequence_probability",
    "pack_sequences": "pack",
    "use_ftfy": "ftfy",
    "ftfy_normalizer": "normalization",
    "wikitext_detokenize": "wikitext",
    "remove_bos_in_chunks": "remove_bos_in_pieces",
    "sep_token": "separator",
    "fim_prefix_tok": "prefix_token",
    "fim_middle_tok": "middle_token",
    "fim_suffix_tok": "suffix_token",
}
IN_INPUT = {
    "input_dir": "location",
    "jsonl_key": "text_key",
    "prompt_key": "prompt_key",
    "completion_key": "completion_key",
    "multi_turn_key": "messages_key",
    "multi_turn_content_key": "content_key",
    "chosen_key": "chosen_key",
    "rejected_key": "rejected_key",
}
TOKENIZER = ("tokenizer_type", "vocab_file", "encoder_file", "huggingface_tokenizer", "eos_id", "pad_id")
SAME = (
    *("inverted_mask", "seed", "fim_rate", "spm_rate", "prompt_prefix", "completion_prefix", "eos_after_prompt"),
    *("max_prompt_length", "response_delimiter", "chat_template", "user_role", "assistant_role"),
)
"""Options that have the same names in Cerebras' Model Zoo and here."""
ELSEWHERE = {
    "metadata_files": "give `input` with `location` and `glob`",
    "output_dir": "`storage.root` says where everything goes",
    "processes": "`engine.workers` says how many, and results do not depend on it",
    "auth_token": "give it in the environment as HF_TOKEN; nothing secret belongs in this file",
    "resume_from_checkpoint": "every build goes on where the last one stopped",
    "dataset_processor": "`mode` says it",
    "params": "this file takes the place of the one that it names",
}
NO_EFFECT = {
    "write_in_batch": "it never changed what is written",
    **dict.fromkeys(("output_name", "files_per_record", "write_remainder", "display_pbar"), "it never had an effect"),
    **dict.fromkeys(("input_ids_dtype", "input_mask_dtype", "position_ids_dtype"), "files are always int32"),
}


def clear_names(values: Mapping[str, Any], modes: Mapping[str, str], packed_by_text: Container[str]) -> dict[str, Any]:
    """Returns one entry of `datasets` with our names; ValueError for a name given twice, or without a meaning here.

    modes: our modes by Cerebras' names. packed_by_text: modes that Cerebras packs one chunk of text at a time.
    """
    elsewhere = ELSEWHERE | NO_EFFECT
    # None is Cerebras' default for these, so it sets nothing.
    absent = {name for name in elsewhere.keys() | IN_INPUT.keys() if values.get(name) is None}
    values = {name: value for name, value in values.items() if name not in absent}
    for name, why in elsewhere.items():
        if name in values:
            raise ValueError(f"{name} cannot be set for a dataset: {why}")
    if "mode" in values:
        values["mode"] = mode_named(values["mode"], modes)
    values = _renamed(values, OPTIONS)
    _take_split(values)
    if isinstance(values.get("fold_long_doc"), bool):
        _put(values, "long_documents", "fold" if values.pop("fold_long_doc") else "drop", "fold_long_doc")
    if isinstance(size := values.get("max_chunk_size"), int):
        del values["max_chunk_size"]
        if values.get("mode") in packed_by_text:  # In other modes it only sets the size of Cerebras' files.
            _put(values, "packing_text", size * 1024, "max_chunk_size")
    _take_input(values)
    _take_tokenizer(values)
    return {name: value for name, value in values.items() if name not in TOKENIZER}


def without_unread(values: Mapping[str, Any], read: Container[str]) -> dict[str, Any]:
    """Returns an entry without the options that Cerebras ignores: those of other modes, and those without effect.

    read: our names of the options that Cerebras reads in the mode.
    """
    ours = {**OPTIONS, **{name: name for name in SAME}, "fold_long_doc": "long_documents"}
    ours |= dict.fromkeys(("split_text_to_tokenize", "chunk_len_to_split"), "split_text")
    unread = {name for name, own in ours.items() if own not in read} | NO_EFFECT.keys()
    return {name: value for name, value in values.items() if name not in unread}


def mode_named(given: object, modes: Mapping[str, str]) -> object:
    """Returns our name of a mode; anything else as it was given."""
    return modes.get(given, given) if isinstance(given, str) else given


def _renamed(values: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    found = {name: value for name, value in values.items() if name not in names}
    for name in values.keys() & names.keys():
        _put(found, names[name], values[name], name)
    return found


def _put(values: dict[str, Any], name: str, value: Any, given: str) -> None:
    if name in values:
        raise ValueError(f"{given} and {name} are two names of one value; give one of them")
    values[name] = value


def _take_split(values: dict[str, Any]) -> None:
    """Replaces `split_text_to_tokenize` and `chunk_len_to_split` (2000 characters by default) by `split_text`."""
    length = values.pop("chunk_len_to_split", 2000)
    if isinstance(split := values.get("split_text_to_tokenize"), bool):
        del values["split_text_to_tokenize"]
        if split:
            _put(values, "split_text", length, "split_text_to_tokenize")


def _take_input(values: dict[str, Any]) -> None:
    """Moves Cerebras' options about files into `input`."""
    given = {name: values.pop(name) for name in IN_INPUT if name in values}
    if not given:
        return
    inside = values.get("input", {})
    if not isinstance(inside, Mapping):
        raise ValueError(f"{', '.join(given)}: keys of files; but input is {inside!r}, a split of the corpus")
    values["input"] = dict(inside)
    for name, value in given.items():
        _put(values["input"], IN_INPUT[name], value, name)


def _take_tokenizer(values: dict[str, Any]) -> None:
    """Adds Cerebras' keys to the section `tokenizer`."""
    given = dict(_tokenizer(values))
    own = values.get("tokenizer")
    if not given:
        return
    if own is not None and not isinstance(own, Mapping):
        raise ValueError(f"tokenizer_type and tokenizer are given, and tokenizer is {own!r}; valid: a mapping")
    values["tokenizer"] = dict(own or {})
    for name, value in given.items():
        _put(values["tokenizer"], name, value, f"tokenizer_type, for tokenizer.{name},")


def _tokenizer(values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yields the keys and values of the tokenizer section that Cerebras' keys describe; nothing if none is given."""
    kind = values.get("tokenizer_type")
    if kind is None:
        if given := [name for name in TOKENIZER if values.get(name) is not None]:
            raise ValueError(f"{', '.join(given)} without tokenizer_type; or say eos and pad in `tokenizer`")
        return
    places = {
        "GPT2Tokenizer": ("gpt2", {"vocab_file": "merges", "encoder_file": "encoder"}),
        "NeoXTokenizer": ("neox", {"encoder_file": "path"}),
        "HuggingFaceTokenizer": ("huggingface", {"huggingface_tokenizer": "path"}),
    }
    if kind not in places:
        raise ValueError(f"tokenizer_type is {kind!r}; valid: {', '.join(places)}")
    ours, names = places[kind]
    yield "kind", ours
    ids = {"eos_id": "eos"} if ours == "gpt2" else {"eos_id": "eos", "pad_id": "pad"}  # GPT-2's pad is always its eos.
    for name, key in {**names, **ids}.items():
        if values.get(name) is not None:
            yield key, values[name]
