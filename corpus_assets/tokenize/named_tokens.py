"""Tokens that corpus.yaml names: whether the tokenizer has them, or will have them once it is trained."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from pydantic import BaseModel

from corpus_assets.config.datasets.token_files import TokenFiles
from corpus_assets.config.naming import TOKEN, keys_that_name
from corpus_assets.config.ready_templates import READY
from corpus_assets.tokenize.tokenizers.loading import LoadedTokenizer
from corpus_assets.tokenize.tokenizers.protocol import Tokenizer
from corpus_assets.tokenize.tokenizers.training import may_be_learned, special_tokens
from resources.errors import ConfigError, each

Settings = Mapping[str, Any]
_VALID = "valid: a token of the vocabulary (a tokenizer of kind train gets control tokens by its `special_tokens`)"


def named_tokens(section: type[BaseModel], values: Settings, where: str) -> dict[str, str]:
    """Returns the tokens that a dataset names, also by default, by their place. where: the place of the dataset."""
    found = {f"{where}.{key}": values[key] for key in keys_that_name(section, TOKEN) if values.get(key) is not None}
    if isinstance(given := values.get("input"), Mapping):
        found |= named_tokens(TokenFiles, given, f"{where}.input")
    return found


def check_tokens(tokens: Mapping[str, str], settings: Settings, tokenizer: Tokenizer | None) -> None:
    """Raises ConfigError for a token that the vocabulary does not have, or can never have once it is trained.

    tokens: by the key that names each. settings: of the tokenizer. tokenizer: None for one that is not there yet.
    """
    each(partial(_check_token, settings, tokenizer, key, token) for key, token in tokens.items())


def _check_token(settings: Settings, tokenizer: Tokenizer | None, key: str, token: str) -> None:
    if tokenizer is not None:
        token_id(tokenizer, key, token)
    elif settings["kind"] == "train" and not _will_have(settings, token):
        raise ConfigError(f"{key}: {token!r} will be no token of the vocabulary, which is trained; {_VALID}")


def token_id(tokenizer: Tokenizer, key: str, token: str) -> int:
    """Returns the id of a token that a key names. Raises ConfigError if the vocabulary does not have it."""
    found = tokenizer.token_id(token)
    if found is None:
        raise ConfigError(f"{key}: {token!r} is no token of the vocabulary ({tokenizer.vocab_size} entries); {_VALID}")
    return found


def check_control_tokens(template: str, key: str, settings: Settings, tokenizer: LoadedTokenizer | None) -> None:
    """Raises ConfigError for a ready template whose control tokens a tokenizer does not have, or will not be given.

    settings: of the tokenizer. tokenizer: None for one that is not there yet.
    """
    if missing := list(_missing(READY.get(template, ()), settings, tokenizer)):
        raise ConfigError(
            f"{key}: {template} writes the control tokens {', '.join(missing)}, which the tokenizer does not have; "
            "valid: a tokenizer with them (one that is trained gets them by `special_tokens`), or another template"
        )


def _missing(tokens: Iterable[str], settings: Settings, tokenizer: LoadedTokenizer | None) -> Iterable[str]:
    if settings["kind"] == "train":
        return (token for token in tokens if token not in special_tokens(settings["special_tokens"]))
    return (token for token in tokens if tokenizer and tokenizer.token_id(token) is None)


def _will_have(settings: Settings, token: str) -> bool:
    return token in special_tokens(settings["special_tokens"]) or may_be_learned(token)
