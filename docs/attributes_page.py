"""The page about attributes: an introduction, and a row for every built-in tagger."""

from corpus_assets.attributes.registry import BUILT_IN

INTRODUCTION = """# Attributes

`python -m docs.generate` writes this page; its table comes from the taggers themselves, and a test checks that it is
current.

A tagger looks at a document and gives spans of its text with scores. Each entry of `attributes` in `corpus.yaml` is one
asset, `<name>_attributes`, in which all its taggers run together over every document of a shard:

```yaml
attributes:
  - name: quality
    taggers: [gopher_v2, c4_v2, pii_regex_with_counts_fast_v2, repetitions_v1, char_length_v1]
  - name: words
    taggers: [uniseg_length_paragraphs_with_doc_length_v1]
```

It writes `attributes/<name>/<source>/<shard>.jsonl.gz`, a row for each document in the order of the documents, in the
format of Dolma ([formats/dolma.md](formats/dolma.md)). A key is `<name>__<tagger>__<type>`; a span is
`[start, end, score]` in code points of the text, `end` not included; scores have at most five digits after the point.
The record of a shard counts its documents by score, key by key ([statistics.md](statistics.md#histograms-of-scores)).

If you add a tagger to an entry, or a tagger gets a new version, that entry is computed again and no other. Put taggers
that change often into an entry of their own. Taggers of one entry share what they compute: code points, words and
paragraphs of a text are found once.

## Taggers that need more

Some taggers use a library that is not installed with the rest. The table below names the extra that installs it:

```bash
pip install 'corpus-assets[cld2]'
```

Without it, `corpus plan` and `corpus build` say which wheel is missing. Its version is part of the recipe, so an entry
is computed again when the library changes.

Others read files of yours: lists of URLs or hosts, classifiers, tokenizers. Nothing is downloaded. `options` of the
entry names them, by tagger; relative paths start at the folder of `corpus.yaml`:

```yaml
attributes:
  - name: web
    taggers: [gopher_v2, blocklist_hosts_porn_v1, ft_lang_id_en_doc_v2]
    options:
      blocklist_hosts_porn_v1: {lists: [lists/porn.txt, lists/more.txt.gz]}
      ft_lang_id_en_doc_v2: {model: models/lid.176.bin}
```

The digest of their content is part of the recipe: if a list grows by a line, its entry is computed again, and the plan
says `attributes.web.lists.blocklist_hosts_porn_v1 changed`. Place and name of a file, and the order of lists, have no
influence. Every command that plans reads the files once to know it. A worker reads a file once, and keeps it until the
build ends: plan for the size of every model in each worker, beside `engine.memory`. A list takes 16 bytes for each of
its lines. Lines that name no URL or host are left out, and counted in the record of each partition
(`unread_lines_of_lists`).

With `compat: dolma` an entry has the values of Dolma 1.2.1 where its values are defects too; they differ for the
taggers that the last column marks.

## A tagger of your own

A tagger is a function of a text, and a name and a version. Put it into a module beside `corpus.yaml`:

```python
# my_taggers.py
from resources import Spans, Tagger, Text


def shouting(text: Text) -> Spans:
    capitals = sum(map(str.isupper, text.string))
    return {"capitals": text.whole(capitals / max(1, len(text.string)))}


GIVES = "`capitals`: share of capital letters"
TAGGERS = [Tagger("shouting", shouting, version="1", gives=GIVES, types=("capitals",))]
```

```yaml
taggers: [my_taggers]
attributes:
  - name: tone
    taggers: [shouting]
```

- `text.string` is the text; `text.document` has its `id`, `source` and dates; `text.metadata` is its metadata.
- Return spans by type: `text.whole(score)` is one span over the whole text, `[(start, end, score), ...]` are several.
  A type without spans is left out of the row.
- `types` are all types that it can give, so that a rule of the filter cannot name another one. Leave it out if they are
  open, as labels of a model are.
- `Tagger(..., wheels=("some-library",))` puts the version of a library into the recipe; `files={"model": read}` gives
  the tagger an option, and its function a value `model`: what `read([path, ...])` returned for the files it names.
- `text.once(function)` calls a function of the text once per document, for all taggers that ask.
- A function must depend on nothing but its text. Raise `version` in the commit that changes what it returns.
- If it raises an error, its shard fails, and the message names file, document and tagger.

The filter drops documents, or replaces pieces of their texts, by what taggers gave ([filter.md](filter.md)).

## Taggers

"Lines", "words" and "paragraphs" are those of [formats/dolma.md](formats/dolma.md).

| tagger | gives | source | version | extra | options | `compat: dolma` |
|---|---|---|---|---|---|---|
"""


def _code(*words: str) -> str:
    return ", ".join(f"`{word}`" for word in words if word)


def attributes_page() -> str:
    """Returns the page about attributes, with every built-in tagger."""
    rows = [
        f"| `{t.name}` | {t.gives} | {t.source} | {t.version} | {_code(t.extra)} | {_code(*t.files)} "
        f"| {'differs' if t.dolma else ''} |"
        for t in BUILT_IN.values()
    ]
    return INTRODUCTION + "\n".join(rows) + "\n"
