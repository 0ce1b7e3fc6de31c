"""The limits on what comes from outside, and their table in `trust.md`."""

from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

BEGIN, END = "<!-- limits: written by `make docs` -->\n", "<!-- end of limits -->"


class Limit(NamedTuple):
    """A limit of the code.

    place: `module:name`, or `module:class.field`. what: what it limits. key: the key that changes it.
    """

    place: str
    what: str
    unit: str = ""
    key: str = ""

    @property
    def value(self) -> Any:
        """The limit as the code has it."""
        module, _, name = self.place.partition(":")
        found: Any = import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
        return found

    @property
    def shown(self) -> str:
        """The limit for people."""
        value = self.value
        if self.unit != "bytes":
            return f"{value:,} {self.unit}".rstrip() if isinstance(value, int) else f"{value:g} {self.unit}".rstrip()
        for power, name in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
            if value >= 1 << power and not value % (1 << power):
                return f"{value >> power} {name}"
        return f"{value:,} bytes"


_CONFIG, _RAW, _WEB = "corpus_assets.config.reading", "corpus_assets.raw", "resources.raw_places.web"
_ROWS = f"{_RAW}.rows.rules:Limits"
_CHAT, _TOKENIZERS = "corpus_assets.tokenize.modes.chat", "corpus_assets.tokenize.tokenizers.files"
_IN_PROCESS = "resources.processes.limited_work:Limits"

GROUPS: dict[str, tuple[Limit, ...]] = {
    "Configuration": (
        Limit(
            f"{_CONFIG}.strict_yaml:MAX_CONFIG_BYTES", "a `corpus.yaml`, or a configuration of `corpus init`", "bytes"
        ),
        Limit(f"{_CONFIG}.strict_yaml:MAX_VALUES", "keys and values of a YAML file"),
        Limit(f"{_CONFIG}.extending:MOST_FILES", "files that extend each other"),
        Limit(f"{_CONFIG}.changes:MOST", "changes by `--set`"),
        Limit("corpus_assets.importer.datatrove.script:_MOST_NODES", "names and values of an imported script"),
        Limit("corpus_assets.importer.shell.commands:MOST_COMMANDS", "lines, commands and words of an imported script"),
        Limit("corpus_assets.importer.shell.commands:LONGEST_LINE", "a line of an imported script", "characters"),
    ),
    "Raw files": (
        Limit(f"{_ROWS}.line_bytes", "a line, a row, or a text file of its own", "bytes", "`longest_row` of a source"),
        Limit(f"{_ROWS}.nesting", "lists and objects of metadata in each other"),
        Limit(f"{_ROWS}.ratio", "what a file decompresses to, in times of its size"),
        Limit(f"{_ROWS}.free_bytes", "what a file may decompress to at any ratio", "bytes"),
        Limit(f"{_ROWS}.window", "the window of a compressed file", "bytes", "`largest_window` of a source"),
        Limit(f"{_RAW}.formats.arrow_messages:_MOST_METADATA", "the description of an Arrow message", "bytes"),
        Limit(f"{_RAW}.formats.columns:FREE_VALUE_BYTES", "values that rows of a table share, at any ratio", "bytes"),
        Limit(f"{_RAW}.web.headers:HEADER_BYTES", "the headers of a WARC record or of its page", "bytes"),
        Limit(f"{_RAW}.web.extractors:MOST_NESTED", "elements of a page in each other"),
    ),
    "Places": (
        Limit(f"{_WEB}:LIST_BYTES", "a list of URLs", "bytes"),
        Limit(f"{_WEB}:LIST_LINES", "lines of a list of URLs"),
        Limit(f"{_WEB}:LINE_BYTES", "a line of a list of URLs", "bytes"),
        Limit("resources.raw_places.connection:_REDIRECTS", "redirects that are followed"),
        Limit("resources.raw_places.connection:TRIES", "times that a request to a web server is sent again"),
        Limit("resources.raw_places.connection:LONGEST_ASKED_FOR", "a wait that a server asks for", "s"),
        Limit("resources.endpoint.client:_MOST_BYTES", "the answer of an endpoint", "bytes"),
        Limit("resources.endpoint.client:_LONGEST_WAIT", "a wait that an endpoint asks for", "s"),
    ),
    "Files of ids and HDF5": (
        Limit("corpus_assets.token_files.npy:_LONGEST_HEADER", "the header of a `.npy`", "bytes"),
        Limit("corpus_assets.token_files.indexed:_LONGEST", "an index of MDS or LitData", "bytes"),
        Limit("corpus_assets.token_files.raw_ids:_MOST_DIGITS", "a number in a table of OLMo", "digits"),
        Limit("resources.formats.hdf5.reader:MAX_CHUNK_BYTES", "a chunk of an HDF5 file", "bytes"),
    ),
    "Tokenizers and templates": (
        Limit(f"{_TOKENIZERS}:MAX_FILE_BYTES", "a file of a tokenizer", "bytes"),
        Limit(f"{_TOKENIZERS}:MAX_VOCABULARY", "ids of a tokenizer"),
        Limit(f"{_TOKENIZERS}:MAX_TEMPLATE_CHARACTERS", "the chat template of a tokenizer", "characters"),
        Limit("corpus_assets.tokenize.template_files:MAX_TEMPLATE_BYTES", "the file of a chat template", "bytes"),
        Limit(f"{_CHAT}.template:MAX_TEMPLATE", "a chat template", "characters"),
        Limit(f"{_CHAT}.template:MAX_OUTPUT", "the text of a conversation", "characters"),
        Limit(f"{_IN_PROCESS}.cpu_seconds", "CPU time of a conversation", "s"),
        Limit(f"{_IN_PROCESS}.memory", "memory of a conversation, beside 16 bytes for each byte of it", "bytes"),
        Limit(f"{_CHAT}.limited_template:MAX_OVER_LIMIT", "conversations of a file that may take too much"),
    ),
    "Lists, models and attributes": (
        Limit("corpus_assets.takedown.lists:LIST_BYTES", "a list of documents to remove", "bytes"),
        Limit("corpus_assets.attributes.lists:LONGEST_LINE", "a line of a list of a tagger", "bytes"),
        Limit("corpus_assets.attributes.lists:LARGEST_JSON", "a list of a tagger in JSON", "bytes"),
        Limit("resources.outside_files:_MAX_FILES", "files of a folder that the configuration names"),
        Limit("corpus_assets.attributes.files.values:MOST_LABELS", "labels of a key of attributes from elsewhere"),
        Limit("corpus_assets.attributes.files.values:LONGEST_LABEL", "such a label", "characters"),
        Limit("corpus_assets.attributes.files.values:MOST_KEYS", "keys and labels of such a file"),
        Limit("corpus_assets.classifiers.files:_LONGEST", "a row of examples of a learned filter", "bytes"),
        Limit("corpus_assets.classifiers.model:_LONGEST_HEAD", "the head of a learned filter", "bytes"),
        Limit("corpus_assets.export.hooks:MAX_WEIGHTS_BYTES", "a table of weights", "bytes"),
        Limit("corpus_assets.audit.sheet:_MOST_BYTES", "a sheet of judgements", "bytes"),
        Limit("corpus_assets.export.amber.check:LONGEST_LINE", "a line that `check-windows` reads", "bytes"),
    ),
    "Viewer": (
        Limit("corpus_assets.viewer.guard:MOST_QUERY", "the parameters of a request", "bytes"),
        Limit("corpus_assets.viewer.query:MOST_TEXT", "a text among them", "characters"),
        Limit("corpus_assets.viewer.query:MOST_NAME", "the name of a document among them", "characters"),
        Limit("corpus_assets.viewer.reading:MOST_JSON", "a JSON file that is shown", "bytes"),
        Limit("corpus_assets.viewer.report:MOST_BYTES", "a report that is shown", "bytes"),
    ),
}
LIMITS = tuple(limit for group in GROUPS.values() for limit in group)


def limits_table() -> str:
    """Returns the table of all limits, with a row of its own for each group."""
    rows = ["| limited | most | in the code |", "|---|---|---|"]
    for group, limits in GROUPS.items():
        rows.append(f"| **{group}** | | |")
        rows += [f"| {one.what} | {one.shown}{f' ({one.key})' if one.key else ''} | `{one.place}` |" for one in limits]
    return "\n".join(rows) + "\n"


def trust_page() -> str:
    """Returns `trust.md` with the table as the code has it now."""
    before, _, rest = (Path(__file__).parent / "trust.md").read_text(encoding="utf-8").partition(BEGIN)
    return f"{before}{BEGIN}\n{limits_table()}\n{END}{rest.partition(END)[2]}"
