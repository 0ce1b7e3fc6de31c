"""Reading the files that come with a tokenizer: JSON with limits, declared tokens, chat template.

The files are untrusted: sizes and nesting are bounded, and no file can run code or make ids random.
"""

import json
import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import msgspec
from tokenizers import Tokenizer as Encoder
from tokenizers import decoders, models, pre_tokenizers

from resources.errors import BadFileError, ConfigError

TOKENIZER_JSON = "tokenizer.json"
TOKENIZER_CONFIG = "tokenizer_config.json"
SPECIAL_TOKENS_MAP = "special_tokens_map.json"
ADDED_TOKENS = "added_tokens.json"
CHAT_TEMPLATE = "chat_template.jinja"
GPT2_MERGES = "vocab.bpe"
GPT2_TABLE = "encoder.json"
FOLDER_MERGES = "merges.txt"
FOLDER_TABLE = "vocab.json"
SENTENCEPIECE_MODELS = ("tokenizer.model", "spiece.model")
FOLDER_FILES = (
    TOKENIZER_JSON,
    *SENTENCEPIECE_MODELS,
    FOLDER_TABLE,
    FOLDER_MERGES,
    TOKENIZER_CONFIG,
    SPECIAL_TOKENS_MAP,
    ADDED_TOKENS,
    CHAT_TEMPLATE,
)
MAX_FILE_BYTES = 256 << 20
MAX_TEMPLATE_CHARACTERS = 1 << 20
MAX_VOCABULARY = 1 << 24
_CONTROL = re.compile(r"<[|｜][^<>|｜\s]+[|｜]>|<fim[_-]\w+>")
_LISTS = ("additional_special_tokens", "extra_special_tokens", "model_specific_special_tokens")
"""Further control tokens: a list, or an object that names each."""
ROLES = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")

Json = dict[str, Any]


class AddedToken(NamedTuple):
    """A token that is matched as a whole before the model sees the text; `special` ones are control tokens.

    lstrip, rstrip: white space before and after it goes with it. single_word: not within a word. normalized: it is
    found in the normalized text; None: if it is not special, as the tokenizers library has it. No other backend uses
    these four.
    """

    content: str
    special: bool = True
    lstrip: bool = False
    rstrip: bool = False
    single_word: bool = False
    normalized: bool | None = None

    @property
    def plain(self) -> "AddedToken":
        """The token without flags."""
        return AddedToken(self.content, self.special)

    @classmethod
    def of(cls, content: str, special: bool, entry: object) -> "AddedToken":
        """Returns a token with the flags of an object that declares it; what is no object has none."""
        flags = entry if isinstance(entry, dict) else {}
        lstrip, rstrip, single_word = (flags.get(flag) is True for flag in ("lstrip", "rstrip", "single_word"))
        normalized = flags.get("normalized")
        as_usual = not isinstance(normalized, bool) or normalized is not special
        return cls(content, special, lstrip, rstrip, single_word, None if as_usual else normalized)


def is_spelled_as_control(token: str) -> bool:
    """Returns whether a token is spelled as control tokens are: `<|name|>` with ASCII or wide bars, or `<fim_name>`."""
    return _CONTROL.fullmatch(token) is not None


class _Definition(msgspec.Struct):
    """Of a `tokenizer.json` its added tokens alone: the vocabulary is large."""

    class Token(msgspec.Struct):
        content: str = ""
        special: bool = False

    added_tokens: list[Token] | None = None


def tokens_of_definition(files: Mapping[str, bytes]) -> list[AddedToken]:
    """Returns the added tokens of `tokenizer.json`; none if it is absent, or cannot be read, as loading it says."""
    if TOKENIZER_JSON not in files:
        return []
    try:
        found = msgspec.json.decode(needed(files, TOKENIZER_JSON), type=_Definition).added_tokens or []
    except (ValueError, RecursionError):
        loose = None
        with suppress(BadFileError):
            loose = json_object(files, TOKENIZER_JSON).get("added_tokens")
        entries = [entry for entry in loose if isinstance(entry, dict)] if isinstance(loose, list) else []
        found = [_Definition.Token(str(entry.get("content")), entry.get("special") is True) for entry in entries]
    return [AddedToken(token.content, token.special) for token in found]


def needed(files: Mapping[str, bytes], name: str) -> bytes:
    """Returns the content of a file; ConfigError if it was not given, BadFileError if it is too large."""
    if name not in files:
        raise ConfigError(f"tokenizer needs the file {name}; received {sorted(files) or 'none'}")
    if len(files[name]) > MAX_FILE_BYTES:
        raise BadFileError(name, f"has {len(files[name])} bytes; valid: at most {MAX_FILE_BYTES}")
    return files[name]


def json_object(files: Mapping[str, bytes], name: str) -> Json:
    """Returns the JSON object in a needed file; BadFileError if there is none."""
    raw = needed(files, name)
    try:
        value = msgspec.json.decode(raw)
    except (ValueError, RecursionError):
        value = _loosely(raw, name)
    if not isinstance(value, dict):
        raise BadFileError(name, f"holds a JSON {type(value).__name__}; valid: an object")
    return value


def _loosely(raw: bytes, name: str) -> Any:
    """Returns the value of JSON as Python reads it: other encodings, halves of surrogate pairs, and NaN too."""
    try:
        return json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise BadFileError(name, f"not JSON: {error}") from error


def written(definition: Json) -> str:
    """Returns a `tokenizer.json` object as text."""
    model = definition.get("model")
    if isinstance(model, dict) and model.get("type") == "BPE":
        with suppress(msgspec.MsgspecError, ValueError, TypeError, RecursionError):
            return msgspec.json.encode(definition).decode()
    # The library rounds scores by how they are spelled, which must stay as it was.
    return json.dumps(definition, ensure_ascii=False)


def folder_files(present: Collection[str]) -> list[str]:
    """Returns the names of a folder's files that make its tokenizer: a `tokenizer.json` has the added tokens itself."""
    unread = {ADDED_TOKENS} if TOKENIZER_JSON in present else set()
    return [name for name in FOLDER_FILES if name in present and name not in unread]


def settings(files: Mapping[str, bytes]) -> Json:
    """Returns `tokenizer_config.json` over `special_tokens_map.json`; empty without them.

    `added_tokens.json`, which has ids by token, stands for `added_tokens_decoder`, as in transformers before 4.34.
    """
    merged: Json = {}
    for name in (SPECIAL_TOKENS_MAP, TOKENIZER_CONFIG):
        merged |= json_object(files, name) if name in files else {}
    if ADDED_TOKENS in files and "added_tokens_decoder" not in merged:
        added = json_object(files, ADDED_TOKENS)
        merged["added_tokens_decoder"] = {str(id_): {"content": token} for token, id_ in added.items()}
    return merged


def declared_tokens(config: Json) -> dict[str, str]:
    """Returns the contents of `bos_token`, `eos_token`, ...; a token is a string or an object with `content`."""
    contents = {role: _content(config.get(role)) for role in ROLES}
    return {role: content for role, content in contents.items() if content}


def numbered_tokens(config: Json) -> list[tuple[int, AddedToken]]:
    """Returns the tokens of `added_tokens_decoder`, by id."""
    tokens = [
        (int(id_), AddedToken(_content(entry), bool(entry.get("special"))))
        for id_, entry in _decoder(config).items()
        if id_.isdecimal() and len(id_) < 10 and isinstance(entry, dict)
    ]
    return sorted((id_, token) for id_, token in tokens if token.content)


def _decoder(config: Json) -> Json:
    listed = config.get("added_tokens_decoder")
    return listed if isinstance(listed, dict) else {}


def added_tokens(config: Json, *, as_declared: bool = True) -> list[AddedToken]:
    """Returns every token that the configuration wants in the vocabulary, in the order of their new ids.

    Those with a role and those of `_LISTS` are control tokens. as_declared: False for tokenizers that were stored
    before, which have those of the first list alone, none that `added_tokens_decoder` calls no special one, and no
    flags. As in transformers, the flags of `added_tokens_decoder` go before those of a role.
    """
    listed = [config.get(key) for key in (_LISTS if as_declared else _LISTS[:1])]
    others = [token for tokens in listed for token in _each(tokens, objects=as_declared)]
    declared = dict.fromkeys(filter(None, [*declared_tokens(config).values(), *map(_content, others)]), True)
    numbered = _numbered(config)
    if not as_declared:
        return [AddedToken(content, marked) for content, marked in (numbered | declared | numbered).items()]
    entries = [*_decoder(config).values(), *(config.get(role) for role in ROLES), *others]
    first = {_content(entry): entry for entry in reversed(entries)}
    return [AddedToken.of(content, marked, first.get(content)) for content, marked in (numbered | declared).items()]


def _numbered(config: Json) -> dict[str, bool]:
    """Returns the tokens of `added_tokens_decoder` in the order of their ids; of two of one content the first."""
    found: dict[str, bool] = {}
    for _, token in numbered_tokens(config):
        found.setdefault(token.content, token.special)
    return found


def _each(tokens: Any, *, objects: bool) -> list[Any]:
    if isinstance(tokens, dict) and objects:
        return list(tokens.values())
    return tokens if isinstance(tokens, list) else []


def _content(value: Any) -> str:
    content = value.get("content") if isinstance(value, dict) else value
    return content if isinstance(content, str) else ""


def chat_template(files: Mapping[str, bytes], config: Json) -> str | None:
    """Returns the template file, else that of the configuration; of several named ones, `default`."""
    template = config.get("chat_template")
    if CHAT_TEMPLATE in files:
        try:
            template = files[CHAT_TEMPLATE].decode()
        except UnicodeDecodeError as error:
            raise BadFileError(CHAT_TEMPLATE, f"not UTF-8: {error}") from error
    if isinstance(template, list):
        named = {entry.get("name"): entry.get("template") for entry in template if isinstance(entry, dict)}
        template = named.get("default")
    if not isinstance(template, str):
        return None
    if len(template) > MAX_TEMPLATE_CHARACTERS:
        raise BadFileError(CHAT_TEMPLATE, f"has {len(template)} characters; valid: at most {MAX_TEMPLATE_CHARACTERS}")
    return template


def byte_level_definition(files: Mapping[str, bytes], merges: str, table: str) -> Json:
    """Returns byte-level BPE with the GPT-2 pattern (Radford et al. 2019), without special-token matching."""
    vocabulary = json_object(files, table)
    lines = needed(files, merges).split(b"\n")
    if lines[0].startswith(b"#version"):
        del lines[0]
    try:
        pairs = (line.decode().partition(" ") for line in lines if line.strip())
        encoder = Encoder(models.BPE(vocab=vocabulary, merges=[(left, right.rstrip("\r")) for left, _, right in pairs]))
    except MemoryError:
        raise
    except Exception as error:  # the library raises bare Exception for every fault of a file
        raise BadFileError(merges, f"merges and table do not fit: {error}") from error
    encoder.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    encoder.decoder = decoders.ByteLevel()
    definition: Json = json.loads(encoder.to_str())
    return definition
