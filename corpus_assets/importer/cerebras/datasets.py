"""Runs of Cerebras' preprocessing as entries of `datasets` (docs/formats/cerebras-rows.md)."""

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from corpus_assets.config.datasets.cerebras_names import IN_INPUT, OPTIONS, SAME
from corpus_assets.config.datasets.modes import SECTIONS
from corpus_assets.importer.cerebras.modes import Mode, mode_of
from corpus_assets.importer.cerebras.reasons import LEFT, NO_PARAMETER
from corpus_assets.importer.cerebras.settings import Settings, settings
from corpus_assets.importer.cerebras.tokenizers import tokenizer_section
from corpus_assets.importer.draft import Draft, usable_name
from corpus_assets.importer.finishing import finished
from corpus_assets.importer.given import name, number, switch, text, whole
from corpus_assets.importer.places import located

_NUMBERS = ("short_seq_prob", "fim_rate", "spm_rate")
_WHOLE = ("max_seq_length", "min_sequence_len", "seed", "max_prompt_length", "shuffle_seed")
_SWITCHES = (
    *("pack_sequences", "use_ftfy", "wikitext_detokenize", "remove_bos_in_chunks", "inverted_mask"),
    *("eos_after_prompt", "shuffle"),
)
_KEYS = {**IN_INPUT, "text_key": "text_key", "multi_turn_role_key": "role_key"}
_IN_EVERY_MODE = {"shuffle": "shuffle", "shuffle_seed": "shuffle_seed"}
_TRUNCATED = {"keep_start": "prompt_end", "keep_end": "prompt_start"}
NEW_MINIMUM, DEFAULT_PROMPT, DEFAULT_PIECE, DEFAULT_LENGTH = 10, 512, 2000, 2048


def import_cerebras(files: Sequence[Path], folder: Path, mode: str | None = None) -> Draft:
    """Returns a dataset for each run of Cerebras' preprocessing.

    files: its YAML files, and shell scripts or pages with its command lines. folder: the folder of the new corpus.yaml.
    mode: what Cerebras calls the mode, for files that do not say it. `ConfigError` if no run can be imported.
    """
    draft = Draft({"sources": [], "datasets": []})
    for given in settings(draft, files):
        if (found := mode_of(given, mode)) is not None:
            _add(draft, given, found, folder)
    return finished(draft, str(files[0]))


def _add(draft: Draft, given: Settings, mode: Mode, folder: Path) -> None:
    files = _input(given, folder)
    tokenizer = tokenizer_section(given, folder)
    entry: dict[str, Any] = {
        "name": draft.free_name("datasets", usable_name(given.title, "dataset")),
        "mode": mode.name,
        **({} if mode.name == "chat" else {"compat": "cerebras"}),
        **_defaults(mode),
        **_options(given, mode),
    }
    for take in (_take_pieces, _take_packing, _take_truncation):
        take(given, mode, entry)
    _take_bad_rows(given, files)
    if mode.name == "dpo":
        _limit_prompt(given, entry)
    if mode.is_new and mode.name.startswith("summarization") and "sep_token" not in given.keys:
        draft.remind(f"{given.title}: without sep_token Model Zoo puts the tokenizer's, else <|sep|>; set `separator`")
    if workers := _take(given, "processes", "engine.workers", whole):
        draft.values["engine"] = {"workers": max(workers, draft.values.get("engine", {}).get("workers", 0))}
    given.leave_all({given.keys[key]: why for key, why in LEFT.items() if key in given.keys})
    given.finish(NO_PARAMETER)
    if "location" not in files:
        draft.leave(given.where + given.title, "no folder of raw files: give setup.input_dir or setup.data.source")
        return
    if draft.values.setdefault("tokenizer", tokenizer) != tokenizer:
        entry["tokenizer"] = tokenizer
    draft.add("datasets", {**entry, "input": files})


def _take(given: Settings, key: str, ours: str, kind: Any) -> Any:
    return given.take(given.keys[key], ours, kind) if key in given.keys else None


def _defaults(mode: Mode) -> dict[str, Any]:
    """Returns what differs from the profile in the releases after 2.2.1, and in a mode without the profile."""
    found: dict[str, Any] = {"ftfy": True, "truncate": "discard"} if mode.name == "chat" else {}
    if mode.is_new and mode.name != "dpo":
        found["minimum_length"] = NEW_MINIMUM
    if mode.is_new and mode.name == "lm":
        found["keep_tail"] = True
    return found


def _options(given: Settings, mode: Mode) -> dict[str, Any]:
    section = SECTIONS[mode.name]
    valid = section.model_fields.keys() - section.cerebras_ignores
    found: dict[str, Any] = {}
    for key, ours in {**OPTIONS, **{same: same for same in SAME}, **_IN_EVERY_MODE}.items():
        if key not in given.keys:
            continue
        if ours not in valid:
            _leave_unread(given, (key,), mode)
        elif key == "ftfy_normalizer" and given.value(key) in (None, "null", "None"):
            given.named.add(given.keys[key])
            given.draft.take(given.where + given.keys[key], "datasets[].normalization")
            found[ours] = None
        elif (value := _take(given, key, f"datasets[].{ours}", _kind(key))) is not None:
            found[ours] = value
    return found


def _kind(key: str) -> Any:
    kinds = ((_NUMBERS, number), (_WHOLE, whole), (_SWITCHES, switch))
    return next((kind for keys, kind in kinds if key in keys), text)


def _take_pieces(given: Settings, mode: Mode, entry: dict[str, Any]) -> None:
    """Takes over how a text is cut before it is tokenized."""
    if mode.name not in ("lm", "fim"):
        _leave_unread(given, ("split_text_to_tokenize", "chunk_len_to_split"), mode)
    elif _take(given, "split_text_to_tokenize", "datasets[].split_text", switch):
        entry["split_text"] = _take(given, "chunk_len_to_split", "datasets[].split_text", whole) or DEFAULT_PIECE


def _take_packing(given: Settings, mode: Mode, entry: dict[str, Any]) -> None:
    """Takes over how sequences of a length of their own share rows."""
    if mode.name != "lm_vsl":
        _leave_unread(given, ("fold_long_doc",), mode)
    elif (folds := _take(given, "fold_long_doc", "datasets[].long_documents", switch)) is not None:
        entry["long_documents"] = "fold" if folds else "drop"
    for key in ("max_chunk_size", "read_chunk_size") if mode.name.endswith("_vsl") else ():
        if size := _take(given, key, "datasets[].packing_text", whole):
            entry["packing_text"] = size * 1024
    if mode.name == "chat":
        entry["pack"] = given.value("use_vsl") is True


def _take_truncation(given: Settings, mode: Mode, entry: dict[str, Any]) -> None:
    if "truncation_mode" not in given.keys:
        return
    key = given.keys["truncation_mode"]
    if not mode.name.startswith("summarization"):
        given.leave(key, "set `truncate`; what is too long is discarded here")
    elif given.value("truncation_mode") not in _TRUNCATED:
        given.leave(key, f"received {given.value('truncation_mode')!r}; valid: {', '.join(_TRUNCATED)}")
    else:
        entry["truncate"] = _TRUNCATED[_take(given, "truncation_mode", "datasets[].truncate", text)]


def _take_bad_rows(given: Settings, files: dict[str, Any]) -> None:
    key = "UNSAFE_skip_jsonl_decoding_errors"
    if given.value(key) is False:
        given.leave(given.keys[key], "bad rows are skipped and counted; `on_bad_row: fail` of `input` fails their file")
    elif _take(given, key, "datasets[].input.on_bad_row", switch):
        files["on_bad_row"] = "skip"


def _leave_unread(given: Settings, names: Sequence[str], mode: Mode) -> None:
    for key in (given.keys[one] for one in names if one in given.keys):
        given.leave(key, f"Cerebras does not read it in this mode ({mode.name} here)")


def _limit_prompt(given: Settings, entry: dict[str, Any]) -> None:
    """Keeps the limit of a prompt under the length of a row; Cerebras would wait for ever."""
    length = entry.get("sequence_length", DEFAULT_LENGTH)
    if entry.get("max_prompt_length", DEFAULT_PROMPT) >= length:
        entry["max_prompt_length"] = max(1, length // 2)
        if "max_prompt_length" in given.keys:
            given.draft.taken.pop(given.where + given.keys["max_prompt_length"], None)
            given.leave(given.keys["max_prompt_length"], f"it must be under the length of a row; here {length // 2}")


def _input(given: Settings, folder: Path) -> dict[str, Any]:
    """Returns the place of the raw files, and their keys."""
    found: dict[str, Any] = {}
    for key in ("input_dir", "source"):
        if key in given.keys and (path := given.path(given.keys[key], "datasets[].input.location")):
            found["location"] = located(path, folder)
    if _take(given, "type", "datasets[].input.location", text) == "huggingface" and "location" in found:
        found["location"] = f"hf://datasets/{given.value('source')}"
    if given.has("metadata_files"):
        _take_list(given, found, folder)
    for key, ours in _KEYS.items():
        if key != "input_dir" and (value := _take(given, key, f"datasets[].input.{ours}", name)):
            found[ours] = value
    _take_hook(given, found)
    return found


def _take_hook(given: Settings, found: Mapping[str, Any]) -> None:
    """Records the function that reads a record: one of Model Zoo is known by its keys."""
    if "read_hook" not in given.keys:
        return
    hook = str(given.value("read_hook"))
    if "data_preprocessing.hooks:" in hook:
        given.take(given.keys["read_hook"], "datasets[].mode, and the keys of datasets[].input", text)
    else:
        keys = ", ".join(key for key in found if key.endswith("_key")) or "text_key and the like"
        given.leave(given.keys["read_hook"], f"{hook} is code of its own; here records are read by {keys}")


def _take_list(given: Settings, found: dict[str, Any], folder: Path) -> None:
    """Takes over one text file that lists `.txt` files; other lists have no counterpart."""
    paths = [PurePosixPath(path.strip()) for path in str(given.value("metadata_files")).split(",")]
    if len({path.parent for path in paths}) > 1:
        given.leave(given.keys["metadata_files"], "the lists lie in several folders; name one folder and its files")
        return
    given.take(given.keys["metadata_files"], "datasets[].input.location, glob, and format: txt_list", text)
    given.draft.remind(f"lists in {', '.join(map(str, paths))} must name `.txt` files; for others name their folder")
    found |= {"location": located(str(paths[0].parent), folder), "format": "txt_list"}
    found["glob"] = [path.name for path in paths] if len(paths) > 1 else paths[0].name
