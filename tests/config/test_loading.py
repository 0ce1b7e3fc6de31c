"""corpus.yaml: every kind of fault is refused with its key, what was received and what is valid."""

import errno
import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from corpus_assets.config import sections
from corpus_assets.config.corpus_config import CorpusConfig
from corpus_assets.config.paths import with_absolute_paths
from corpus_assets.config.reading.loading import load_config, parse_config
from corpus_assets.config.reading.profiles import PROFILES
from corpus_assets.config.sections import HoldoutCount
from corpus_assets.corpus.corpus import Corpus
from resources.errors import ConfigError, StorageError
from tests.failing import failing

SOURCE = {"name": "a", "location": "raw"}


def config(**sections: Any) -> CorpusConfig:
    return parse_config({"sources": [SOURCE], **sections})


def source(**keys: Any) -> dict[str, Any]:
    return {"sources": [{**SOURCE, **keys}]}


def section(name: str, **keys: Any) -> dict[str, Any]:
    return {"sources": [SOURCE], name: keys}


def listed(name: str, entry: Any) -> dict[str, Any]:
    return {"sources": [SOURCE], name: [entry]}


def dataset(**keys: Any) -> dict[str, Any]:
    return {"sources": [SOURCE], "datasets": [{"name": "t", **keys}]}


FAULTS: list[tuple[Any, str]] = [
    ({"notices": [{"on": ["failed"]}]}, "notices.0: one of command and webhook is needed, and not both"),
    ({"notices": [{"command": ["a"], "webhook": "env:A"}]}, "notices.0: one of command and webhook is needed"),
    ({"notices": [{"command": []}]}, "notices.0.command: received [] (list)"),
    ({"notices": [{"on": ["red"], "command": ["a"]}]}, "notices.0.on.0: received 'red' (str); valid: 'failed', "),
    ({"notices": [{"on": [], "command": ["a"]}]}, "notices.0.on: received [] (list)"),
    ({"notices": [{"webhook": "env:1A"}]}, "notices.0: webhook: received what is not shown, since the address of"),
    ({"notices": [{"command": ["a"], "timeout": 0}]}, "notices.0.timeout: received 0 (int)"),
    ({}, "sources: none given, but dataset 'train' reads a split of the corpus; give a source"),
    ({"datasets": []}, "sources: none given, so there is nothing to train a tokenizer on"),
    ({"sources": "raw"}, "sources: received 'raw' (str); input should be a valid list"),
    ({"sources": ["raw"]}, "sources.0: received 'raw' (str); valid is a mapping"),
    (
        section("mix", chunk=3),
        "mix.chunk: unknown key; did you mean 'chunks'? (valid: chunks, copies, leave_out, order, seed, units)",
    ),
    (section("dedupe"), "dedupe: unknown key; did you mean 'dedup'?"),
    (section("mix", chunks="2"), "mix.chunks: received '2' (str); input should be a valid integer"),
    (section("mix", chunks=True), "mix.chunks: received True (bool); input should be a valid integer"),
    (section("mix", chunks=0), "mix.chunks: received 0 (int); input should be greater than or equal to 1"),
    (section("mix", order="random"), "mix.order: received 'random' (str); valid: 'keyed' or 'slimpajama'"),
    ({"sources": [SOURCE], "mix": None}, "mix: received None (NoneType); valid is a mapping"),
    (source(epochs="2"), "sources.0.epochs: received '2' (str); input should be a valid number"),
    (source(epochs=True), "sources.0.epochs: received True (bool); input should be a valid number"),
    (source(epochs=-1), "sources.0.epochs: received -1 (int); input should be greater than or equal to 0"),
    (source(epochs=float("nan")), "sources.0.epochs: received nan (float); input should be a finite number"),
    (source(weight="2"), "sources.0.epochs: received '2' (str)"),
    (source(weight=2, epochs=2), "sources.0: weight and epochs are two names of one value"),
    (source(name="A b"), "sources.0.name: received 'A b' (str); valid: a name of a-z, 0-9"),
    (source(name="a--b"), "sources.0.name: received 'a--b' (str)"),
    (source(nam="a"), "sources.0.nam: unknown key; did you mean 'name'?"),
    (source(format="xml"), "sources.0.format: received 'xml' (str); valid: 'auto', 'jsonl'"),
    (source(glob=[]), "sources.0.glob: received [] (list)"),
    (source(glob=["a", 3]), "sources.0.glob.1: received 3 (int); input should be a valid string"),
    (source(ids="given", format="txt"), "sources.0: ids: given cannot be with format txt, which has no ids"),
    (source(text_key="id"), "sources.0: text_key, id_key and metadata_key must differ; received 'id', 'id'"),
    (section("split", holdout="x"), "split.holdout: received 'x' (str); valid: a share such as 0.02 or 2%"),
    (section("split", holdout=1.0), "split.holdout: received 1.0 (float); input should be less than 1"),
    (section("split", holdout={"cnt": 3}), "split.holdout.cnt: unknown key; did you mean 'count'? (valid: count)"),
    (source(holdout={"count": -3}), "sources.0.holdout.count: received -3 (int)"),
    (section("tokenizer", kind="bpe"), "tokenizer: received 'bpe' as 'kind'; valid: 'train', 'tokenizer_json'"),
    (
        section("tokenizer"),
        "tokenizer: received {} (dict); valid is a mapping with a key 'kind': 'train', 'tokenizer_json'",
    ),
    (dataset(sequence_lenght=9), "datasets.0.sequence_lenght: unknown key; did you mean 'sequence_length'?"),
    (dataset(mode="chat", chat_templat="a"), "datasets.0.chat_templat: unknown key; did you mean 'chat_template'?"),
    (dataset(format="mds", unti="a"), "datasets.0.unti: unknown key; did you mean 'unit'?"),
    (
        dataset(format="text", rows="kto", input={"location": "a", "label_key": "good"}),
        "datasets.0.input.label_key: unknown key; it stands beside 'input', not in it (valid: ",
    ),
    (dataset(mode="chat", messages_key="a"), "datasets.0.messages_key: unknown key; it stands in 'input' (valid: "),
    (dataset(format="text", fils="a"), "datasets.0.fils: unknown key; did you mean 'files'?"),
    (section("tokenizer", kind="train", vocabulary=3), "tokenizer.vocabulary: received 3 (int)"),
    (section("tokenizer", kind="train", seeds=3), "tokenizer.seeds: unknown key; did you mean 'seed'?"),
    (section("tokenizer", kind="gpt2", merges="m"), "tokenizer.encoder: missing, but required"),
    (section("engine", memory="3 parsec"), "engine.memory: received '3 parsec' (str); valid: a size such as 512 MiB"),
    (
        source(location="gs://bucket/raw"),
        "sources.0.location: received 'gs://bucket/raw' (str); valid: a folder of this",
    ),
    (source(location="ftp://host/raw"), "s3://bucket/prefix; hf://datasets/org/name@revision; or https://"),
    (source(location="s3://B/raw"), "received 's3://B/raw' (str); valid: s3://bucket/prefix"),
    (source(location="hf://org/name"), "valid: hf://datasets/org/name"),
    (source(location="https://host/list.txt?token=x"), "without user name, query and fragment"),
    (section("remove", location="s3://bucket"), "remove.location: received 's3://bucket' (str); valid: a file of this"),
    (
        section("remove", location="s3://bucket/lists/"),
        "s3://bucket/folder/file; hf://datasets/org/name@revision/folder",
    ),
    (section("remove", location="hf://datasets/org/name@main"), "hf://datasets/org/name@revision/folder/file; each of"),
    (section("remove", location="https://host/lists/*.txt"), "or https://host/file"),
    (section("remove", location="https://host"), "or https://host/file"),
    (section("remove", location="a", s3={}), "remove: s3: without effect unless location is s3://bucket/prefix"),
    (
        section("tokenizer", kind="tokenizer_json", path="s3://bucket/tokenizer.json"),
        "tokenizer.path: received 's3://bucket/tokenizer.json' (str); valid: a path of this machine or of a "
        "mounted file system; s3: is not read",
    ),
    (section("tokenizer", kind="gpt2", merges="hf://datasets/a/b/m", encoder="e"), "tokenizer.merges: received 'hf://"),
    (dataset(mode="chat", chat_template="https://host/a.jinja"), "datasets.0.chat_template: received 'https://host/a"),
    (dataset(format="mds", weights={"shares": "s3://bucket/w.csv"}), "weights.shares: received 's3://bucket/w.csv'"),
    (listed("attributes", 3), "attributes.0: received 3 (int); valid: a mapping with `name`, and `taggers`, "),
    (listed("attributes", {}), "attributes.0.name: missing, but required"),
    (listed("datasets", 3), "datasets.0: received 3 (int); valid: a mapping with at least `name`"),
    (listed("datasets", "ab"), "datasets.0: received 'ab' (str); valid: a mapping with at least `name`"),
    (listed("datasets", {"name": "a", "format": []}), "datasets.0: format is []; valid: hdf5, megatron"),
    (source(location="s3://bucket/raw", s3={"secret_key": "x"}), "secret_key: credentials do not belong in corpus"),
    (source(s3={"region": "here"}), "sources.0: s3: without effect unless location is s3://bucket/prefix"),
    (
        source(location="s3://bucket/raw", s3={"endpoint": "host:1"}),
        "endpoint: received 'host:1'; valid: http:// or https://",
    ),
    (
        section("storage", kind="local", root="s3://bucket/x"),
        "storage: root is 's3://bucket/x'; valid with kind local: a path of",
    ),
    (section("storage", root="s3://b"), "root: received 's3://b'; valid: s3://bucket/prefix, with a bucket of 3 to 63"),
    (section("storage", root="s3://bucket/a/../b"), "/../b'; valid: s3://bucket/prefix, with a prefix of"),
    (
        section("storage", root="s3://key:word@bucket/x"),
        "root: received what is not shown, since it may hold credentials; valid: s3://",
    ),
    (section("storage", kind="s3", root="corpus"), "storage: root: received 'corpus'; valid: s3://bucket/prefix"),
    (section("storage", root="s3://bucket/x"), "name: received 'corpus', the default; valid in an object"),
    (section("storage", s3={"secret_access_key": "abc"}), "secret_access_key: credentials do not belong in corpus"),
    (section("storage", s3={"endpoint": "key:word@host"}), "endpoint: received what is not shown, since it may hold"),
    (source(max_bad_rows=1.5), "sources.0.max_bad_rows: received 1.5 (float)"),
    (source(epochs=0), "sources: every source has epochs 0, so the corpus would be empty"),
    (section("engine", workers=-1), "engine.workers: received -1 (int)"),
    (section("engine", workers="many"), "engine.workers: received 'many' (str); valid: 'auto', or a whole number"),
    (section("engine", kind="ray", address="ray://head"), "valid with kind ray: auto, local, HOST or HOST:PORT"),
    (section("engine", kind="ray", workers=0), "workers is 0; valid with kind ray: auto, or at least 1"),
    (section("engine", address="head"), "address: only with kind ray"),
    (section("dedup", keep=["first", "longest"]), "dedup: keep: nothing can come after 'first', which leaves no ties"),
    (section("dedup", keep=["longest", "longest"]), "dedup: keep: a rule is named twice in longest, longest"),
    (
        section("dedup", priority=["books"]),
        "dedup: priority: without effect unless keep names 'source'; keep is first",
    ),
    (section("minhash", shingle={"unit": "char", "length": 3}), "minhash: shingle.length: unknown key"),
    (section("minhash", shingle={"width": 3}, width=4), "minhash: width: given in shingle too; give it once"),
    (
        section("minhash", threshold=0.5, bands=3),
        "minhash: threshold 0.5 with 128 permutations gives 25 bands of 5 rows",
    ),
    (section("minhash", bands=22), "minhash: bands x rows = 22 x 6 = 132 values, but a signature has 128"),
    ({"sources": [SOURCE, SOURCE]}, "sources: 'a' named twice; names must differ"),
    ({"sources": [SOURCE], "datasets": [{"name": "t"}, {"name": "t"}]}, "datasets: 't' named twice"),
    (
        dataset(sequence_length=2, minimum_length=0, short_sequence_probability=0.5),
        "datasets.0: sequence_length is 2; valid with short sequences: 3 or more",
    ),
    (dataset(sequence_length=8, minimum_length=10), "datasets.0: minimum_length is 10; valid: at most 9"),
    (dataset(mode="lmm"), "datasets.0: received 'lmm' as 'mode'; valid: 'lm', 'lm_vsl'"),
    (dataset(input="raw"), "datasets.0.input: received 'raw' (str); valid: 'train', 'decontaminated_train'"),
    (section("split", method="slimpajama", holdout={"count": 1}), "split: holdout must be a share"),
    (source(holdout=0.1) | {"split": {"method": "slimpajama"}}, "sources.0.holdout: split.method slimpajama takes no"),
    (source(holdout=0.1) | {"compat": "slimpajama"}, "sources.0.holdout: split.method slimpajama takes no"),
    (section("compat"), "compat: received {} (dict); valid: 'slimpajama'"),
    ({"sources": [SOURCE], "compat": "dolma"}, "compat: received 'dolma' (str); valid: 'slimpajama'"),
    ({"sources": [SOURCE], 1: 2}, "1: received 1 (int); keys should be strings"),
]


@pytest.mark.parametrize(
    "location",
    [
        "https://user:hunter2@host/list.txt",
        "https://user:hun/ter2@host/list.txt",
        "https://host/list.txt?key=hunter2",
        "s3://user:hunter2@bucket/raw",
        "hf://user:hunter2@datasets/org/name",
        "ftp://hunter2@host/raw",
    ],
)
def test_no_message_shows_what_may_be_a_credential(location: str) -> None:
    with pytest.raises(ConfigError, match=r"sources\.0\.location: received what is not shown") as found:
        parse_config(source(location=location), "here.yaml")
    assert "ter2" not in str(found.value)


@pytest.mark.parametrize(("values", "message"), FAULTS, ids=[fault[1][:60] for fault in FAULTS])
def test_faults_name_key_value_and_what_is_valid(values: Any, message: str) -> None:
    with pytest.raises(ConfigError) as refused:
        parse_config(values, "here.yaml")
    first, *lines = str(refused.value).splitlines()
    assert first == "here.yaml: cannot be used"
    assert any(message in line for line in lines), lines


@pytest.mark.parametrize(
    "address", ["https://user:word@host/a.txt", "https://host/a.txt?token=word", "s3://k:word@b/a"]
)
def test_no_fault_shows_what_may_be_a_credential(address: str) -> None:
    tokenizer = {"kind": "tokenizer_json", "path": address}
    values = {**source(location=address), "remove": {"location": address}, "tokenizer": tokenizer}
    with pytest.raises(ConfigError) as refused:
        parse_config(values)
    assert str(refused.value).count("received what is not shown, since it may hold credentials (str)") == 3
    assert "word" not in str(refused.value)


def test_every_fault_is_told_once() -> None:
    values = {"sources": [{"location": 3}], "split": {"holdout": 2, "seed": "x"}, "engine": {"workers": "many"}}
    with pytest.raises(ConfigError) as refused:
        parse_config(values)
    paths = [line.strip().split(":")[0] for line in str(refused.value).splitlines()[1:]]
    assert paths == ["sources.0.name", "sources.0.location", "split.seed", "split.holdout", "engine.workers"]


@pytest.mark.parametrize("values", [None, [], "sources", 3])
def test_what_is_no_mapping_is_refused(values: Any) -> None:
    with pytest.raises(ConfigError, match="valid is a mapping with at least `sources`"):
        parse_config(values)


def test_defaults_and_other_spellings() -> None:
    assert config().split.holdout == 0.01
    assert config(split={"holdout": {"count": 7}}).split.holdout == HoldoutCount(count=7)
    assert config(engine={"memory": "1.5 GiB", "workers": 0}).engine.memory == 3 << 29
    assert config(storage={"cache": {"limit": "2 TB"}}).storage.cache.limit == 2 * 10**12
    assert parse_config(source(weight=2.5)).sources[0].epochs == 2.5
    assert parse_config(source(epochs=3)).sources[0].epochs == 3.0
    assert parse_config(source(glob=["a/*", "b/*"])).sources[0].glob == ["a/*", "b/*"]
    assert parse_config({"sources": [SOURCE, {**SOURCE, "name": "b"}]}).sources[1].location == "raw"


def test_what_the_user_writes_of_signatures_takes_the_place_of_the_profiles() -> None:
    chosen = config(compat="slimpajama", minhash={"threshold": 0.5, "shingle": {"unit": "word"}})
    assert (chosen.minhash.bands, chosen.minhash.rows, chosen.minhash.unit, chosen.minhash.width) == (25, 5, "word", 5)
    assert chosen.minhash.family == "legacy"
    guarded = config(compat="slimpajama", dedup={"guard": {"max_cluster": 50}})
    assert (guarded.dedup.guard.action, guarded.dedup.guard.max_cluster, guarded.dedup.max_loss) == ("off", 50, 1.0)


def test_a_profile_lies_under_what_the_user_writes() -> None:
    chosen = config(compat="slimpajama", split={"holdout": 0.5}, mix={"chunks": 3})
    assert (chosen.split.holdout, chosen.split.method) == (0.5, "slimpajama")
    assert (chosen.mix.chunks, chosen.mix.seed, chosen.mix.order) == (3, 42, "slimpajama")
    values = chosen.model_dump()
    for name, keys in PROFILES["slimpajama"].items():
        for key in keys.keys() - ({"holdout"} if name == "split" else set()):
            chosen_value = values[name][key]
            expected = chosen_value | keys[key] if isinstance(keys[key], dict) else keys[key]
            assert chosen_value == expected, (name, key)


def written(folder: Path, text: str) -> Path:
    file = folder / "corpus.yaml"
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sources: []\nmix: {}\nsources: []\n", "key 'sources' is given twice"),
        ("sources:\n- {name: a, location: b, name: c}\n", "key 'name' is given twice"),
        ("a: &x [1]\nb: *x\n", "anchors and aliases"),
        ("a: &x [*x]\n", "anchors and aliases"),
        ("a: !!python/object/apply:os.getcwd []\n", "could not determine a constructor"),
        ("a: !secret b\n", "could not determine a constructor"),
        ("a: [1\n", "expected ',' or ']'"),
        ("a: 1\n---\nb: 2\n", "expected a single document"),
        ("? [a]\n: 1\n", "unhashable key"),
        ("a: 2024-99-99\n", "month must be in 1..12"),
        ("[" * 3000, "nested too deep"),
        ("a: \x07\n", "special characters are not allowed"),
        (
            "".join(f"k{n}: 1\n" for n in range(25_100)),
            "has at most 50,000 keys and values; here are more from line 25,0",
        ),
        ("a: [" + "1, " * 50_100 + "]\n", "has at most 50,000 keys and values"),
    ],
)
def test_yaml_that_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError) as refused:
        load_config(written(tmp_path, text))
    assert message in str(refused.value)
    assert str(tmp_path) in str(refused.value)


def test_the_address_of_a_webhook_is_refused_and_not_shown(tmp_path: Path) -> None:
    hook = "https://hooks.example.org/services/T0/B0/s3cret"
    with pytest.raises(ConfigError) as refused:
        load_config(written(tmp_path, f"sources: [{{name: a, location: b}}]\nnotices: [{{webhook: '{hook}'}}]\n"))
    assert "valid: env:NAME" in str(refused.value)
    assert "s3cret" not in str(refused.value) and "hooks.example.org" not in str(refused.value)


def test_a_key_is_a_word_also_where_yaml_reads_a_truth_value(tmp_path: Path) -> None:
    text = "sources: [{name: a, location: b}]\nnotices: [{on: [ended], command: [a]}]\nown: {x: {yes: true}}\n"
    found = load_config(written(tmp_path, text))
    assert found.notices[0].on == ["ended"]
    assert found.own == {"x": {"yes": True}}


def test_of_many_faults_the_first_are_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as refused:
        load_config(written(tmp_path, "sources: []\n" + "".join(f"key{n}: 1\n" for n in range(1000))))
    lines = str(refused.value).splitlines()
    assert len(lines) == 52 and lines[-1] == "  and 950 more"


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        load_config(tmp_path / "corpus.yaml")
    (tmp_path / "corpus.yaml").write_bytes(b"name: \xff\n")
    with pytest.raises(ConfigError, match="not UTF-8"):
        load_config(tmp_path / "corpus.yaml")
    written(tmp_path, "#" * (5 << 20))
    with pytest.raises(ConfigError, match="a configuration has at most"):
        load_config(tmp_path / "corpus.yaml")


@pytest.mark.parametrize(
    ("root", "location"),
    [("data", "data/raw"), ("raw/out", "raw"), ("data", "data"), ("data", "x/../data"), (".", "r")],
)
def test_raw_files_and_corpus_must_lie_apart(tmp_path: Path, root: str, location: str) -> None:
    values = {"sources": [SOURCE, {"name": "b", "location": location}], "storage": {"root": root}}
    with pytest.raises(ConfigError, match=r"sources\.[01]\.location: received .* overlaps storage\.root"):
        load_config(written(tmp_path, yaml.safe_dump(values)))


@pytest.mark.parametrize("lists", ["data/takedown/ids.txt", "data/lists/*.txt"])
def test_lists_of_removed_documents_lie_outside_the_corpus(tmp_path: Path, lists: str) -> None:
    """`corpus clean` removes files that no record names."""
    values = {"sources": [SOURCE], "storage": {"root": "data"}, "remove": {"location": lists}}
    with pytest.raises(ConfigError, match=r"remove\.location: received .* overlaps storage\.root"):
        load_config(written(tmp_path, yaml.safe_dump(values)))


def test_a_link_does_not_hide_an_overlap(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "link").symlink_to("data")
    values = {"sources": [{"name": "a", "location": "link/raw"}], "storage": {"root": "data"}}
    with pytest.raises(ConfigError, match=r"sources\.0\.location"):
        load_config(written(tmp_path, yaml.safe_dump(values)))


@pytest.mark.parametrize(
    ("tokenizer", "key"),
    [
        ({"kind": "tokenizer_json", "path": "gone.json"}, "tokenizer.path"),
        ({"kind": "neox", "path": "corpus.yaml", "config": "gone.json"}, "tokenizer.config"),
        ({"kind": "gpt2", "merges": "gone.bpe", "encoder": "corpus.yaml"}, "tokenizer.merges"),
        ({"kind": "gpt2", "merges": "corpus.yaml", "encoder": "gone.json"}, "tokenizer.encoder"),
    ],
)
def test_a_missing_tokenizer_file_is_told_by_the_plan(tmp_path: Path, tokenizer: dict[str, str], key: str) -> None:
    (tmp_path / "raw").mkdir()
    corpus = Corpus.open(written(tmp_path, yaml.safe_dump({"sources": [SOURCE], "tokenizer": tokenizer})))
    stage = corpus.graph["tokenizer"]
    with pytest.raises(ConfigError, match=rf"{key}: .*gone.* cannot be read: No such file"):
        corpus.settings.parameters(stage, None)


def test_too_little_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sections, "LEAST_MEMORY", 16 << 20)
    with pytest.raises(ConfigError, match=r"engine\.memory: received '1 KiB' \(str\); valid: at least 16 MiB"):
        config(engine={"memory": "1 KiB"})
    assert config(engine={"memory": "16 MiB"}).engine.memory == 16 << 20


@pytest.mark.parametrize("address", ["auto", "local", "head", "head.example.org:6380"])
def test_the_address_of_a_ray_cluster(address: str) -> None:
    assert config(engine={"kind": "ray", "address": address}).engine.address == address


def test_a_store_of_ones_own_may_have_any_root() -> None:
    own = {"kind": "my_store:opened", "root": "s3://bucket/x"}
    assert with_absolute_paths(config(storage=own), Path("/corpus")).storage.root == "s3://bucket/x"


def test_a_home_and_variables_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for given, meant in (("~/raw", "raw"), ("$HOME/a b", "a b"), ("${HOME}/c", "c")):
        (tmp_path / meant).mkdir()
        read = with_absolute_paths(parse_config(source(location=given)), Path("/corpus"))
        assert read.sources[0].location == str(tmp_path / meant)
    unknown = with_absolute_paths(parse_config(source(location="~nobody-is-called-so/$UNSET")), Path("/corpus"))
    assert unknown.sources[0].location == "/corpus/~nobody-is-called-so/$UNSET"
    stored = with_absolute_paths(config(storage={"root": "~/corpus"}), Path("/corpus"))
    assert stored.storage.root == str(tmp_path / "corpus")
    values = {"sources": [{"name": "a", "location": "~/raw"}], "storage": {"root": "$HOME/raw/out"}}
    with pytest.raises(ConfigError, match=r"overlaps storage\.root"):
        load_config(written(tmp_path, yaml.safe_dump(values)))


def test_two_sources_of_one_folder_must_share_no_file(tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    (tmp_path / "link").symlink_to("raw")
    one, two = SOURCE, {"name": "b", "location": "link"}
    with pytest.raises(ConfigError, match=r"sources\.1\.location: received 'link' with glob .* as in sources\.0"):
        load_config(written(tmp_path, yaml.safe_dump({"sources": [one, two]})))
    apart = [{**one, "glob": "*.jsonl"}, {**two, "glob": ["*.txt", "*.parquet"]}]
    assert len(load_config(written(tmp_path, yaml.safe_dump({"sources": apart}))).sources) == 2


@pytest.mark.parametrize("number", [errno.EIO, errno.EACCES])
def test_a_file_that_the_machine_cannot_read_is_no_wrong_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    path = tmp_path / "corpus.yaml"
    path.write_text(yaml.safe_dump({"sources": [SOURCE]}))
    failing(monkeypatch, "stat", "corpus.yaml", number)
    kind, said = (StorageError, "cannot be read now") if number == errno.EIO else (ConfigError, "cannot be read")
    with pytest.raises(kind, match=rf"corpus\.yaml: {said}: {os.strerror(number)}"):
        load_config(path)


def test_a_link_that_the_machine_cannot_follow_hides_no_overlap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "raw").mkdir()
    (tmp_path / "link").symlink_to("raw")
    path = tmp_path / "corpus.yaml"
    for given in (
        {"sources": [SOURCE, {"name": "b", "location": "link"}]},
        {"sources": [SOURCE], "storage": {"root": "link/store"}},
    ):
        path.write_text(yaml.safe_dump(given))
        with pytest.raises(ConfigError, match=r"share no file|overlaps storage\.root"):
            load_config(path)
        with monkeypatch.context() as patched:
            failing(patched, "lstat", "link")
            with pytest.raises(OSError, match="Input/output error"):
                load_config(path)
