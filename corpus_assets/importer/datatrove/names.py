"""Names of datatrove 0.10: the order of parameters, and what has no counterpart."""

from collections.abc import Mapping

_DISK = ("data_folder", "paths_file")
_FROM_ROWS = ("limit", "skip", "file_progress", "doc_progress", "adapter", "text_key", "id_key", "default_metadata")
_READ = (*_FROM_ROWS, "recursive", "glob_pattern", "shuffle_files")
ORDER: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("JsonlReader", "CsvReader", "CSVReader", "WarcReader"), (*_DISK, "compression", *_READ)),
    "ParquetReader": (*_DISK, "limit", "skip", "batch_size", "read_metadata", *_READ[2:]),
    "IpcReader": (*_DISK, "limit", "skip", "stream", *_READ[2:]),
    "HuggingFaceDatasetReader": ("dataset", "dataset_options", "streaming", "limit", "skip", "batch_size"),
    **dict.fromkeys(("JsonlWriter", "ParquetWriter"), ("output_folder", "output_filename", "compression")),
    "HuggingFaceDatasetWriter": ("dataset", "private", "local_working_dir", "output_filename", "compression"),
    "Trafilatura": ("favour_precision", "include_images", "timeout", "deduplicate"),
    "LanguageFilter": ("languages", "language_threshold", "exclusion_writer", "backend", "label_only"),
    "GopherQualityFilter": (
        *("min_doc_words", "max_doc_words", "min_avg_word_length", "max_avg_word_length", "max_symbol_word_ratio"),
        *("max_bullet_lines_ratio", "max_ellipsis_lines_ratio", "max_non_alpha_words_ratio", "min_stop_words"),
    ),
    "GopherRepetitionFilter": (
        *("dup_line_frac", "dup_para_frac", "dup_line_char_frac", "dup_para_char_frac", "top_n_grams", "dup_n_grams"),
    ),
    "C4QualityFilter": (
        *("exclusion_writer", "split_paragraph", "remove_citations", "filter_no_terminal_punct", "min_num_sentences"),
        *("min_words_per_line", "max_word_length"),
    ),
    "FineWebQualityFilter": ("exclusion_writer", "line_punct_thr", "line_punct_exclude_zero", "stop_chars"),
    "RegexFilter": ("regex_exp", "exclusion_writer"),
    "LambdaFilter": ("filter_function", "exclusion_writer"),
    "SamplerFilter": ("rate", "seed", "exclusion_writer"),
    "PIIFormatter": ("remove_emails", "remove_ips", "only_remove_public_ips", "email_replacement", "ip_replacement"),
    "MinhashConfig": ("n_grams", "num_buckets", "hashes_per_bucket", "seed", "norm_config", "hash_config"),
    "MinhashDedupSignature": ("output_folder", "config", "language"),
    "MinhashDedupBuckets": ("input_folder", "output_folder", "index_folder", "config"),
    "MinhashDedupCluster": ("input_folder", "output_folder", "config"),
    "MinhashDedupFilter": ("input_folder", "exclusion_writer"),
    "UrlDedupSignature": ("output_folder", "config", "finder_workers"),
    "UrlFindDedups": ("data_folder", "output_folder", "config"),
    "UrlDedupFilter": ("data_folder", "config", "exclusion_writer"),
    "DocumentTokenizer": ("output_folder", "tokenizer_name_or_path", "local_working_dir", "save_filename", "eos_token"),
    "MegatronDocumentTokenizer": ("output_folder", "save_filename", "tokenizer_name_or_path", "eos_token"),
    "DocumentTokenizerMerger": ("input_folder", "output_folder", "save_filename", "max_tokens_per_file"),
    "TokensCounter": ("tokenizer_name_or_path", "count_eos_token", "batch_size"),
}
"""Parameters by their place."""
READERS = ("JsonlReader", "CsvReader", "CSVReader", "WarcReader", "ParquetReader", "IpcReader")
WRITERS = ("JsonlWriter", "ParquetWriter", "HuggingFaceDatasetWriter")
TOKENIZERS = {"DocumentTokenizer": "datatrove", "MegatronDocumentTokenizer": "megatron"}
"""Formats of datasets by the block that writes them."""
_STORE = "it lies in the store, under storage.root"
_CODE = "code of its own; write a tagger or a stage (corpus docs attributes, own-stage), or a rule of `filter`"
_PARTS = "a step inside is another stage here; documents are compared at once, in bounded memory"
LEFT_PARAMETERS: Mapping[str, str] = {
    "exclusion_writer": "the store keeps what was dropped, and why; `corpus why` says it of a document",
    "adapter": _CODE,
    "limit": "`corpus build --limit` builds a part",
    "skip": "every row is read",
    "paths_file": "name the files in `glob` of the source",
    "file_progress": "builds show their progress",
    "doc_progress": "builds show their progress",
    "default_metadata": "rows know their source and file",
    "shuffle_files": "order never depends on that of files",
    "add_file_path": "rows know their source and file",
    "compression": "the first bytes of a file say how it is packed",
    "batch_size": "memory is bounded by `engine.memory`",
    "read_metadata": "columns become metadata",
    "streaming": "files are read where they lie",
    "stream": "files are read where they lie",
    "language": "words are those of Unicode for every language",
    **dict.fromkeys(("output_folder", "input_folder", "data_folder", "index_folder", "output_filename"), _STORE),
    **dict.fromkeys(("save_filename", "local_working_dir", "create_index_name"), _STORE),
    **dict.fromkeys(("finder_workers", "lines_to_buffer", "skip_existing_sigs", "save_index"), _PARTS),
    **dict.fromkeys(("upload_block_size", "max_file_size", "cleanup"), "files are written once, whole"),
    "favour_precision": "the extractor runs with settings of its own (corpus docs inputs)",
    "include_images": "texts have no images",
    "deduplicate": "the extractor runs with settings of its own (corpus docs inputs)",
    "shuffle_documents": "the mix orders documents, by `mix.seed`",
    "shuffle_chunk_size": "the mix orders documents, by `mix.seed`",
    "save_loss_metadata": "there is no mask in this format here",
    "save_final_metadata": "`.ds.metadata` is always written",
    "expand_metadata": "`metadata` of the dataset names the keys that become columns",
    "schema": "columns are text",
}
LEFT_BLOCKS: Mapping[str, str] = {
    "LambdaFilter": _CODE,
    "FastTextClassifierFilter": "tagger fasttext_doc with options.model, and a range of `filter.rules`",
    "UnigramLogProbFilter": _CODE,
    "C4ParagraphFilter": "tagger char_length_with_paragraphs_v1, and a range with `of: count`",
    "C4BadWordsFilter": "tagger c4_v2 with the range has_naughty_word: {max: 0}",
    "URLFilter": "tagger host_list or url_list with lists of your own, and the range {max: 0}",
    "SymbolLinesFormatter": "tagger not_alphanum_paragraph_v1, and a span replacement of all_punct",
    "ReadabilityInscriptis": "`extractor: resiliparse` of the source extracts the main text of a page",
    "TokensCounter": "`corpus tokens` counts them after every build",
    "DocumentTokenizerMerger": "documents are mixed before they are tokenized",
    "DocumentTokenizerContextShuffler": "the mix orders documents; readers of datatrove shuffle windows",
    "SingleBloomFilter": "an entry of `dedupers` with `by: ngrams`, and `bloom` for a bounded filter",
    "NGramsDecontIndexer": "name the files of benchmarks in `benchmarks` (corpus docs contamination)",
    "NGramsDecontFilter": "`on_contamination: remove_document` (corpus docs contamination)",
    **dict.fromkeys(
        ("SentenceDedupSignature", "SentenceFindDedups", "SentenceDedupFilter", "SentenceDedupBuildIndex"),
        "there are no spans of sentences; an entry of `dedupers` with `by: paragraphs` or `by: ngrams` comes near",
    ),
    **dict.fromkeys(
        ("ESDatasetToSequence", "ESMergeSequences", "ESRangeRemover", "ESComputeRangesExternal"),
        "an entry of `dedupers` with `kind: substrings`, and a span replacement (corpus docs substrings)",
    ),
    **dict.fromkeys(
        ("ExactDedupSignature", "ExactFindDedups", "ExactDedupFilter", "ExactDedupBuildIndex"),
        "what is compared is code of its own; an entry of `dedupers` with `by: text` or `by: metadata.KEY`",
    ),
    "UrlDedupBuildIndex": "an entry of `dedupers` with `against` compares with a source",
    "MinhashBuildIndex": "`dedup` compares all sources",
}
"""Blocks without a counterpart, with what to do instead."""
LEFT_OF_EXECUTORS: Mapping[str, str] = {
    "tasks": "work is divided by files, bands and chunks; results do not depend on it",
    "logging_dir": "logs lie in the DAGSTER_HOME",
    "slurm_logs_folder": "logs lie in the DAGSTER_HOME",
    "depends": "stages know what they read",
    "skip_completed": "the plan knows what is fresh",
    "job_name": "the corpus has a `name`",
    "mem_per_cpu_gb": "set `engine.memory`",
    "time": "set `engine.job_timeout` for a partition",
}
OF_SCHEDULERS = "that of a scheduler (corpus docs clusters)"
