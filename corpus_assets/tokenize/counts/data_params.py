"""`data_params.json`, which trainers read together with the files of a token dataset."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from corpus_assets.tokenize.counts.statistics import Statistics
from corpus_assets.tokenize.tokenizers.protocol import Identity

PROCESSING = {
    "sequence_length": "max_seq_length",
    "short_sequence_probability": "short_seq_prob",
    "seed": "seed",
    "shuffle": "shuffle",
    "shuffle_seed": "shuffle_seed",
    "split_text": "chunk_len_to_split",
    "remove_bos_in_pieces": "remove_bos_in_chunks",
    "max_prompt_length": "max_prompt_length",
    "fim_rate": "fim_rate",
    "spm_rate": "spm_rate",
    "prefix_token": "fim_prefix_tok",
    "middle_token": "fim_middle_tok",
    "suffix_token": "fim_suffix_tok",
}
"""Our names of the parameters in section `processing`, with those of Cerebras' Model Zoo:
docs/formats/cerebras-hdf5.md "Parameter names"."""

DATASET = {
    "pack": "pack_sequences",
    "minimum_length": "min_sequence_len",
    "ftfy": "use_ftfy",
    "normalization": "ftfy_normalizer",
    "wikitext": "wikitext_detokenize",
    "separator": "sep_token",
}
"""The same for section `dataset`, which also takes every other parameter under its own name."""


def data_params(
    mode: str,
    features: Iterable[str],
    options: Mapping[str, Any],
    *,
    statistics: Statistics,
    arrays: Mapping[str, int],
    tokenizer: Identity,
) -> dict[str, Any]:
    """Returns `data_params.json`: sections setup, processing, dataset, post-process, h5_dataset_stats, features.

    mode: Cerebras' name of it. options: parameters that the content depends on, under our names, no path among
    them: the file travels with the data. `post-process` holds `statistics`, counted while rows were made;
    `h5_dataset_stats` holds `arrays`, counted from the rows (definitions: `Statistics`, `recount.H5DatasetStats`).
    `features` names the channels in order, so that readers do not have to guess them (docs/formats/cerebras-hdf5.md
    "data_params.json", "Readers").
    """
    ids = {"eos_id": tokenizer.eos_id, "pad_id": tokenizer.pad_id}
    processing = {theirs: options[ours] for ours, theirs in PROCESSING.items() if ours in options}
    if "split_text" in options:
        processing["split_text_to_tokenize"] = options["split_text"] is not None
    others = {DATASET.get(name, name): value for name, value in options.items() if name not in PROCESSING}
    if isinstance(others.get("use_ftfy"), Mapping):
        others |= {"use_ftfy": True, "ftfy": others["use_ftfy"]}
    return {
        "setup": {"mode": mode},
        "processing": {**processing, **ids, "tokenizer": tokenizer.digest},
        "dataset": others,
        "post-process": {**statistics.as_dict(), **ids, "vocab_size": tokenizer.vocab_size},
        "h5_dataset_stats": dict(arrays),
        "features": list(features),
    }


def encode_data_params(params: Mapping[str, Any]) -> bytes:
    """Returns UTF-8 JSON, indent 4, sorted keys, as the trainers' tools write it."""
    return json.dumps(params, indent=4, sort_keys=True, ensure_ascii=False).encode()
