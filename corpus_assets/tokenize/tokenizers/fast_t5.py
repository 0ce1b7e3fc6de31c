"""T5's SentencePiece model as transformers' fast class reads it: a Unigram of the tokenizers library.

That library normalizes a text grapheme by grapheme, takes every kind of white space off the end of each part between
control tokens, and resolves ties of the best path otherwise than SentencePiece, whose ids differ there.
"""

import base64
from collections.abc import Iterator, Mapping
from typing import Any

from corpus_assets.tokenize.tokenizers.files import (
    ROLES,
    TOKENIZER_CONFIG,
    TOKENIZER_JSON,
    Json,
    needed,
    numbered_tokens,
)
from corpus_assets.tokenize.tokenizers.sentencepiece_proto import CONTROL, USER_DEFINED, Unigram
from resources.errors import BadFileError

T5_CLASSES = ("T5Tokenizer", "T5TokenizerFast")
T5_MODEL = "spiece.model"
T5_SETTINGS: Json = {"eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>", "extra_ids": 100}
"""Settings of the class, where the configuration has no others."""

_FAST_CLASSES = (*T5_CLASSES, "MT5Tokenizer", "MT5TokenizerFast")
_END = "</s>"
_META = "\N{LOWER ONE EIGHTH BLOCK}"
_FLAGS = ("single_word", "lstrip", "rstrip", "normalized")
_MOST_SENTINELS = 10_000


def is_fast_t5(files: Mapping[str, bytes], config: Json) -> bool:
    """Returns whether transformers would make its fast T5 class of the files of a folder, out of the model file.

    Published folders name no class beside T5's own setting `extra_ids`: transformers has it from config.json.
    """
    name = config.get("tokenizer_class")
    is_t5 = name in _FAST_CLASSES or (name is None and "extra_ids" in config)
    return is_t5 and T5_MODEL in files and TOKENIZER_JSON not in files


def sentinels(config: Json) -> list[str]:
    """Returns the sentinels of T5 in the order of their ids: they are numbered downwards from the last id."""
    count = config.get("extra_ids", 100 if config.get("tokenizer_class") in T5_CLASSES else 0)
    if not isinstance(count, int) or not 0 <= count <= _MOST_SENTINELS:
        raise BadFileError(TOKENIZER_CONFIG, f"extra_ids is {count!r}; valid: 0 to {_MOST_SENTINELS}")
    return [f"<extra_id_{number}>" for number in reversed(range(count))]


def t5_definition(files: Mapping[str, bytes], config: Json) -> Json | None:
    """Returns the `tokenizer.json` object that the fast class makes of a model; None for a model of another kind.

    config: the settings over those of the class. Raises BadFileError for bytes that are no model.
    """
    try:
        model = Unigram.of(needed(files, T5_MODEL))
    except ValueError as error:
        raise BadFileError(T5_MODEL, f"not a SentencePiece model: {error}") from error
    if model is None:
        return None
    vocabulary = [(piece, score) for piece, score, _ in model.pieces] + [(token, 0.0) for token in sentinels(config)]
    ids = {piece: id_ for id_, (piece, _) in reversed([*enumerate(vocabulary)])}
    space = {"type": "Metaspace", "replacement": _META, "prepend_scheme": _prepend_scheme(config), "split": True}
    return {
        "version": "1.0",
        "added_tokens": _numbered(ids, [*_of_model(model), *_of_settings(config)]),
        "normalizer": {"type": "Sequence", "normalizers": _normalizers(model.charsmap)},
        "pre_tokenizer": space,
        "post_processor": _ending(ids.get(_END, model.unknown)),
        "decoder": space,
        "model": {
            "type": "Unigram",
            "unk_id": model.unknown,
            "vocab": [*map(list, vocabulary)],
            "byte_fallback": False,
        },
    }


def _prepend_scheme(config: Json) -> str:
    if not config.get("add_prefix_space", True):
        return "never"
    return "always" if config.get("legacy") in (None, True) else "first"


def _normalizers(charsmap: bytes) -> list[Json]:
    mapped = {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(charsmap).decode()}
    stripped = {"type": "Strip", "strip_left": False, "strip_right": True}
    runs = {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": _META}
    return [*([mapped] if charsmap else []), stripped, runs]


def _ending(end: int) -> Json:
    """Returns the post-processor, which puts `</s>` after every text whatever the settings call its end."""
    mark = {"SpecialToken": {"id": _END, "type_id": 0}}
    first, second = ({"Sequence": {"id": name, "type_id": 0}} for name in "AB")
    return {
        "type": "TemplateProcessing",
        "single": [first, mark],
        "pair": [first, mark, second, mark],
        "special_tokens": {_END: {"id": _END, "ids": [end], "tokens": [_END]}},
    }


def _of_model(model: Unigram) -> Iterator[Json]:
    for piece, _, kind in model.pieces:
        if kind in (CONTROL, USER_DEFINED):
            yield _token({"content": piece}, kind == CONTROL)


def _of_settings(config: Json) -> Iterator[Json]:
    """Yields the tokens that the settings add: the numbered ones, then those with a role, then the sentinels.

    Raises BadFileError for a list of further tokens that has other sentinels than `extra_ids` says.
    """
    listed = config.get("additional_special_tokens")
    others = listed if isinstance(listed, list) else []
    roles = [config[role] for role in ROLES if config.get(role)]
    special = {_content(token) for token in (*roles, *others)}
    flags = {_content(entry): entry for entry in (config.get("added_tokens_decoder") or {}).values()}
    for _, token in numbered_tokens(config):
        yield _token(flags[token.content], token.special or token.content in special)
    yield from (_token(other, True) for other in (*roles, *others))
    named = sum("<extra_id_" in _content(token) for token in others)
    expected = sentinels(config)
    if not named:
        yield from (_token(token, True) for token in expected)
    elif expected and named != len(expected):
        fault = f"extra_ids is {len(expected)}, but additional_special_tokens names {named}; valid: as many, or none"
        raise BadFileError(TOKENIZER_CONFIG, fault)


def _token(token: Any, special: bool) -> Json:
    flags = token if isinstance(token, dict) else {"normalized": not special}
    return {"content": _content(token), "special": special} | {flag: bool(flags.get(flag)) for flag in _FLAGS}


def _content(token: Any) -> str:
    content = token.get("content") if isinstance(token, dict) else token
    return content if isinstance(content, str) else ""


def _numbered(ids: dict[str, int], tokens: list[Json]) -> list[Json]:
    """Returns the first token of each content by id: that of the vocabulary, or the next free one."""
    first: dict[str, Json] = {}
    for token in tokens:
        if token["content"] and token["content"] not in first:
            first[token["content"]] = {"id": ids.setdefault(token["content"], len(ids)), **token}
    return sorted(first.values(), key=lambda token: int(token["id"]))
