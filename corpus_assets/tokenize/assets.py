"""The tokenizer, and for each configured dataset its token shards and `data_params.json`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from corpus_assets.tokenize.cleaning import CleaningSettings
from corpus_assets.tokenize.hdf5 import LM_FEATURES, write_hdf5
from corpus_assets.tokenize.lmdata import LMDataSettings, lmdata_rows
from corpus_assets.tokenize.statistics import Statistics, data_params, encode_data_params, merge
from corpus_assets.tokenize.tokenizers import (
    GPT2_MERGES,
    GPT2_TABLE,
    SPECIAL_TOKENS_MAP,
    TOKENIZER_CONFIG,
    TOKENIZER_JSON,
    LoadedTokenizer,
    TokenizerSpec,
    encode_texts,
    load_tokenizer,
)
from corpus_assets.tokenize.training import train_bpe
from resources.errors import ConfigError
from resources.graph import Partitioning, Stage, every, same
from resources.hashing import content_digest, keyed_hash
from resources.task import Part, Task

FOLDER = "tokenizer"
MAX_TOKENIZER_BYTES = 256 << 20
_PLACES = ("path", "merges", "encoder", "config")


def tokenizer(task: Task) -> None:
    """Put the tokenizer into the store: the configured files, or a BPE trained on the train split."""
    settings = task["tokenizer"]
    if settings["kind"] == "train":
        files = {TOKENIZER_JSON: train_bpe(_training_texts(task, settings), settings["vocabulary"])}
        spec = TokenizerSpec("neox")
    else:
        files = {name: _read("tokenizer", Path(path)) for name, path in task.places.items()}
        spec = TokenizerSpec(
            settings["kind"],
            eos=settings.get("eos"),
            pad=settings.get("pad"),
            match_special_tokens=settings.get("special_tokens_in_text", False),
        )
    loaded = load_tokenizer(files, spec)
    for name, content in files.items():
        task.save_bytes(f"{FOLDER}/{name}", content)
    task.save_json(f"{FOLDER}/spec.json", asdict(spec), rows=1)
    task.count(vocabulary=loaded.vocab_size, eos_id=loaded.eos_id, pad_id=loaded.pad_id, tokenizer=loaded.digest)


def _training_texts(task: Task, settings: Mapping[str, Any]) -> Iterator[str]:
    """A keyed-hash sample of the train split, about `sample` bytes of text."""
    parts = task.inputs("decontaminated_train")
    total = sum(part.record.statistics["text_bytes"] for part in parts)
    limit = 2.0**64 * min(1.0, settings["sample"] / max(1, total))
    for part in parts:
        for document in part.documents():
            if keyed_hash("tokenizer", settings["seed"], document.source, document.id) < limit:
                yield document.text


def _paths(settings: Mapping[str, Any]) -> dict[str, tuple[str, Path]]:
    """The files of a tokenizer, with the key that names each, by the names the loader knows them by.

    Declared tokens lie beside the main file, where they may be absent.
    """
    if settings["kind"] == "gpt2":
        names = {GPT2_MERGES: "merges", GPT2_TABLE: "encoder"}
    else:
        names = {TOKENIZER_JSON: "path"} | ({TOKENIZER_CONFIG: "config"} if settings.get("config") else {})
    files = {name: (f"tokenizer.{key}", Path(settings[key])) for name, key in names.items()}
    if settings["kind"] != "gpt2":
        main = Path(settings["path"])
        beside = {name: main.with_name(name) for name in (TOKENIZER_CONFIG, SPECIAL_TOKENS_MAP) if name not in files}
        files |= {name: ("tokenizer.path", path) for name, path in beside.items() if path.is_file()}
    return files


def _read(key: str, path: Path) -> bytes:
    try:
        if path.stat().st_size > MAX_TOKENIZER_BYTES:
            raise ConfigError(f"{key}: {path.name} is over the limit of {MAX_TOKENIZER_BYTES} bytes")
        return path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{key}: {str(path)!r} cannot be read: {error.strerror}") from None


def tokenizer_places(settings: Mapping[str, Any]) -> dict[str, str]:
    """Where the tokenizer's files lie, by the names the loader knows them by."""
    chosen = settings["tokenizer"]
    return {} if chosen["kind"] == "train" else {name: str(path) for name, (_, path) in _paths(chosen).items()}


def tokenizer_parameters(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The tokenizer's settings, and the content of its files rather than their place."""
    chosen = settings["tokenizer"]
    if chosen["kind"] == "train":
        return {"tokenizer": chosen}
    digests = {name: content_digest(_read(*place)) for name, place in _paths(chosen).items()}
    options = {key: value for key, value in chosen.items() if key not in _PLACES}
    return {"tokenizer": options, "tokenizer files": digests}


def tokens(task: Task) -> None:
    """Tokenize one chunk of a split into an HDF5 file of rows (n, 3, L): input ids, loss mask, labels."""
    options = {key.rpartition(".")[2]: value for key, value in task.parameters.items()}
    part = task.input(options["input"])
    loaded = _load(task.input("tokenizer"))
    settings = _settings(options)
    statistics = Statistics()
    texts = (document.text for document in part.documents())
    ids = encode_texts(texts, loaded, CleaningSettings(), statistics, split_length=settings.split_text)
    blocks = lmdata_rows(ids, settings, loaded.eos_id, loaded.pad_id, statistics)
    path = f"{task.stage.name}/{task.partition}.h5"
    attributes = {
        "mode": "LMData",
        "dataset": options["name"],
        "split": options["input"],
        "tokenizer": loaded.digest,
        "vocab_size": loaded.vocab_size,
        "eos_id": -1 if loaded.eos_id is None else loaded.eos_id,
        "pad_id": loaded.pad_id,
        "seed": settings.seed,
        "sequence_length": settings.sequence_length,
        "packed": int(settings.pack),
        "inverted_mask": int(settings.inverted_mask),
        "input_digest": part.record.digest,
    }
    written = write_hdf5(
        task.create(path), blocks, attributes, features=LM_FEATURES, sequence_length=settings.sequence_length
    )
    task.add_file(path, written.content_digest, written.rows)
    for reason, count in statistics.discarded_documents.items():
        task.drop(reason, count)
    task.count(rows_in=statistics.processed_files, rows_out=written.rows, tokens=statistics.non_pad_tokens)
    counters = statistics.as_dict()
    task.count(text_bytes=statistics.raw_bytes_count, counters=counters)
    # The dataset's statistics are sums of these, so they are content like the rows.
    task.segments["counters"] = content_digest(msgspec.json.encode(counters, order="deterministic"))


def _load(part: Part) -> LoadedTokenizer:
    files = {file.path.rpartition("/")[2]: part.open(file.path).read() for file in part.record.files}
    files.pop("spec.json")
    return load_tokenizer(files, TokenizerSpec(**part.json("spec.json")))


def _settings(options: Mapping[str, Any]) -> LMDataSettings:
    return LMDataSettings(
        sequence_length=options["sequence_length"],
        pack=options["pack"],
        keep_tail=options["keep_tail"],
        min_sequence_length=options["minimum_length"],
        short_sequence_probability=options["short_sequence_probability"],
        seed=options["seed"],
        split_text=options["split_text"],
        inverted_mask=options["inverted_mask"],
    )


def dataset_parameters(settings: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The settings of one dataset."""
    (dataset,) = (entry for entry in settings["datasets"] if entry["name"] == name)
    return {f"datasets.{name}.{key}": value for key, value in dataset.items()}


def params(task: Task) -> None:
    """Write a dataset's `data_params.json`: parameters, and the statistics of all its chunks summed."""
    options = {key.rpartition(".")[2]: value for key, value in task.parameters.items()}
    parts = task.inputs(f"tokens/{options['name']}")
    total = merge(Statistics.from_dict(part.record.statistics["counters"]) for part in parts)
    loaded = _load(task.input("tokenizer"))
    processing = {"max_seq_length": options["sequence_length"], "seed": options["seed"]}
    processing |= {"short_seq_prob": options["short_sequence_probability"], "tokenizer": loaded.digest}
    dataset = {"pack_sequences": options["pack"], "min_sequence_len": options["minimum_length"]}
    dataset |= {"inverted_mask": options["inverted_mask"], "split": options["input"], "name": options["name"]}
    value = data_params(
        "LMData",
        LM_FEATURES,
        processing,
        dataset,
        total,
        eos_id=loaded.eos_id,
        pad_id=loaded.pad_id,
        vocab_size=loaded.vocab_size,
    )
    task.save_bytes(f"tokens/{options['name']}/data_params.json", encode_data_params(value))
    task.count(rows_out=total.n_examples, tokens=total.non_pad_tokens, documents=total.processed_files)


def tokenizer_stage(kind: str) -> Stage:
    """The tokenizer's asset. A trained one must not change with the corpus: its input is not tracked."""
    return Stage(
        name="tokenizer",
        group="tokenize",
        description="The tokenizer of all datasets: configured files, or a BPE trained once on the train split.",
        partitioning=Partitioning.NONE,
        compute=tokenizer,
        code_version="1",
        kind="records",
        inputs=(every("decontaminated_train", tracked=False),) if kind == "train" else (),
        extra_parameters=tokenizer_parameters,
        places=tokenizer_places,
        tools=("json",),
    )


def token_stages(datasets: Sequence[Mapping[str, Any]], tokenizer_kind: str) -> Iterator[Stage]:
    """The tokenizer, then two assets per dataset: its token shards, and its parameters and statistics."""
    yield tokenizer_stage(tokenizer_kind)
    for dataset in datasets:
        name = dataset["name"]
        yield Stage(
            name=f"tokens/{name}",
            group="tokenize",
            description=f"Token rows made from {dataset['input']}: HDF5 (rows, 3, L) int32.",
            partitioning=Partitioning.CHUNK,
            compute=tokens,
            code_version="1",
            kind="hdf5",
            inputs=(same(dataset["input"]), same("tokenizer")),
            extra_parameters=partial(dataset_parameters, name=name),
            columns={"input_ids": "int32[L]", "attention_mask": "int32[L]", "labels": "int32[L]"},
            tools=("hdf5",),
        )
        yield Stage(
            name=f"data_params/{name}",
            group="tokenize",
            description=f"`data_params.json` of {name}: parameters and summed statistics.",
            partitioning=Partitioning.NONE,
            compute=params,
            code_version="1",
            kind="records",
            inputs=(every(f"tokens/{name}"), same("tokenizer")),
            extra_parameters=partial(dataset_parameters, name=name),
            tools=("json",),
        )
