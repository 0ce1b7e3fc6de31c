"""Which files of a tokenizer make which backend, as the libraries that they come from would do it."""

from collections.abc import Mapping
from dataclasses import replace

from corpus_assets.tokenize.tokenizers.backend import TokenizerBackend
from corpus_assets.tokenize.tokenizers.fast_t5 import T5_CLASSES, sentinels, t5_definition
from corpus_assets.tokenize.tokenizers.files import (
    FOLDER_MERGES,
    FOLDER_TABLE,
    GPT2_MERGES,
    GPT2_TABLE,
    SENTENCEPIECE_MODELS,
    TOKENIZER_CONFIG,
    TOKENIZER_JSON,
    AddedToken,
    Json,
    added_tokens,
    byte_level_definition,
    declared_tokens,
    is_spelled_as_control,
    json_object,
    needed,
    numbered_tokens,
    tokens_of_definition,
)
from corpus_assets.tokenize.tokenizers.ids_alone import IDS, IDS_JSON, IdsAlone
from corpus_assets.tokenize.tokenizers.library import LibraryBackend
from corpus_assets.tokenize.tokenizers.sentencepiece_model import SentencePieceBackend
from resources.errors import BadFileError, ConfigError

# Classes of transformers that put ids around a text as their settings say, whatever the file says.
_BY_SETTINGS = {f"{name}Tokenizer{fast}" for name in ("Llama", "CodeLlama", "Gemma", "Cohere") for fast in ("", "Fast")}
_OTHER_ID = "added token {!r} has id {}, but {} in the vocabulary"
_OF_A_DEFINITION = ("tokenizer_json", "neox", "huggingface")
_GPT2 = (None, "GPT2Tokenizer", "GPT2TokenizerFast")


def make_backend(
    files: Mapping[str, bytes], kind: str, config: Json, *, fast_t5: bool = False, as_declared: bool = True
) -> TokenizerBackend:
    """Returns the backend for a kind of `TokenizerSpec`; `config` is what `files.settings` read.

    fast_t5: a SentencePiece model is read as transformers' fast class of T5 does. as_declared: as in `TokenizerSpec`.
    """
    if kind == IDS:
        return IdsAlone.of(json_object(files, IDS_JSON))
    if kind == "gpt2":
        return LibraryBackend.of(byte_level_definition(files, GPT2_MERGES, GPT2_TABLE))
    if kind == "sentencepiece":
        return _around(_spaced(_sentencepiece(files, config), config, as_declared), config)
    if kind == "huggingface":
        backend = _folder(files, config, fast_t5).with_added(added_tokens(config, as_declared=as_declared))
        backend = _spaced(_marked(backend, as_declared), config, as_declared)
        _check_numbers(backend, config)
        return _around(backend, config)
    return _marked(_tokenizer_json(files), as_declared)


def control_tokens(backend: TokenizerBackend, config: Json) -> dict[str, str]:
    """Returns the contents of `bos_token`, `eos_token`, ...: the declared ones, else those of a SentencePiece model."""
    own = backend.control_tokens if isinstance(backend, SentencePieceBackend) else {}
    return own | declared_tokens(config)


def bos_setting(kind: str, config: Json) -> bool:
    """Returns whether the settings say that every text begins with the begin-of-text id.

    transformers has this setting in some of its classes only; Cerebras' Model Zoo reads it beside a NeoX file too.
    """
    by_class = kind != "huggingface" or config.get("tokenizer_class") in _BY_SETTINGS
    return by_class and bool(config.get("add_bos_token", kind == "huggingface"))


def _folder(files: Mapping[str, bytes], config: Json, fast_t5: bool) -> TokenizerBackend:
    """Returns the backend of the first form of a transformers tokenizer that is there."""
    if TOKENIZER_JSON in files:
        return _tokenizer_json(files)
    if not files.keys().isdisjoint(SENTENCEPIECE_MODELS):
        by_its_library = _sentencepiece(files, config)
        definition = t5_definition(files, config) if fast_t5 else None
        return LibraryBackend.of(definition, exact_scores=True) if definition else by_its_library
    if FOLDER_TABLE not in files:
        valid = ", ".join((TOKENIZER_JSON, *SENTENCEPIECE_MODELS, f"{FOLDER_TABLE} with {FOLDER_MERGES}"))
        raise ConfigError(f"the folder has no tokenizer; received {sorted(files) or 'none'}, valid: {valid}")
    if (name := config.get("tokenizer_class")) not in _GPT2:
        raise ConfigError(f"{FOLDER_TABLE} of a {name} does not say how it splits a text; valid: its {TOKENIZER_JSON}")
    return LibraryBackend.of(byte_level_definition(files, FOLDER_MERGES, FOLDER_TABLE))


def _tokenizer_json(files: Mapping[str, bytes]) -> TokenizerBackend:
    """Returns the backend of a definition; BadFileError for an added token to which the library gives another id."""
    definition = json_object(files, TOKENIZER_JSON)
    backend = LibraryBackend.of(definition)
    for token in definition.get("added_tokens") or ():
        if (found := backend.token_id(token["content"])) != token["id"]:
            raise BadFileError(TOKENIZER_JSON, _OTHER_ID.format(token["content"], token["id"], found))
    return backend


def _sentencepiece(files: Mapping[str, bytes], config: Json) -> SentencePieceBackend:
    name = next((name for name in SENTENCEPIECE_MODELS if name in files), SENTENCEPIECE_MODELS[0])
    backend = SentencePieceBackend.of(needed(files, name), name)
    unknown = config.get("unk_token")
    if (
        isinstance(unknown, dict)
        and unknown.get("normalized") is True
        and unknown.get("content") in backend.special_tokens
    ):
        backend = replace(backend, normalized_unknown=True)
    return backend.with_added([AddedToken(token) for token in sentinels(config)])


def _spaced(backend: TokenizerBackend, config: Json, as_declared: bool) -> TokenizerBackend:
    """Returns the backend without spaces after control tokens, if the settings of a SentencePiece model say so."""
    if isinstance(backend, SentencePieceBackend) and as_declared and config.get("legacy") is False:
        return replace(backend, inner_spaces=False)
    return backend


def _marked(backend: TokenizerBackend, as_declared: bool) -> TokenizerBackend:
    """Returns the backend with tokens as control tokens that are spelled as such.

    Qwen and DeepSeek declare `<|fim_prefix|>` or `<｜User｜>` as text, which only says that decoding shows them.
    """
    return backend.with_control(list(filter(is_spelled_as_control, backend.added_tokens))) if as_declared else backend


def reads_more(files: Mapping[str, bytes], kind: str, config: Json) -> bool:
    """Returns whether `as_declared` counts for a tokenizer."""
    has_model = TOKENIZER_JSON not in files and not files.keys().isdisjoint(SENTENCEPIECE_MODELS)
    if kind in ("huggingface", "sentencepiece") and has_model and config.get("legacy") is False:
        return True
    tokens = tokens_of_definition(files) if kind in _OF_A_DEFINITION else []
    tokens += added_tokens(config) if kind == "huggingface" else []
    if any(is_spelled_as_control(token.content) for token in tokens if not token.special):
        return True
    if kind != "huggingface":
        return False
    own = {token.content for token in tokens_of_definition(files)}
    heeded = [token.plain if has_model or token.content in own else token for token in added_tokens(config)]
    return heeded != added_tokens(config, as_declared=False)


def _around(backend: TokenizerBackend, config: Json) -> TokenizerBackend:
    """Returns the backend with the begin- and end-of-text ids that transformers puts around a text."""
    name = config.get("tokenizer_class")
    llama, t5 = name in _BY_SETTINGS, name in T5_CLASSES or "extra_ids" in config
    if isinstance(backend, LibraryBackend) and not llama:
        return backend
    tokens = control_tokens(backend, config)
    before = _wanted(tokens, "bos_token", config.get("add_bos_token", llama))
    after = _wanted(tokens, "eos_token", config.get("add_eos_token", t5))
    return backend.with_around(before, after)


def _wanted(tokens: Mapping[str, str], role: str, wanted: object) -> list[str]:
    if wanted and role not in tokens:
        raise ConfigError(f"tokenizer wants its {role} around every text, but declares none")
    return [tokens[role]] if wanted else []


def _check_numbers(backend: TokenizerBackend, config: Json) -> None:
    for id_, token in numbered_tokens(config):
        if (found := backend.token_id(token.content)) != id_:
            raise BadFileError(TOKENIZER_CONFIG, _OTHER_ID.format(token.content, id_, found))
