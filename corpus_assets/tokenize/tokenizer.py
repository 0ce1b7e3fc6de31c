"""The tokenizers of a corpus: their files are stored, downloaded or trained once, and loaded from the store."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date
from typing import Any

import numpy as np

from corpus_assets.tokenize.encode.cuts import parts_to_train_on
from corpus_assets.tokenize.modes.chat.limited_template import try_template
from corpus_assets.tokenize.template_files import template_source
from corpus_assets.tokenize.tokenizers import library
from corpus_assets.tokenize.tokenizers.files import (
    CHAT_TEMPLATE,
    FOLDER_FILES,
    GPT2_MERGES,
    GPT2_TABLE,
    MAX_FILE_BYTES,
    SENTENCEPIECE_MODELS,
    SPECIAL_TOKENS_MAP,
    TOKENIZER_CONFIG,
    TOKENIZER_JSON,
    folder_files,
)
from corpus_assets.tokenize.tokenizers.hub import download
from corpus_assets.tokenize.tokenizers.ids_alone import IDS, files_of_vocabulary
from corpus_assets.tokenize.tokenizers.loading import LoadedTokenizer, TokenizerSpec, files_digest, load_tokenizer
from corpus_assets.tokenize.tokenizers.protocol import Identity
from corpus_assets.tokenize.tokenizers.training import special_tokens, train_bpe
from resources.config_files import beside, held_in, read_outside
from resources.errors import BadFileError, ConfigError, CorpusError, StorageError
from resources.hashing import content_digest, keyed_hash
from resources.outside.looking import is_file
from resources.stage.partition import Partition
from resources.stage.task import Task

SPEC = "spec.json"
"""File of a stored tokenizer with its `TokenizerSpec`."""

Settings = Mapping[str, Any]
_MAIN = {"tokenizer_json": TOKENIZER_JSON, "neox": TOKENIZER_JSON, "sentencepiece": SENTENCEPIECE_MODELS[0]}
_NO_CONTENT = {"path", "merges", "encoder", "config", "chat_template", "backend"}
_LOADED: dict[tuple[str, str], LoadedTokenizer] = {}
_CONTROLLED: dict[tuple[str, str], LoadedTokenizer] = {}
_CHECKED: dict[str, LoadedTokenizer] = {}
"""Tokenizers by the digest of their files and options: several datasets may have the same one."""
_MAX_LOADED = 4
_GENERATION = re.compile(r"\{%[-+]?\s*generation\b")


def tokenizer(task: Task, folder: str) -> None:
    """Put one tokenizer into the store: configured files, those of a hub name, or a BPE trained on the train split.

    folder: where its files go.
    """
    settings = task["tokenizer"]
    spec = _spec(settings)
    if settings["kind"] == "train":
        special = special_tokens(settings["special_tokens"])
        trained = train_bpe(_training_texts(task, settings), settings["vocabulary"], special_tokens=special)
        files = {TOKENIZER_JSON: trained}
    else:
        files = download(settings["name"], settings["revision"]) if settings["kind"] == "hub" else {}
    files |= task.local_files
    loaded = _loaded(files, spec)
    for name, content in files.items():
        task.save_bytes(f"{folder}/{name}", content)
    task.save_json(f"{folder}/{SPEC}", spec.stored(files), rows=1)
    task.count(vocabulary=loaded.vocab_size, eos_id=loaded.eos_id, pad_id=loaded.pad_id, bos_id=loaded.bos_id)
    task.count(tokenizer=loaded.digest)


def _spec(settings: Settings) -> TokenizerSpec:
    kind: Any = {"train": "neox", "hub": "huggingface"}.get(settings["kind"], settings["kind"])
    return TokenizerSpec(
        kind,
        eos=settings.get("eos"),
        pad=settings.get("pad"),
        match_special_tokens=settings.get("special_tokens_in_text", False),
    )


def _training_texts(task: Task, settings: Mapping[str, Any]) -> Iterator[str]:
    """Yields a keyed-hash sample of the train split, about `sample` bytes of text."""
    chunks = task.inputs("decontaminated_train")
    total = sum(int(chunk.array(".rows.npy")["bytes"].sum(dtype=np.uint64)) for chunk in chunks)
    limit = 2.0**64 * min(1.0, settings["sample"] / max(1, total))
    for chunk in chunks:
        for document in chunk.documents():
            if keyed_hash("tokenizer", settings["seed"], document.source, document.id) < limit:
                yield from parts_to_train_on(document.text)


def _content(place: str, key: str, path: str) -> bytes:
    """Returns the content of a file, or a chat template that stands in the configuration itself."""
    return template_source(path, place) if key == "chat_template" else read_outside(place, path, MAX_FILE_BYTES)


def _files(settings: Settings) -> dict[str, tuple[str, str]]:
    """Returns a tokenizer's files by the names the loader knows: the key that names each, and its path.

    Declared tokens lie beside the main file, where they may be absent.
    """
    kind = settings["kind"]
    own = {CHAT_TEMPLATE: ("chat_template", settings["chat_template"])} if settings.get("chat_template") else {}
    if kind in ("train", "hub", IDS):
        return own
    if kind == "huggingface":
        held = held_in(settings["path"], FOLDER_FILES)
        return {name: ("path", held[name]) for name in folder_files(held)} | own
    if kind == "gpt2":
        return {GPT2_MERGES: ("merges", settings["merges"]), GPT2_TABLE: ("encoder", settings["encoder"])} | own
    files = {_MAIN[kind]: ("path", settings["path"])}
    for name in (TOKENIZER_CONFIG, SPECIAL_TOKENS_MAP):
        if is_file(path := beside(settings["path"], name)):
            files[name] = ("path", path)
    return files | ({TOKENIZER_CONFIG: ("config", settings["config"])} if settings.get("config") else {}) | own


def tokenizer_parameters(settings: Settings, section: str = "tokenizer") -> dict[str, Any]:
    """Returns the parameters of a tokenizer: its settings, and the content of its files instead of their paths.

    `backend` does not affect ids, so it is left out. section: the place of the settings in the configuration, for
    messages.
    """
    options = {key: value for key, value in settings.items() if key not in _NO_CONTENT}
    files = _files(settings)
    if settings["kind"] == "huggingface" and not files:
        raise ConfigError(
            f"{section}.path: {settings['path']!r} holds none of {', '.join(FOLDER_FILES)}; "
            "valid: a folder as transformers saves it, or for a name on the hub `kind: hub` with `name`"
        )
    contents = tokenizer_files(settings, section)
    digests = {name: content_digest(content) for name, content in contents.items()}
    return {"tokenizer": options} | ({"tokenizer files": digests} if digests else {}) | _reading(settings, contents)


def _reading(settings: Settings, files: Mapping[str, bytes]) -> dict[str, str]:
    """Returns how files are read, where earlier versions read them otherwise."""
    try:
        stored = _spec(settings).stored(files)
    except BadFileError:  # the check before a build reports this fault
        return {}
    t5 = {"tokenizer class": "T5TokenizerFast"} if "fast_t5" in stored else {}
    return t5 | ({"control tokens": "as its settings declare"} if "as_declared" in stored else {})


def tokenizer_files(settings: Settings, section: str = "tokenizer") -> dict[str, bytes]:
    """Returns the contents of a tokenizer's files, by the names the loader knows. section: as above."""
    if settings["kind"] == IDS:
        return files_of_vocabulary(settings["vocabulary"], settings["bos"])
    return {name: _content(f"{section}.{key}", key, path) for name, (key, path) in _files(settings).items()}


def spaces_go(settings: Settings) -> bool:
    """Returns whether white space beside the control tokens of a tokenizer differs from that elsewhere.

    It is taken to differ for a name on the hub, whose files are not at hand. Faults of its files are those of
    `check_tokenizer`; `StorageError` and `OSError` if the machine cannot read them now.
    """
    if settings["kind"] in ("train", "gpt2", "ids"):
        return False
    if settings["kind"] == "hub":
        return True
    try:
        contents = tokenizer_files(settings)
    except StorageError:
        raise
    except CorpusError:
        return False
    return TOKENIZER_JSON in contents and library.spaces_go(contents[TOKENIZER_JSON])


def check_tokenizer(settings: Settings, section: str = "tokenizer") -> LoadedTokenizer | None:
    """Returns the tokenizer of configured files, which it loads as a build would; None for `train` and `hub`.

    Raises ConfigError with the place in the configuration for files that make no tokenizer, or one without the tokens
    that the settings need. Files that were found good are not loaded again while the process lives.
    """
    if settings["kind"] in ("train", "hub"):
        return None
    files, spec = tokenizer_files(settings, section), _spec(settings)
    try:
        return _loaded(files, spec)
    except CorpusError as fault:
        raise ConfigError(f"{section}: {fault}") from fault


def _loaded(files: Mapping[str, bytes], spec: TokenizerSpec) -> LoadedTokenizer:
    """Returns the tokenizer of files; the last few are kept, as several datasets may have equal files."""
    key = files_digest(files, spec)
    if key not in _CHECKED:
        _CHECKED[key] = load_tokenizer(files, spec)
        while len(_CHECKED) > _MAX_LOADED:
            del _CHECKED[next(iter(_CHECKED))]
    return _CHECKED[key]


def check_template(
    source: str, key: str, values: Mapping[str, Any], day: date | None = None, *, marks: bool = False
) -> None:
    """Raises ConfigError with the key for a chat template that does not parse, asks for a day that is not fixed, or
    costs too much. values: what it may name beside the messages. marks: it must say what is learned.
    """
    try:
        try_template(source, values, day)
    except ConfigError as fault:
        raise ConfigError(f"{key}: {fault}") from fault
    if marks and not _GENERATION.search(source):
        raise ConfigError(
            f"{key}: with `loss_roles: none` its generation blocks say what is learned, and it has none; valid: a "
            "template with `{% generation %}`, or roles"
        )


def check_values(source: str, key: str, values: Mapping[str, Any]) -> None:
    """Raises ConfigError with the key for a value that a chat template never reads."""
    from corpus_assets.tokenize.modes.chat.template import names_read  # It loads jinja.

    read = names_read(source)
    if unread := sorted(set(values) - read):
        raise ConfigError(f"{key}: the chat template reads no {unread[0]!r}; it reads {', '.join(sorted(read))}")


def vocabulary_note(partitions: Sequence[Partition], settings: Settings) -> Iterator[str]:
    """Yields a sentence if a trained tokenizer has fewer tokens than configured. settings: its own."""
    asked = settings.get("vocabulary")
    for partition in partitions:
        found = partition.record.statistics.get("vocabulary", asked)
        if asked is not None and found < asked:
            yield (
                f"{partition.name}: it has {found:,} tokens, and vocabulary asks for {asked:,}; its sample of the "
                "texts has no more pairs that occur twice (a larger `sample` may)"
            )


def load_tokenizer_of(stored_files: Partition, separator: str | None = None) -> LoadedTokenizer:
    """Returns the tokenizer of a partition in the store, with a token that it may lack.

    The last few are kept, as a worker makes many shards with one.
    """
    key = (stored_files.record.digest, separator or "")
    if key not in _LOADED:
        files = {}
        for path in (file.path for file in stored_files.record.files if not file.path.endswith(f"/{SPEC}")):
            with stored_files.open(path) as stored:
                files[path.rpartition("/")[2]] = stored.read()
        while len(_LOADED) >= _MAX_LOADED:
            del _LOADED[next(iter(_LOADED))]
        loaded = _loaded(files, TokenizerSpec.of_stored(stored_files.json(SPEC)))
        _LOADED[key] = loaded.with_token(separator) if separator else loaded
    return _LOADED[key]


def identity_of(stored_files: Partition, separator: str | None = None) -> Identity:
    """Returns what describes the tokenizer of `load_tokenizer_of`, which is loaded only if its record does not say it.

    It does not say what a separator adds, and records of earlier versions name no `bos_id`.
    """
    told = stored_files.record.statistics
    if separator or "bos_id" not in told:
        return Identity.of(load_tokenizer_of(stored_files, separator))
    ids = {name: told[name] for name in ("eos_id", "bos_id", "pad_id")}
    return Identity(stored_files.json(SPEC)["kind"], told["tokenizer"], told["vocabulary"], **ids)


def with_control(tokenizer: LoadedTokenizer, tokens: Collection[str]) -> LoadedTokenizer:
    """Returns the tokenizer with tokens of its vocabulary as control tokens, kept as those of `load_tokenizer_of`."""
    key = (tokenizer.encoding_digest, "\0".join(sorted(tokens)))
    if key not in _CONTROLLED:
        while len(_CONTROLLED) >= _MAX_LOADED:
            del _CONTROLLED[next(iter(_CONTROLLED))]
        _CONTROLLED[key] = tokenizer.with_control(tokens)
    return _CONTROLLED[key]
