"""The page with every key of corpus.yaml, made from the schema."""

import inspect
import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, Union, get_args, get_origin

import yaml
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from corpus_assets.config.corpus_config import CorpusConfig
from corpus_assets.config.reading.profiles import PROFILES
from corpus_assets.config.section import Bytes
from corpus_assets.config.selection.attribute_files import AttributeFiles
from corpus_assets.config.selection.learned.score_buckets import ScoreBuckets
from docs.headings import link

SIZE = get_args(Bytes)[1]
UNITS = {"": 1, "KiB": 1 << 10, "MB": 10**6, "MiB": 1 << 20, "GB": 10**9, "GiB": 1 << 30, "TB": 10**12, "TiB": 1 << 40}
_PARTS = "parts"
INNER = {
    "S3Access": "`sources[].s3`, `attributes[].s3`, `datasets[].input.s3` and `benchmarks[].s3`",
    "S3Section": "`storage.s3`",
    "CacheSection": "`storage.cache`",
    "Csv": "`sources[].csv`, `datasets[].input.csv` and `benchmarks[].csv`",
    "Html": "`sources[].html` and `datasets[].input.html`",
    "Guard": "`dedup.guard`",
    "Range": "`filter.rules`, each",
    "Languages": "`filter.languages`",
    "FineWeb2": "`filter.fineweb2`",
    "LanguageLimits": "`filter.fineweb2.limits.LABEL`",
    "Words": "`attributes[].words`",
    "SpanReplacement": "`filter.span_replacement[]`",
    "HoldoutCount": "`holdout` as a count",
    "Flagged": "`attributes[].flagged`",
    "TaggerOptions": "`attributes[].options.TAGGER`",
    "Endpoint": "`attributes[].options.TAGGER.endpoint`",
    "Examples": "`classifiers[].positive[]` and `classifiers[].negative[]`",
    "Ngrams": "`dedupers[].ngram`",
    "Bloom": "`dedupers[].bloom`",
    "Weights": "`datasets[].weights`",
    "MixUnit": "`mix.units[]`",
    "MixCopies": "`mix.copies`",
    "MixOrder": "`mix.order` as a section",
    "AmberSet": "`datasets[].input[]` with `format: amber`",
    "Part": "`datasets[].parts.PART`",
    "Party": "`card.creators[]`, `card.publisher` and `card.representative`",
    "Model": "`card.model`",
    "SourceCard": "`card.sources.SOURCE`",
    "Files": "`datasets[].input` as files of its own",
    "TokenFiles": "`datasets[].input` as files of ids",
    "TextFixes": "`normalize.ftfy`, and `datasets[].ftfy` as a section",
}

ABOUT = {
    "sources": "raw files: place, format, keys, epochs",
    "sample": "building from a part of the raw rows",
    "remove": "lists of documents that must not be in any output",
    "normalize": "Unicode form, or ftfy",
    "short_documents": "the shortest document that is kept",
    "attributes": "taggers that look at every document, and attributes that others made",
    "classifiers": "filters that are learned from examples",
    "language_models": "language models that are trained on sources",
    "benchmarks": "evaluation files that the corpus is searched for",
    "contamination": "what counts as a piece of a benchmark item",
    "dedupers": "repeated documents, paragraphs, n-grams and substrings, and documents that mean the same, to mark",
    "filter": "rules that keep, drop or change documents",
    "licences": "which licences are allowed",
    "card": "facts for the published papers",
    "origins": "domains, hosts and years of the documents to train on",
    "streams": "files of filtered documents with their attributes",
    "minhash": "signatures of documents and their bands",
    "dedup": "which near-duplicates are removed",
    "mix": "chunks, order, and attributes whose documents are left out",
    "split": "holdout, validation and test",
    "tokenizer": "the tokenizer of all datasets",
    "datasets": "token rows, and files in the formats of trainers",
    "notices": "who is told how a build ended",
    "engine": "local processes or a Ray cluster; memory",
    "storage": "the folder or bucket of the corpus",
}
"""What each section is about, in a few words."""

INTRODUCTION = """# Configuration

One file, `corpus.yaml`, describes a corpus. The smallest one names a folder of raw files:

```yaml
sources:
  - name: books
    location: raw/books
```

Everything else has a default: NFC, near-duplicates removed, 1 % held out, a tokenizer of 8,192 tokens trained on the
corpus, and rows of 2,048 tokens in HDF5. A second source, a filter and a tokenizer of your own look like this:

```yaml
sources:
  - name: books
    location: raw/books
  - name: web
    location: raw/web
    glob: "2024-*/**/*.jsonl.gz"
    epochs: 0.5
attributes:
  - name: quality
    taggers: [gopher_v2]
filter:
  rules:
    quality.gopher_v2.word_count: {min: 50}
tokenizer:
  kind: tokenizer_json
  path: tokenizer.json
```

**To find a key**, take its section from the table below: `split.holdout` is the key `holdout` in the section `split`;
`sources[].epochs` is a key of each entry of the list `sources`. Some sections depend on a key: a dataset with
`mode: chat` has the keys of that mode, and those that all modes share. An error names the path of the key, what was
received and what is valid. `corpus plan` shows what a change would recompute, before you build.

@SECTIONS@

- Unknown keys, wrong types and impossible combinations are errors.
- Relative paths start at the folder of `corpus.yaml`.
- `extends: base.yaml` takes everything from another file but what this one says ([variants.md](variants.md)).
- `corpus config --changed` shows what differs from the defaults.
- Sizes are written as `512 MiB`, `4 GiB` or `20 GB`, shares as `0.02` or `2%`.
- An asset depends only on the values that it uses: a new `split.holdout` leaves the signatures fresh, and `engine` or
  `licence` leave everything fresh.
- `compat` chooses [a profile](#profiles): defaults that reproduce a reference.
- Some keys of `datasets` follow Cerebras' Model Zoo; see [formats/cerebras-rows.md](formats/cerebras-rows.md).

`python -m docs.generate` writes this page from the schema; a test checks that it is current.
"""


def configuration_page() -> str:
    """Returns the page with every key of corpus.yaml."""
    parts = [INTRODUCTION.replace("@SECTIONS@", _sections()), _section("Top level", CorpusConfig)]
    for model in _all_models():
        group = _group(model)
        shared = _shared(group)
        if shared and group[0] is model:
            parts.append(_shared_section(group, shared))
        parts.append(_section(_title(model), model, shared=shared, all_of=_all_of(group) if shared else ""))
    return "\n".join([*parts, _profiles()])


def _all_models() -> list[type[BaseModel]]:
    return list(dict.fromkeys(models(CorpusConfig)))


def _sections() -> str:
    """Returns the table of all sections, by the key at the top level that they belong to."""
    rows, seen = [], set()
    for name, field in CorpusConfig.model_fields.items():
        models = [model for model in dict.fromkeys(_models_of(field.annotation)) if model not in seen]
        seen.update(models)
        if models:
            rows.append(f"| `{name}` | {ABOUT[name]} | {', '.join(_links(models))} |")
    return "\n".join(["| section | about | keys |", "|---|---|---|", *rows])


def _links(models: Sequence[type[BaseModel]]) -> Iterator[str]:
    """Yields links to sections, and before those of a group one to the keys that all of it have."""
    for model in models:
        group = _group(model)
        if group[0] is model and _shared(group):
            yield link(_all_of(group), f"any {_chosen_by(model)}")
        yield link(_title(model), _short(model))


def _short(model: type[BaseModel]) -> str:
    """Returns the words of the link to a section: the value that chooses it, or else its first place."""
    place, _, value = _title(model).replace("`", "").partition(" with ")
    words = value.rpartition(" ")[2] if value and model.__name__ not in INNER else place.replace(",", "").split()[0]
    return f"`{words}`"


def _group(model: type[BaseModel]) -> list[type[BaseModel]]:
    """Returns the sections of the place and kind of this one that share a key with it, such as modes of `datasets`."""
    key = _chosen_by(model)
    for field in CorpusConfig.model_fields.values():
        siblings = list(dict.fromkeys(_nested(field.annotation)))
        if key and model in siblings:
            alike = [other for other in siblings if (_chosen_by(other), _where(other)) == (key, _where(model))]
            return [other for other in alike if other is model or _rows(other) & _rows(model)]
    return [model]


def _rows(model: type[BaseModel]) -> set[str]:
    return {_row(name, field) for name, field in _fields(model)}


def _shared(group: Sequence[type[BaseModel]]) -> list[str]:
    """Returns the rows that all sections of a group have; none of a group of fewer than three."""
    if len(group) < 3:
        return []
    rows = [[_row(name, field) for name, field in _fields(model)] for model in group]
    return [row for row in rows[0] if all(row in others for others in rows)]


def _all_of(group: Sequence[type[BaseModel]]) -> str:
    """Returns the title of the keys that all sections of a group have."""
    return f"{_title(group[0]).partition(' with ')[0]} with any `{_chosen_by(group[0])}`"


def _shared_section(group: Sequence[type[BaseModel]], rows: Sequence[str]) -> str:
    names = ", ".join(link(_title(model), _short(model)) for model in group)
    return "\n".join([f"## {_all_of(group)}", "", f"Keys that all of these have: {names}.", "", *HEAD, *rows, ""])


HEAD = ("| key | type | default | meaning |", "|---|---|---|---|")


def models(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """Yields every section below a section, in order."""
    for field in model.model_fields.values():
        yield from _models_of(field.annotation)


def _models_of(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yields the sections of an annotation, and those below them."""
    for found in _nested(annotation):
        yield found
        yield from models(found)


def _nested(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _nested(argument)


def _title(model: type[BaseModel]) -> str:
    """Returns where the section is in the file."""
    for name, field in CorpusConfig.model_fields.items():
        if model in set(_nested(field.annotation)):
            if get_origin(field.annotation) is list:
                return f"`{name}[]`{_branch(model)}"
            several = len(set(_nested(field.annotation))) > 1
            return f"`{name}`{_branch(model)}" if several else f"`{name}`"
    return INNER[model.__name__]


def _chosen_by(model: type[BaseModel]) -> str:
    """Returns the key that chooses a section where there may be several; empty if none does."""
    if _PARTS in model.model_fields:
        return _PARTS
    keys = (key for key in ("kind", "mode", "format") if (field := model.model_fields.get(key)) and _one_of(field))
    return next(keys, "")


def _one_of(field: FieldInfo) -> bool:
    return len(get_args(field.annotation)) == 1


def _branch(model: type[BaseModel]) -> str:
    """Returns in words what chooses a section where there may be several."""
    key = _chosen_by(model)
    if model is ScoreBuckets:
        return " with `score`"
    if key == _PARTS or model is AttributeFiles:
        return f" with `{key or 'location'}`"
    return f"{_where(model)} with `{key}: {get_args(model.model_fields[key].annotation)[0]}`" if key else ""


def _where(model: type[BaseModel]) -> str:
    """Returns in words which of two families a mode is of."""
    return " in a trainer's format" if _unread(model) else ""


def _unread(model: type[BaseModel]) -> Mapping[str, str]:
    """Returns the keys that a section refuses."""
    return getattr(model, "unread", {})


def _fields(model: type[BaseModel]) -> Iterator[tuple[str, FieldInfo]]:
    return ((name, field) for name, field in model.model_fields.items() if name not in _unread(model))


def _section(title: str, model: type[BaseModel], *, shared: Sequence[str] = (), all_of: str = "") -> str:
    """Returns the table of a section. shared: rows that stand in the section titled `all_of` instead."""
    rows = [row for name, field in _fields(model) if (row := _row(name, field)) not in shared]
    more = [f"Further keys: {link(all_of, all_of.replace('`', ''))}.", ""] if shared else []
    return "\n".join([f"## {title}", "", inspect.cleandoc(model.__doc__ or ""), "", *more, *HEAD, *rows, ""])


def _row(name: str, field: FieldInfo) -> str:
    size = _is_size(field)
    meaning = (field.description or _subject(field)).replace("|", "\\|")
    limits = ", ".join(filter(None, (_limit(entry, size=size) for entry in field.metadata)))
    meaning += f" ({limits})" if limits else ""
    return f"| `{name}` | {_type(field.annotation, field.metadata)} | {_default(field)} | {meaning.strip()} |"


def _subject(field: FieldInfo) -> str:
    """Returns what the section of a key is about, for a key that says nothing itself."""
    models = list(_nested(field.annotation))
    return inspect.cleandoc(models[0].__doc__ or "").partition("\n")[0].removesuffix(".") if len(models) == 1 else ""


def _limit(entry: Any, *, size: bool) -> str:
    words = {"ge": "at least", "gt": "over", "le": "at most", "lt": "under"}
    limits = ((word, getattr(entry, key, None)) for key, word in words.items())
    found = [(word, limit) for word, limit in limits if limit is not None]
    return ", ".join(f"{word} {_size(limit) if size else limit}" for word, limit in found if limit or not size)


def _is_size(field: FieldInfo) -> bool:
    """Returns whether a key is a number of bytes, which may be written with a unit."""
    inner = (getattr(entry, "__metadata__", ()) for entry in (field.annotation, *get_args(field.annotation)))
    return SIZE in field.metadata or any(SIZE in found for found in inner)


def _size(count: int) -> str:
    """Returns a number of bytes in the largest unit of which it is a multiple."""
    unit, name = max((unit, name) for name, unit in UNITS.items() if count % unit == 0)
    return f"{count // unit} {name}".strip()


def _type(annotation: Any, metadata: Sequence[Any] = ()) -> str:
    origin = get_origin(annotation)
    if SIZE in (*metadata, *getattr(annotation, "__metadata__", ())):
        return "size"
    if origin is Literal:
        return " \\| ".join(f"`{value}`" for value in get_args(annotation))
    if origin in (Union, types.UnionType):
        parts = (_type(entry) for entry in get_args(annotation) if entry is not type(None))
        return " \\| ".join(dict.fromkeys(parts))
    if origin is dict:
        return "mapping to sections" if list(_nested(annotation)) else "mapping"
    if origin is list:
        return f"list of {_type(get_args(annotation)[0])}"
    if origin is not None:
        return _type(get_args(annotation)[0])
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "section"
    words = {str: "text", int: "integer", float: "number", bool: "true \\| false"}
    return words.get(annotation, str(annotation))


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    default = field.get_default(call_default_factory=True)
    if default is None or default is PydanticUndefined or default == []:
        return "none"
    if isinstance(default, BaseModel) or (isinstance(default, list) and isinstance(default[0], BaseModel)):
        return "see below"
    return f"`{_size(default) if _is_size(field) else _value(default)}`"


def _value(value: Any) -> str:
    """Returns a value as corpus.yaml has it, for a cell of a table."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | dict):
        return yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=1000).strip()
    return str(value).replace("\n", "\\n").replace("|", "\\|") or '""'


def _profiles() -> str:
    lines = ["## Profiles", "", "`compat` sets these values; a value that you write yourself wins.", ""]
    for name, sections in PROFILES.items():
        lines += [f"`compat: {name}`", "", "| key | value |", "|---|---|"]
        lines += [f"| `{s}.{key}` | `{_value(value)}` |" for s, keys in sections.items() for key, value in keys.items()]
        lines.append("")
    return "\n".join(lines)
