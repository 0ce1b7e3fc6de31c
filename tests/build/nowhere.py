"""Configurations that name what is not in the data, one for each key of the schema that names something there."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.build.small import prose

ROWS = 20
NOWHERE = "nowhere"
Key = tuple[str, str]


@dataclass(frozen=True)
class Case:
    """A configuration that names what is not there. upto: the last asset that is built. says: parts of one sentence."""

    config: Mapping[str, Any]
    says: tuple[str, ...]
    upto: str = "normalized_documents"
    files: Mapping[str, str] = field(default_factory=dict)


def documents(**more: Any) -> str:
    rows = ({"id": f"d{n}", "text": prose(n), "metadata": {"page": f"http://e.org/{n}", **more}} for n in range(ROWS))
    return "".join(json.dumps(row) + "\n" for row in rows)


def rows_of(**row: Any) -> str:
    return (json.dumps(row) + "\n") * ROWS


def source(**changes: Any) -> dict[str, Any]:
    return {"sources": [{"name": "web", "location": "raw", **changes}]}


def own(mode: str, values: Mapping[str, Any] | None = None, **keys: Any) -> dict[str, Any]:
    """A dataset with files of its own and no source. keys: of its input."""
    entry = {"name": "sft", "mode": mode, "input": {"location": "own", **keys}, "sequence_length": 64}
    return {"datasets": [{**entry, "tokenizer": {**TOK}, **(values or {})}]}


def split(**values: Any) -> dict[str, Any]:
    return {**source(), "datasets": [{"name": "train", "input": "train", "sequence_length": 64, **values}]}


def tagged(**changes: Any) -> dict[str, Any]:
    entry = {"name": "web", "taggers": ["host_list"], "options": {"host_list": {"lists": "hosts.txt"}}}
    return {**source(), "attributes": [{**entry, **changes}]}


def given(**changes: Any) -> dict[str, Any]:
    """Attributes in files. changes: of their entry."""
    return {**source(), "attributes": [{"name": "tox", "location": "scores", **changes}]}


def learned(**positive: Any) -> dict[str, Any]:
    """A classifier with a class of other examples. positive: its examples."""
    entry = {"name": "edu", "positive": [positive], "negative": [{"source": "web"}], "least": 20}
    return {**source(), "classifiers": [entry]}


def bucketed(**changes: Any) -> dict[str, Any]:
    """Buckets of a score. changes: of their entry."""
    entry = {"name": "b", "score": "q.gopher_v2.word_count", **changes}
    return {**source(), "attributes": [*QUALITY["attributes"], entry]}


TO_COUNT = {"datasets": [], "short_documents": {"threshold": 0}}
TOK = {"kind": "tokenizer_json", "path": "tok.json", "eos": "<|endoftext|>"}
TALK = rows_of(id="x", messages=[{"role": "user", "content": "a b"}, {"role": "assistant", "content": "c"}])
PAIR = rows_of(instruction="a b", input="c", output="d")
PREFERENCE = rows_of(question="a b", better="c", worse="d")
DIALOGUES = rows_of(
    chosen=[{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}],
    rejected=[{"role": "user", "content": "a"}, {"role": "assistant", "content": "c"}],
)
TEMPLATE = "{% for m in messages %}<|{{ m['role'] }}|>{{ m['content'] }}<|endoftext|>{% endfor %}"
QUALITY = {"attributes": [{"name": "q", "taggers": ["gopher_v2"]}]}
LABELLED = {"nowhere": {"score": {"min": 0.5}}}
BENCH = {"name": "quiz", "location": "bench"}
FIM = {"prefix_token": "a", "middle_token": "b", "suffix_token": "<|endoftext|>"}
LOST = (f"none of {ROWS}",)
SCORES = {
    "scores/a.jsonl": "".join(json.dumps({"id": f"d{n}", "attributes": {"score": n}}) + "\n" for n in range(ROWS))
}


def exported(**values: Any) -> dict[str, Any]:
    return {**source(), "datasets": [{"name": "train", "input": "train", "tokenizer": TOK, **values}]}


MDS = {
    "shards": [
        {
            "column_names": ["input_ids"],
            "column_encodings": ["ndarray:int32"],
            "column_sizes": [None],
            "samples": 1,
            "raw_data": {"basename": "shard.00000.mds", "bytes": 1, "hashes": {}},
        }
    ],
    "version": 2,
}


def ids(**keys: Any) -> dict[str, Any]:
    """A dataset of files of ids and no source. keys: of its input."""
    entry = {"name": "ids", "format": "ragged", "input": {"location": "own", **keys}, "tokenizer": {**TOK}}
    return {"datasets": [entry]}


def texts(rows: str, values: Mapping[str, Any], **keys: Any) -> dict[str, Any]:
    """A dataset of texts with files of its own and no source. keys: of its input."""
    return {
        "datasets": [{"name": "sft", "format": "text", "rows": rows, "input": {"location": "own", **keys}, **values}]
    }


CASES: dict[Key, Case] = {
    ("TokenFiles", "separator_token"): Case(
        ids(format="megatron", separator_token=NOWHERE),
        ("datasets.ids.input.separator_token", "'nowhere'"),
        "ids_token_stream",
        {"own/a.bin": "", "own/a.idx": ""},
    ),
    ("TokenFiles", "column"): Case(
        ids(format="mds", column=NOWHERE),
        ("no column 'nowhere'", "`column`", "it has input_ids"),
        "ids_token_stream",
        {"own/index.json": json.dumps(MDS), "own/shard.00000.mds": "x"},
    ),
    ("Source", "location"): Case(source(location=NOWHERE), (NOWHERE,)),
    ("Source", "glob"): Case(
        source(glob=["*.jsonl", "nowhere/*"]),
        ("sources.web.glob 'nowhere/*'", "none of 1 files", "a.jsonl"),
        "inventory",
    ),
    ("Source", "text_key"): Case(
        source(text_key=NOWHERE, may_be_empty=True, max_bad_rows=1.0),
        ("sources.web.text_key 'nowhere'", *LOST, "id, text, metadata"),
    ),
    ("Source", "id_key"): Case(source(id_key=NOWHERE), ("sources.web.id_key 'nowhere'", *LOST, "id, text, metadata")),
    ("Source", "metadata_key"): Case(
        source(metadata_key=NOWHERE), ("sources.web.metadata_key 'nowhere'", *LOST, "id, text, metadata")
    ),
    ("Source", "licence_key"): Case(
        source(licence_key=NOWHERE), ("sources.web.licence_key 'nowhere'", *LOST, "page"), "mixed_pass1"
    ),
    ("Sample", "of"): Case({"sample": {"of": f"{NOWHERE}.yaml", "share": 0.5}}, (NOWHERE,)),
    ("Sample", "shares"): Case(
        {**source(), "sample": {"shares": {NOWHERE: 0.5}}}, ("sample.shares", "'nowhere'", "valid: web")
    ),
    ("Remove", "location"): Case({**source(), "remove": {"location": "nowhere/*.txt"}}, ("nowhere/*.txt",)),
    ("Source", "metadata_keys"): Case(
        source(metadata_keys=["page", NOWHERE]), ("sources.web.metadata_keys 'nowhere'", *LOST, "page")
    ),
    ("Remove", "url_keys"): Case(
        {**source(), "remove": {"location": "gone.txt", "url_keys": [NOWHERE]}},
        ("remove.url_keys 'nowhere'", *LOST, "page"),
        "takedown",
        {"gone.txt": "http://e.org/3\n"},
    ),
    ("AttributeFiles", "location"): Case(given(location=NOWHERE), ("attributes.tox.location", NOWHERE)),
    ("AttributeFiles", "sources"): Case(given(sources=[NOWHERE]), ("attributes.0", "'nowhere'", "valid: web")),
    ("AttributeFiles", "id_key"): Case(
        given(id_key=NOWHERE),
        ("scores/a.jsonl line 1", "'nowhere' (`id_key`)", "the row has id, attributes"),
        "tox_attributes",
        SCORES,
    ),
    ("AttributeFiles", "attributes_key"): Case(
        given(attributes_key=NOWHERE),
        ("scores/a.jsonl line 1", "'nowhere' (`attributes_key`)", "the row has id, attributes"),
        "tox_attributes",
        SCORES,
    ),
    ("AttributeFiles", "keys"): Case(
        given(keys=[NOWHERE]), ("attributes.tox.keys 'nowhere'", *LOST, "they have: score"), "tox_attributes", SCORES
    ),
    ("Flagged", "attribute"): Case(
        given(flagged={"attribute": NOWHERE, "min_score": 1}),
        ("attributes.tox.flagged.attribute 'nowhere'", *LOST, "they have: score"),
        "tox_attributes",
        SCORES,
    ),
    ("Origins", "url_keys"): Case(
        {**source(), "origins": {"url_keys": [NOWHERE], "suffix_list": "hosts.txt"}, **TO_COUNT},
        ("origins.url_keys 'nowhere'", "none of", "documents", "they have: page"),
        "origin_counts",
    ),
    ("Origins", "language"): Case(
        {**source(), **QUALITY, "origins": {"language": "q.nowhere", "suffix_list": "hosts.txt"}, **TO_COUNT},
        ("origins.language 'q__nowhere__'", *LOST, "they have: q__gopher_v2__"),
        "language_scores",
    ),
    ("Origins", "suffix_list"): Case(
        {**source(), "origins": {"suffix_list": "nowhere.txt"}, **TO_COUNT},
        ("origins.suffix_list", "nowhere.txt", "cannot be read"),
        "origin_counts",
    ),
    ("Attributes", "taggers"): Case(tagged(taggers=[NOWHERE], options={}), (NOWHERE, "attributes.0.taggers")),
    ("Attributes", "options"): Case(
        tagged(options={NOWHERE: {"lists": "hosts.txt"}}), ("'nowhere'", "valid: host_list")
    ),
    ("TaggerOptions", "lists"): Case(
        tagged(options={"host_list": {"lists": "nowhere.txt"}}),
        ("options.host_list.lists", "nowhere.txt"),
        "web_attributes",
    ),
    ("TaggerOptions", "tokenizer"): Case(
        tagged(options={"host_list": {"lists": "hosts.txt", "tokenizer": "nowhere.model"}}),
        ("options.host_list.tokenizer", "no such option"),
    ),
    ("TaggerOptions", "borders"): Case(
        tagged(options={"host_list": {"lists": "hosts.txt", "borders": "nowhere.txt"}}),
        ("options.host_list.borders", "no such option"),
    ),
    ("TaggerOptions", "model"): Case(
        {
            **source(),
            "attributes": [
                {
                    "name": "t",
                    "taggers": ["dolma_v1_tokenizer"],
                    "options": {"dolma_v1_tokenizer": {"model": "nowhere.bin"}},
                }
            ],
        },
        ("options.dolma_v1_tokenizer.model", "nowhere.bin"),
        "t_attributes",
    ),
    ("Examples", "source"): Case(learned(source=NOWHERE), ("classifiers.0.positive.0", "'nowhere'", "valid: web")),
    ("Examples", "file"): Case(
        learned(file="nowhere.jsonl"), ("classifiers.0.positive.0.file", "nowhere.jsonl"), "edu_classifier"
    ),
    ("Examples", "key"): Case(
        learned(source="web", key=NOWHERE, min=1),
        ("classifiers.0.positive.0.key 'metadata.nowhere'", *LOST, "page"),
        "edu_classifier",
    ),
    ("Examples", "values"): Case(
        learned(source="web", key="page", values=[NOWHERE]), ("edu.positive has 0 different texts",), "edu_classifier"
    ),
    ("Classifier", "model"): Case(
        {**source(), "classifiers": [{"name": "edu", "model": "nowhere.bin"}]},
        ("classifiers.0.model", "nowhere.bin"),
        "edu_classifier",
    ),
    ("LanguageModel", "sources"): Case(
        {**source(), "language_models": [{"name": "en", "sources": [NOWHERE]}]},
        ("language_models.0.sources.0", "'nowhere'", "valid: web"),
    ),
    ("LanguageModel", "tokenizer"): Case(
        {**source(), "language_models": [{"name": "en", "sources": ["web"], "tokenizer": "nowhere.model"}]},
        ("language_models.0.tokenizer", "nowhere.model"),
        "en_language_model",
    ),
    ("ScoreBuckets", "score"): Case(bucketed(score="q.gopher_v2.nowhere"), ("attributes.1.score", "'nowhere'")),
    ("ScoreBuckets", "by"): Case(bucketed(by="q.nowhere"), ("attributes.1.by", "'nowhere'")),
    ("CorpusConfig", "taggers"): Case({**source(), "taggers": [NOWHERE]}, ("taggers", "'nowhere'")),
    ("CorpusConfig", "stages"): Case({**source(), "stages": [NOWHERE]}, ("stages", "'nowhere'")),
    ("Benchmark", "location"): Case({**source(), "benchmarks": [{**BENCH, "location": NOWHERE}]}, (NOWHERE,)),
    ("Benchmark", "glob"): Case(
        {**source(), "benchmarks": [{**BENCH, "glob": ["*", "nowhere/*"]}]},
        ("benchmarks.quiz.glob 'nowhere/*'", "none of 1 files", "a.jsonl"),
        "inventory",
        {"bench/a.jsonl": PAIR},
    ),
    ("Benchmark", "text_key"): Case(
        {**source(), "benchmarks": [{**BENCH, "text_key": ["instruction", NOWHERE]}]},
        ("benchmarks.quiz.text_key 'nowhere'", *LOST, "instruction, input, output"),
        "quiz_items",
        {"bench/a.jsonl": PAIR},
    ),
    ("Benchmark", "id_key"): Case(
        {**source(), "benchmarks": [{**BENCH, "text_key": "input", "id_key": NOWHERE}]},
        ("benchmarks.quiz.id_key 'nowhere'", *LOST, "instruction, input, output"),
        "quiz_items",
        {"bench/a.jsonl": PAIR},
    ),
    ("Deduper", "by"): Case(
        {**source(), "dedupers": [{"name": "urls", "by": "metadata.nowhere"}]},
        ("dedupers.urls.by 'metadata.nowhere'", *LOST, "metadata.page"),
        "urls_hashes",
    ),
    ("Deduper", "sources"): Case(
        {**source(), "dedupers": [{"name": "urls", "by": "text", "sources": [NOWHERE]}]},
        ("dedupers.0.sources", "'nowhere'", "valid: web"),
    ),
    ("Deduper", "glob"): Case(
        {**source(), "dedupers": [{"name": "urls", "by": "text", "glob": ["*.jsonl", "nowhere/*"]}]},
        ("dedupers.urls.glob 'nowhere/*'", "none of 1 files", "a.jsonl"),
        "urls_hashes",
    ),
    ("Substrings", "sources"): Case(
        {**source(), "dedupers": [{"kind": "substrings", "sources": [NOWHERE]}]},
        ("dedupers.0.sources", "'nowhere'", "valid: web"),
    ),
    ("Substrings", "glob"): Case(
        {**source(), "dedupers": [{"kind": "substrings", "glob": ["*.jsonl", "nowhere/*"]}]},
        ("dedupers.substrings.glob 'nowhere/*'", "none of 1 files", "a.jsonl"),
        "substrings_passages",
    ),
    ("Semantic", "model"): Case(
        {**source(), "dedupers": [{"kind": "semantic", "model": NOWHERE}]},
        ("dedupers.semantic.model", NOWHERE, "cannot be read"),
        "semantic_vectors",
    ),
    ("Semantic", "sources"): Case(
        {**source(), "dedupers": [{"kind": "semantic", "model": "json:loads", "sources": [NOWHERE]}]},
        ("dedupers.0.sources", "'nowhere'", "valid: web"),
    ),
    ("Semantic", "glob"): Case(
        {**source(), "dedupers": [{"kind": "semantic", "model": "numpy:zeros", "glob": ["nowhere/*"]}]},
        ("dedupers.semantic.glob 'nowhere/*'", "none of 1 files", "a.jsonl"),
        "semantic_vectors",
    ),
    ("Deduper", "against"): Case(
        {**source(), "dedupers": [{"name": "urls", "by": "text", "against": [NOWHERE]}]},
        ("dedupers.0.against", "'nowhere'", "valid: web"),
    ),
    ("RowRules", "rules"): Case(
        {**source(), **QUALITY, "filter": {"rules": {"q.gopher_v2.nowhere": {"max": 1}}}}, ("nowhere", "it gives: ")
    ),
    ("Languages", "by"): Case(
        {**source(), **QUALITY, "filter": {"languages": {"by": "nowhere.language", "thresholds": LABELLED}}},
        ("filter.languages.by", "'nowhere'", "attributes are: q"),
    ),
    ("Words", "by"): Case(
        tagged(taggers=["gopher_quality"], options={}, words={"by": "nowhere.language"}),
        ("attributes.0.words.by", "'nowhere'", "there is no other one"),
    ),
    ("FineWeb2", "by"): Case(
        {
            **source(),
            **QUALITY,
            "filter": {"presets": ["fineweb2"], "fineweb2": {"by": "nowhere.language", "languages": ["tha_Thai"]}},
        },
        ("words.by", "'nowhere'", "others are: q"),
    ),
    ("FineWeb2", "configs"): Case(
        {**source(), "filter": {"presets": ["fineweb2"], "fineweb2": {"language": "tha_Thai", "configs": "nowhere"}}},
        ("filter.fineweb2.configs", "nowhere/tha_Thai.yml", "valid: a folder with LABEL.yml"),
    ),
    ("Languages", "thresholds"): Case(
        {**source(), **QUALITY, "filter": {"languages": {"by": "q.gopher_v2", "thresholds": LABELLED}}},
        ("filter.languages.by", "'nowhere'", "it gives: "),
    ),
    ("RowRules", "include"): Case(
        {**source(may_be_empty=True), "filter": {"include": ["$.metadata.nowhere"]}},
        ("filter.include.0 '$.metadata.nowhere'", *LOST, "metadata.page"),
        "filtered_documents",
    ),
    ("RowRules", "exclude"): Case(
        {**source(), "filter": {"exclude": ["$.metadata.nowhere"]}},
        ("filter.exclude.0 '$.metadata.nowhere'", *LOST, "metadata.page"),
        "filtered_documents",
    ),
    ("RowRules", "attributes"): Case(
        {**source(), **QUALITY, "filter": {"include": ["$.text"], "attributes": [NOWHERE]}},
        ("'nowhere'", "attributes are: q"),
    ),
    ("SpanReplacement", "span"): Case(
        {**source(), "filter": {"span_replacement": [{"span": "$.metadata.nowhere"}]}},
        ("filter.span_replacement.0.span '$.metadata.nowhere'", *LOST),
        "filtered_documents",
    ),
    ("SpanReplacement", "replacement"): Case(
        {
            **source(may_be_empty=True),
            "attributes": [{"name": "p", "taggers": ["gopher_v2"]}],
            "filter": {
                "span_replacement": [{"span": "p.gopher_v2.word_count", "replacement": '$ .metadata.nowhere // "none"'}]
            },
        },
        ("filter.span_replacement.0.replacement 'metadata.nowhere'", *LOST, "metadata.page"),
        "filtered_documents",
    ),
    ("Card", "sources"): Case(
        {**source(), "card": {"sources": {NOWHERE: {"description": "a"}}}}, ("card.sources", "'nowhere'", "valid: web")
    ),
    ("Stream", "sources"): Case(
        {**source(), "streams": [{"name": "s", "sources": [NOWHERE]}]}, ("streams.0.sources", "'nowhere'", "valid: web")
    ),
    ("Stream", "glob"): Case(
        {**source(), "streams": [{"name": "s", "glob": "nowhere/*"}]},
        ("streams.s.glob 'nowhere/*'", "none of 1 files", "a.jsonl"),
        "s_stream_documents",
    ),
    ("Stream", "attributes"): Case(
        {**source(), **QUALITY, "streams": [{"name": "s", "attributes": [NOWHERE]}]}, ("'nowhere'", "attributes are: q")
    ),
    ("Stream", "discard_fields"): Case(
        {**source(), "streams": [{"name": "s", "discard_fields": [NOWHERE]}]},
        ("streams.s.discard_fields 'nowhere'", *LOST, "text"),
        "s_stream_documents",
    ),
    ("Dedup", "keep"): Case(
        {**source(), "dedup": {"keep": ["newest"]}}, ("dedup.keep 'newest'", *LOST, "metadata.page")
    ),
    ("Dedup", "priority"): Case(
        {**source(), "dedup": {"keep": ["source"], "priority": [NOWHERE]}},
        ("dedup.priority", "'nowhere'", "valid: web"),
    ),
    ("Mix", "leave_out"): Case({**source(), "mix": {"leave_out": [NOWHERE]}}, ("mix.leave_out", "'nowhere'")),
    ("MixUnit", "by"): Case(
        {**source(), "mix": {"units": [{"by": f"metadata.{NOWHERE}"}]}},
        ("mix.units.0.by 'metadata.nowhere'", *LOST, "metadata.page"),
        "document_units",
    ),
    ("MixCopies", "by"): Case(
        {**source(), "mix": {"copies": {"by": f"metadata.{NOWHERE}", "points": [[0, 1]]}}},
        ("mix.copies.by 'metadata.nowhere'", *LOST, "metadata.page"),
        "mixed_pass1",
    ),
    ("MixOrder", "by"): Case(
        {**source(), "mix": {"order": {"by": f"metadata.{NOWHERE}"}}},
        ("mix.order.by 'metadata.nowhere'", *LOST, "metadata.page"),
        "mixed_pass1",
    ),
    ("Weights", "shares"): Case(
        exported(format="megatron", weights={"shares": {NOWHERE: 1}}), ("'nowhere'", "valid: web")
    ),
    ("Weights", "tokens"): Case(
        exported(format="megatron", weights={"tokens": {NOWHERE: 9}}), ("'nowhere'", "valid: web")
    ),
    ("Weights", "after"): Case(
        exported(format="megatron", weights={"shares": {"web": 1}, "after": NOWHERE}), ("'nowhere'", "weights.after")
    ),
    ("OwnFiles", "location"): Case(own("lm", location=NOWHERE), (NOWHERE,), "sft_examples"),
    ("OwnFiles", "glob"): Case(
        own("lm", glob=["*", "nowhere/*"]),
        ("datasets.sft.input.glob 'nowhere/*'", "none of 1 files"),
        "inventory",
        {"own/a.jsonl": TALK},
    ),
    ("Files", "id_key"): Case(
        own("lm", id_key=NOWHERE),
        ("datasets.sft.input.id_key 'nowhere'", *LOST, "text"),
        "sft_examples",
        {"own/a.jsonl": rows_of(text="a b c")},
    ),
    ("Files", "metadata_keys"): Case(
        own("lm", metadata_keys=[NOWHERE]),
        ("datasets.sft.input.metadata_keys 'nowhere'", *LOST, "author"),
        "sft_examples",
        {"own/a.jsonl": rows_of(text="a b c", author="x")},
    ),
    ("Files", "text_key"): Case(
        own("lm", text_key=NOWHERE),
        ("datasets.sft.input.text_key 'nowhere'", *LOST, "text"),
        "sft_examples",
        {"own/a.jsonl": rows_of(text="a b c")},
    ),
    ("Files", "prompt_key"): Case(
        own("summarization", prompt_key=["instruction", NOWHERE], completion_key="output"),
        ("datasets.sft.input.prompt_key 'nowhere'", *LOST, "instruction, input, output"),
        "sft_examples",
        {"own/a.jsonl": PAIR},
    ),
    ("Files", "completion_key"): Case(
        own("summarization", prompt_key="input", completion_key=NOWHERE),
        ("datasets.sft.input.completion_key 'nowhere'", *LOST, "instruction, input, output"),
        "sft_examples",
        {"own/a.jsonl": PAIR},
    ),
    ("Files", "messages_key"): Case(
        own("chat", messages_key=NOWHERE),
        ("datasets.sft.input.messages_key 'nowhere'", *LOST, "messages"),
        "sft_examples",
        {"own/a.jsonl": TALK},
    ),
    ("Files", "role_key"): Case(
        own("summarization", messages_key="messages", role_key=NOWHERE),  # Then roles follow from turns.
        ("datasets.sft.input.role_key 'nowhere'", f"none of {2 * ROWS} messages", "role, content"),
        "sft_examples",
        {"own/a.jsonl": TALK},
    ),
    ("Files", "content_key"): Case(
        own("chat", messages_key="messages", content_key=NOWHERE),
        ("datasets.sft.input.content_key 'nowhere'", f"none of {2 * ROWS} messages", "role, content"),
        "sft_examples",
        {"own/a.jsonl": TALK},
    ),
    ("Files", "chosen_key"): Case(
        own("dpo", prompt_key="question", chosen_key=NOWHERE, rejected_key="worse"),
        ("datasets.sft.input.chosen_key 'nowhere'", *LOST, "question, better, worse"),
        "sft_examples",
        {"own/a.jsonl": PREFERENCE},
    ),
    ("Files", "rejected_key"): Case(
        own("dpo", prompt_key="question", chosen_key="better", rejected_key=NOWHERE),
        ("datasets.sft.input.rejected_key 'nowhere'", *LOST, "question, better, worse"),
        "sft_examples",
        {"own/a.jsonl": PREFERENCE},
    ),
    ("ChatDataset", "loss_roles"): Case(
        own("chat", {"loss_roles": ["assistant", NOWHERE]}, messages_key="messages"),
        ("datasets.sft.loss_roles 'nowhere'", f"none of {2 * ROWS} messages", "assistant 20, user 20"),
        "sft_examples",
        {"own/a.jsonl": TALK},
    ),
    ("ChatDataset", "template_values"): Case(
        own("chat", {"template_values": {NOWHERE: 1}, "chat_template": TEMPLATE}, messages_key="messages"),
        ("datasets.sft.template_values", "'nowhere'", "reads messages"),
        "sft_tokens",
        {"own/a.jsonl": TALK},
    ),
    ("Templated", "chat_template"): Case(
        own("chat", {"chat_template": "nowhere.jinja"}, messages_key="messages"),
        ("datasets.sft.chat_template", "nowhere.jinja"),
        "sft_tokens",
        {"own/a.jsonl": TALK},
    ),
    ("DPODataset", "response_delimiter"): Case(
        own("dpo", {"response_delimiter": NOWHERE, "chat_template": TEMPLATE}),
        ("datasets.sft.response_delimiter", "'nowhere'", "<|user|>"),
        "sft_tokens",
        {"own/a.jsonl": DIALOGUES},
    ),
    ("DPODataset", "user_role"): Case(
        own("dpo", {"user_role": NOWHERE, "chat_template": TEMPLATE}),
        ("datasets.sft.user_role 'nowhere'", f"none of {4 * ROWS} messages", "assistant 40"),
        "sft_examples",
        {"own/a.jsonl": DIALOGUES},
    ),
    ("DPODataset", "assistant_role"): Case(
        own("dpo", {"assistant_role": NOWHERE, "chat_template": TEMPLATE}),
        ("datasets.sft.assistant_role 'nowhere'", f"none of {4 * ROWS} messages", "user 40"),
        "sft_examples",
        {"own/a.jsonl": DIALOGUES},
    ),
    **{
        ("FIMDataset", key): Case(
            split(mode="fim", tokenizer=TOK, **{**FIM, key: NOWHERE}),
            (f"datasets.train.{key}", "'nowhere'"),
            "train_tokens",
        )
        for key in ("prefix_token", "middle_token", "suffix_token")
    },
    ("Export", "separator_token"): Case(
        exported(format="megatron", separator_token=NOWHERE), ("separator_token", "'nowhere'"), "train_tokens"
    ),
    ("OlmoExport", "bos_token"): Case(
        exported(format="olmo", bos_token=NOWHERE), ("bos_token", "'nowhere'"), "train_tokens"
    ),
    ("TextExport", "metadata"): Case(
        {**source(), "datasets": [{"name": "train", "format": "text", "input": "train", "metadata": [NOWHERE]}]},
        ("datasets.train.metadata 'nowhere'", "none of", "rows", "page"),
        "train_texts",
    ),
    ("TextExport", "message_keys"): Case(
        texts("messages", {"files": "parquet", "message_keys": [NOWHERE]}, messages_key="messages"),
        ("datasets.sft.message_keys 'nowhere'", "none of 40 messages", "role, content"),
        "sft_texts",
        {"own/a.jsonl": TALK},
    ),
    ("TextExport", "input_key"): Case(
        texts("instruction", {"input_key": NOWHERE}, prompt_key="instruction", completion_key="output"),
        ("datasets.sft.input_key 'nowhere'", *LOST, "input"),
        "sft_texts",
        {"own/a.jsonl": PAIR},
    ),
    ("TextExport", "label_key"): Case(
        texts("kto", {"label_key": NOWHERE}, prompt_key="instruction", completion_key="output"),
        ("no_label 20", "no key 'nowhere'; the row has input"),
        "sft_texts",
        {"own/a.jsonl": PAIR},
    ),
    ("Part", "dataset"): Case(
        {**source(), "datasets": [{"name": "mix", "format": "parquet", "parts": {"a": {"dataset": NOWHERE}}}]},
        ("nowhere",),
    ),
    ("MixedDataset", "separator_token"): Case(
        {
            **source(),
            "datasets": [
                {
                    "name": "mix",
                    "format": "parquet",
                    "tokenizer": {**TOK},
                    "parts": {"a": {"input": "train"}},
                    "separator_token": NOWHERE,
                }
            ],
        },
        ("datasets.mix.separator", "'nowhere'"),
        "mix_masked_token_stream",
    ),
    ("AmberSet", "datasets"): Case(
        {
            **source(),
            "datasets": [{"name": "mix", "format": "amber", "input": [{"source": "a", "datasets": [NOWHERE]}]}],
        },
        ("nowhere",),
    ),
    ("_Tokenizer", "chat_template"): Case(
        split(tokenizer={**TOK, "chat_template": "nowhere.jinja"}), ("chat_template", "nowhere.jinja"), "train_tokens"
    ),
    **{
        ("_Ending", key): Case(split(tokenizer={**TOK, key: NOWHERE}), (key, "'nowhere'"), "train_tokens")
        for key in ("eos", "pad")
    },
    ("Gpt2Tokenizer", "eos"): Case(
        split(tokenizer={"kind": "gpt2", "merges": "vocab.bpe", "encoder": "encoder.json", "eos": NOWHERE}),
        ("eos", "'nowhere'"),
        "train_tokens",
        {"vocab.bpe": "#version: 0.2\na b\n", "encoder.json": '{"a": 0, "b": 1, "ab": 2, "<|endoftext|>": 3}'},
    ),
    **{
        ("Gpt2Tokenizer", key): Case(
            split(tokenizer={"kind": "gpt2", "merges": "tok.json", "encoder": "tok.json", key: NOWHERE}),
            (f"tokenizer.{key}", NOWHERE),
            "train_tokens",
        )
        for key in ("merges", "encoder")
    },
    ("TokenizerFile", "path"): Case(
        split(tokenizer={**TOK, "path": NOWHERE}), ("tokenizer.path", NOWHERE), "train_tokens"
    ),
    **{
        ("NeoxTokenizer", key): Case(
            split(tokenizer={"kind": "neox", "path": "tok.json", key: NOWHERE}),
            (f"tokenizer.{key}", NOWHERE),
            "train_tokens",
        )
        for key in ("path", "config")
    },
    ("HuggingFaceFolder", "path"): Case(
        split(tokenizer={"kind": "huggingface", "path": NOWHERE}), ("tokenizer.path", NOWHERE), "train_tokens"
    ),
    ("SentencePieceModel", "path"): Case(
        split(tokenizer={"kind": "sentencepiece", "path": NOWHERE}), ("tokenizer.path", NOWHERE), "train_tokens"
    ),
}

ELSEWHERE = {
    ("HubTokenizer", "name"): "tests/tokenize/test_hub.py asks a server for a repository that is not there",
    ("HubTokenizer", "revision"): "the same for a revision",
}
"""Marked keys that other tests point nowhere."""

NAMES_NOTHING: dict[str, set[str]] = {
    "what it is called itself": {
        *("Words.language", "Words.stop_words", "FineWeb2.language", "FineWeb2.languages", "FineWeb2.limits"),
        "LanguageLimits.stopwords",
        *("CorpusConfig.name", "Source.name", "Attributes.name", "Benchmark.name", "Deduper.name", "Deduper.attribute"),
        *("Substrings.name", "Semantic.name"),
        *("AttributeFiles.name", "Classifier.name", "LanguageModel.name", "ScoreBuckets.name", "ScoreBuckets.buckets"),
        *("Stream.name", "Reading.name", "AmberSet.source", "AmberExport.source", "RaggedExport.prefix"),
        "MixedDataset.parts",
        "MixUnit.name",
        "Weights.fitted_on",
        *("LlmcExport.prefix", "DatatroveExport.tokenizer_name"),
    },
    "how something is read, written or reached": {
        *(
            "Source.extractor",
            "Files.extractor",
            "Csv.delimiter",
            "Csv.quote",
            "Csv.escape",
            "MdsExport.compression",
        ),
        *("EngineSection.kind", "EngineSection.address", "EngineSection.options", "StorageSection.kind"),
        *(
            "StorageSection.root",
            "StorageSection.options",
            "S3Section.endpoint",
            "S3Section.region",
            "S3Section.profile",
        ),
        *(f"Endpoint.{key}" for key in ("url", "model", "key_variable", "parameters", "answers")),
        *("TaggerOptions.settings", "TaggerOptions.device"),
        *("CacheSection.folder", "Source.text_separator", "Files.text_separator", "Notice.command", "Notice.webhook"),
    },
    "gives names to columns that have none; another number of them is a bad row": {"Csv.columns"},
    "text that is put into rows": {
        *("Turns.prompt_prefix", "Turns.completion_prefix", "Turns.separator"),
        *("TrainedTokenizer.special_tokens", "AmberExport.bos_text", "AmberExport.eos_text", "ChatDataset.day"),
    },
    "a border that a text need not have": {"Deduper.separator"},
    "a length, with its unit": {"Substrings.min_length"},
    "a question, and what its answer must have": {"Endpoint.prompt", "Endpoint.score"},
    "what people state": {
        "Source.licence",
        "OwnFiles.licence",
        *(f"Card.{key}" for key in ("title", "description", "version", "released", "url", "licence", "languages")),
        *(f"Card.{key}" for key in ("contact", "citation", "uses", "misuses", "limitations", "personal_information")),
        *(f"Card.{key}" for key in ("rights_reservations", "illegal_content", "updates")),
        *(f"Party.{key}" for key in ("name", "contact", "url")),
        *(f"Model.{key}" for key in ("names", "depends_on", "placed_on_market")),
        *(f"SourceCard.{key}" for key in ("description", "url", "collected", "crawler", "domains")),
    },
    "a permission: what it does not name is counted and shown, what is not there needs none": {"Licences.allow"},
    "sections for stages of the user's own": {"CorpusConfig.own"},
}
