"""What a configuration names: YAML, scripts of other tools, expressions, templates, tokenizers, lists and models."""

import io
import tempfile
from pathlib import Path
from typing import Any

import msgspec

from corpus_assets.attributes.fasttext_layout import ModelError, check_layout
from corpus_assets.attributes.lists import lines_of, sites_in
from corpus_assets.attributes.semantic.tensors import tensors_in
from corpus_assets.audit.sheet import judgements
from corpus_assets.config.reading.loading import parse_config
from corpus_assets.config.reading.strict_yaml import load_yaml
from corpus_assets.filter.rules.expressions import Merged, compiled
from corpus_assets.importer.datatrove.script import read_pipelines
from corpus_assets.importer.shell.commands import read_commands
from corpus_assets.takedown.lists import entries
from corpus_assets.tokenize.modes.chat.dialogues import Dialogue, TemplateFault
from corpus_assets.tokenize.modes.chat.template import ChatTemplate
from corpus_assets.tokenize.tokenizers.loading import TokenizerSpec, load_tokenizer
from resources.errors import CorpusError
from resources.outside_files import OutsideFile
from resources.raw_places.addresses import check_files, check_location
from tests.attributes.test_fasttext_layout import model_bytes
from tests.build.small import CONFIG
from tests.fuzz.harness import Harness
from tests.house import TOP

DOCUMENT = {"id": "a", "text": "one two", "metadata": {"n": 1, "l": [1, 2]}, "attributes": {"x": [[0, 3, 0.5]]}}
DIALOGUE = Dialogue([{"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}])
_TEMPLATE_WORDS = (
    b"{% for m in messages %}",
    b"{% endfor %}",
    b"{{ ",
    b" }}",
    b"{% generation %}",
    b"|",
    b"loop",
    b"raise_exception(",
    b"tojson",
    b"namespace(",
)
_PATH_WORDS = (b"$.", b"[?(@.", b"..", b"attributes", b"metadata", b"==", b"*", b"[0:-1]", b" and ", b"length(")
_JQ_WORDS = (b".attributes", b"|", b"select(", b"map(", b"..", b"//", b"def f: ", b"reduce", b"as $x", b"try")


def _yaml(content: bytes) -> None:
    values = load_yaml(content.decode(errors="replace"), "corpus.yaml")
    parse_config(values)


def _configurations() -> list[bytes]:
    whole = msgspec.yaml.encode(CONFIG)
    return [whole, (TOP / "corpus.yaml").read_bytes(), b"sources:\n- {name: a, location: raw}\n"]


def _template(content: bytes) -> None:
    source = content.decode(errors="replace")
    if any(word in source for word in ("range", "**", "*", "format", "%")) and len(source) > 400:
        return  # What costs time and memory is tried in the process with limits that templates have.
    ChatTemplate(source).render(DIALOGUE, {"bos_token": "<s>"})


def _jsonpath(content: bytes) -> None:
    select = compiled(content.decode(errors="replace"), "jsonpath", "filter")
    try:
        select(Merged(DOCUMENT))
    except Exception:  # A rule takes any error of its library for its own fault, by document.
        return


def _written(content: bytes, read: Any, name: str = "file") -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / name).write_bytes(content)
        read(Path(folder) / name)


def _lists(path: Path) -> None:
    file, fault, sound = OutsideFile(str(path)), "", False
    for read in (lines_of, lambda one: sites_in([one])):
        try:
            list(read(file))
            sound = True
        except CorpusError as error:
            fault = str(error)
    if not sound:
        raise CorpusError(fault)


def _tokenizer(content: bytes) -> None:
    load_tokenizer({"tokenizer.json": content}, TokenizerSpec("tokenizer_json", eos=0))


def _sentencepiece(content: bytes) -> None:
    load_tokenizer({"tokenizer.model": content}, TokenizerSpec("sentencepiece", eos=0))


def _tokenizer_seeds() -> list[bytes]:
    model = {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]]}
    wordlevel = {"type": "WordLevel", "vocab": {"a": 0, "[UNK]": 1}, "unk_token": "[UNK]"}
    around = {
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    }
    empty: dict[str, Any] = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
    }
    rest = {"post_processor": None, "decoder": None}
    return [
        msgspec.json.encode({**empty, "pre_tokenizer": None, **rest, **more})
        for more in ({"model": model, **around}, {"model": wordlevel})
    ]


def _sentencepiece_seeds() -> list[bytes]:
    piece = b"\x0a\x0e\x0a\x05<unk>\x15\x00\x00\x00\x00\x18\x02"
    return [piece + b"\x0a\x0a\x0a\x01a\x15\x00\x00\x80\xbf\x18\x01" + b"\x12\x02\x18\x01"]


def _addresses(content: bytes) -> None:
    text = content.decode(errors="replace")
    for check in (check_location, check_files):
        check(text)


HARNESSES = [
    Harness(
        "corpus-yaml",
        _yaml,
        _configurations,
        words=(b"sources:", b"name: ", b"- ", b": ", b"&a", b"*a", b"!!", b"null"),
    ),
    Harness(
        "location",
        _addresses,
        lambda: [b"https://host:80/a.txt", b"s3://bucket/c", b"hf://datasets/o/n@r/f"],
        (ValueError,),
    ),
    Harness(
        "shell",
        lambda content: read_commands(content.decode(errors="replace"), "a.sh"),
        lambda: [b"for i in {1..3}; do dolma tag --x $i; done\n", b"A=1\nrun \"$A\" \\\n  --b 'c'\n"],
    ),
    Harness(
        "datatrove-script",
        lambda content: _written(content, read_pipelines, "a.py"),
        lambda: [b"pipeline = [JsonlReader('a', limit=3 * 4), JsonlWriter(f'{x}/b')]\n"],
    ),
    Harness(
        "jsonpath",
        _jsonpath,
        lambda: [b"$.attributes.x[?(@[2] > 0.1)]", b"$..n", b"$@.metadata[?(@.n == 1)]"],
        words=_PATH_WORDS,
    ),
    Harness(
        "jq",
        lambda content: compiled(content.decode(errors="replace"), "jq", "filter"),
        lambda: [b".metadata.n > 1", b"[.attributes[] | length] | add"],
        words=_JQ_WORDS,
    ),
    Harness(
        "template",
        _template,
        lambda: [
            b"{% for m in messages %}{{ m.role }}: {{ m['content'] | trim }}{% endfor %}",
            b"{{ bos_token }}{% if messages %}a{% endif %}",
        ],
        (CorpusError, TemplateFault),
        _TEMPLATE_WORDS,
    ),
    Harness(
        "tokenizer-json",
        _tokenizer,
        _tokenizer_seeds,
        words=(b'"type": ', b'"Sequence"', b'"Replace"', b'"Regex"', b'"BPE"', b'"Unigram"', b'"vocab": ', b"-1"),
    ),
    Harness("sentencepiece", _sentencepiece, _sentencepiece_seeds),
    Harness(
        "takedown",
        lambda content: list(entries({"a": content}, ["books"])),
        lambda: [b"books/1\nsha256:" + b"0" * 64 + b"\nhttps://a.org/b\n# c\n"],
    ),
    Harness("lists", lambda content: _written(content, _lists), lambda: [b"a\nb\n", b'[{"host": "a.org"}]']),
    Harness(
        "fasttext",
        lambda content: check_layout(io.BytesIO(content)),
        lambda: [model_bytes(), model_bytes(quantized=True)],
        (ModelError,),
    ),
    Harness(
        "safetensors",
        lambda content: _written(content, lambda path: tensors_in(OutsideFile(str(path)), "key")),
        lambda: [
            (60).to_bytes(8, "little") + b'{"a": {"dtype": "F32", "shape": [1], "data_offsets": [0,4]}}' + bytes(4)
        ],
    ),
    Harness(
        "sheet",
        lambda content: _written(content, lambda path: judgements(path, "b")),
        lambda: [b"judgement,removed_shard,removed_row,build\nright,a,1,b\n"],
    ),
]
