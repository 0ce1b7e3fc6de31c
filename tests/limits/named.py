"""Where limits on what comes from outside are looked for, and names that look like one."""

from collections.abc import Mapping

READERS = (
    *("resources/formats", "resources/raw_places", "resources/endpoint", "resources/outside", "resources/processes"),
    *("resources/outside_files.py", "resources/config_files.py", "corpus_assets/config/reading", "corpus_assets/raw"),
    *("corpus_assets/token_files", "corpus_assets/tokenize/tokenizers", "corpus_assets/tokenize/modes/chat"),
    *("corpus_assets/tokenize/template_files.py", "corpus_assets/takedown", "corpus_assets/attributes/files"),
    *("corpus_assets/attributes/lists.py", "corpus_assets/classifiers/files.py", "corpus_assets/importer/shell"),
    *("corpus_assets/viewer/guard.py", "corpus_assets/viewer/query.py", "corpus_assets/viewer/report.py"),
)
"""Where what comes from outside is read."""

_HAND, _TYPE, _MESSAGE, _LOOK = "rows in hand", "the range of a type", "characters of a message", "what is looked at"
_ROW, _PAUSE, _TEXT, _SAMPLE = "follows from the longest row", "our own pause", "what a text is", "what we write"
NO_LIMIT: Mapping[str, str] = {
    "corpus_assets.attributes.files.joined:_MOST": _HAND,
    "corpus_assets.attributes.files.values:_LARGEST": _TYPE,
    "corpus_assets.config.reading.loading:MAX_FAULTS": _MESSAGE,
    "corpus_assets.importer.shell.calls:_LONGEST": _MESSAGE,
    "corpus_assets.importer.shell.commands:MOST_CHARACTERS": "beside MOST_COMMANDS, in tests/importer/test_shell.py",
    "corpus_assets.raw.binary:_MOST_CONTROLS": _TEXT,
    "corpus_assets.raw.binary:_MOST_REPLACED": _TEXT,
    "corpus_assets.raw.binary:_MOSTLY": _TEXT,
    "corpus_assets.raw.formats.archive:MAX_READ_BYTES": _HAND,
    "corpus_assets.raw.formats.arrow:MAX_BATCH_ROW_LENGTHS": _HAND,
    "corpus_assets.raw.formats.columns:MAX_BATCH_ROWS": _HAND,
    "corpus_assets.raw.formats.parquet:MAX_PAGE_ROWS": _ROW,
    "corpus_assets.raw.formats.parquet_batches:MOST_GAIN": _ROW,
    "corpus_assets.raw.formats.parquet_pages:_MAX_NESTING": "of page headers, which nest less",
    "corpus_assets.raw.formats.parquet_values:MOST_VALUES": _HAND,
    "corpus_assets.raw.formats.parquet_values:_LONGEST_WIDTH": _TYPE,
    "corpus_assets.raw.losses:_MOST": "a share that closes a gate",
    "corpus_assets.raw.rows.faults:_MOST_SHOWN": _MESSAGE,
    "corpus_assets.raw.rows.faults:_LONGEST_SHOWN": _MESSAGE,
    "corpus_assets.raw.sample.writing:MAX_MEGABYTES": _SAMPLE,
    "corpus_assets.raw.sample.writing:LARGEST_SHARE": _SAMPLE,
    "corpus_assets.raw.web.agreement:_LONGEST_LINK": _TEXT,
    "corpus_assets.token_files.documents:_MOST_WORDS": _MESSAGE,
    "corpus_assets.tokenize.modes.chat.control_tokens:MOST_SHORT": _LOOK,
    "corpus_assets.tokenize.modes.chat.control_tokens:LONGEST_SHORT": _LOOK,
    "corpus_assets.tokenize.modes.chat.template:MAX_PROBLEM": _MESSAGE,
    "corpus_assets.tokenize.tokenizers.fast_t5:_MOST_SENTINELS": _LOOK,
    "corpus_assets.tokenize.tokenizers.sentencepiece_proto:_LONGEST_CHARACTER": _TYPE,
    "corpus_assets.tokenize.tokenizers.sentencepiece_proto:_MOST_STATES": _TYPE,
    "corpus_assets.viewer.query:MOST_NUMBER": _TYPE,
    "resources.formats.codecs:LARGEST_WINDOW_BYTES": "of files that we wrote ourselves",
    "resources.formats.created:_MAX_LENGTH": _TEXT,
    "resources.outside.agreed:_MOST_KNOWN": "entries of a cache",
    "resources.raw_places.connection:_LONGEST_BACKOFF": _PAUSE,
    "resources.raw_places.remote:_LONGEST_PAUSE": _PAUSE,
}
"""Names that look like a limit on what comes from outside and are none, with what they are."""
