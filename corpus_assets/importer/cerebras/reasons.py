"""Parameters of Cerebras' preprocessing that have no counterpart, and why."""

from corpus_assets.config.datasets.cerebras_names import ELSEWHERE, NO_EFFECT

_ONE_LENGTH = "make a dataset of each part, with its `sequence_length`"
LEFT = {
    **ELSEWHERE,
    **NO_EFFECT,
    "resume_from_checkpoint": "every build continues where the last one stopped",
    "cache_dir": "the cache of the hub is that of its client",
    "split": "name the files of the split in `input.glob`, such as `**/train-*`",
    "data_splits": "make sources, or datasets with an `input` of their own, of each part; `split.holdout` holds out",
    "data_splits_dir": "datasets lie in the store, under storage.root",
    "context_splits": _ONE_LENGTH,
    "write_chunk_size": "a file of rows belongs to an input file",
    "read_chunk_size": "it only sets how much is read at once in this mode",
    "max_chunk_size": "it only sets the size of files in this mode",
    "chunk_len_to_split": "`split_text_to_tokenize` is off, so it has no effect",
    "token_limit": "`weights.total` of a dataset made from a split gives it a number of tokens",
    "truncate_to_msl": "what is too long is discarded, as without this key",
    "max_turn_length": "the whole example must fit; `truncate` says what is cut",
    "max_ram_fraction": "set `engine.memory`",
    "num_nodes": "set `engine`; see corpus docs clusters",
    "rank": "set `engine`; see corpus docs clusters",
    "slurm": "set `engine`; see corpus docs clusters",
    "token_generator": "code of its own; write a stage (corpus docs own-stage)",
    "end_of_turn_token": "the chat template writes it",
    **dict.fromkeys(
        ("semantic_loss_weight", "semantic_drop_mask", "semantic_attention_mask"), "set `loss_roles` of chat"
    ),
    **dict.fromkeys(
        ("image_dir", "image_key", "image_token", "num_patches", "max_num_img"), "images have no rows here"
    ),
    **dict.fromkeys(("is_multimodal", "use_single_image_token", "caption_key"), "images have no rows here"),
    **dict.fromkeys(("mlm_fraction", "mlm_with_gather", "excluded_tokens", "ignore_index"), "only of masked language"),
}
NO_PARAMETER = "no parameter of Model Zoo's preprocessing that is known here"
