"""However large a corpus is, its page stays small, and says what it leaves out."""

from corpus_assets.report.duplicates import _largest_pairs
from corpus_assets.report.model import (
    VERSION,
    Dataset,
    Duplicates,
    Loss,
    Measure,
    Model,
    Source,
    Split,
    Stage,
    Step,
    decode,
    encode,
)
from corpus_assets.report.page import page
from corpus_assets.report.timings import Slow, Timing, Timings

SOURCES = [f"source-{number:03d}" for number in range(200)]


def large() -> Model:
    """A report on 200 sources, each of which repeats each, with 40 reasons, 30 datasets and 300 assets."""
    counted = {name: {"documents": 10**9 + n, "text_bytes": 10**12, "tokens": 10**11} for n, name in enumerate(SOURCES)}
    losses = [Loss(f"rule.{number}", 200, dict.fromkeys(SOURCES, 1)) for number in range(40)]
    names = ("raw rows", "read", "filtered", "kept", "with repeats", "without holdout", "train")
    steps = [Step(name, name, 10**11, 10**14, counted, losses, ["x" * 240] * 8) for name in names]
    pairs, left_out = _largest_pairs({one: dict.fromkeys(SOURCES, 7) for one in SOURCES})
    licences = {f"licence {number}": {"documents": 1} for number in range(100)}
    removed = {name: {"documents": 9, "removed": 1} for name in SOURCES}
    splits = ("decontaminated_train", "validation", "test", "train", "holdout")
    dataset = Dataset("d", "hdf5, lm", "decontaminated_train", 1024, 9, 9, by_source=counted, lengths=[1] * 30)
    return Model(
        version=VERSION,
        name="large",
        sources=[Source(name, "MIT", "raw", licences=licences) for name in SOURCES],
        steps=steps,
        splits=[Split(name, 9, 9, counted) for name in splits],
        datasets=[dataset] * 30,
        lengths={"normalized_documents": [1] * 30},
        duplicates=Duplicates(9, 9, 9, removed, {"2": 9}, pairs, left_out),
        benchmarks=[],
        measures=[Measure("a", f"a__t__{n}", list(range(201)), [1] * 200, 0, {"filter: max 3": 3}) for n in range(60)],
        measures_left_out=400,
        configuration={"attributes": [{}], "sources": SOURCES},
        stages={f"asset-{number}": Stage("1", 10_000, "0" * 32) for number in range(300)},
    )


def test_a_page_of_two_hundred_sources_is_under_five_megabytes() -> None:
    model = large()
    content = encode(model)
    assert decode(content) == model
    assets = [Timing(f"asset-{number}", 10_000, 1.0, 1.0, 0.0, 9, 9) for number in range(300)]
    shown = page(model, content, Timings(assets, [Slow("asset/one", 1.0, 9)] * 20, ("", ""), {}))
    assert len(shown.encode()) < 5_000_000
    assert "140 other sources" in shown
    assert "240 more are not shown" in shown
    assert "400 more are not shown" in shown


def test_pairs_of_sources_beyond_the_largest_are_counted() -> None:
    pairs, left_out = _largest_pairs({one: {two: 3 if one == two else 1 for two in SOURCES} for one in SOURCES})
    assert pairs is not None
    assert all(pairs[name][name] == 3 for name in SOURCES)
    assert sum(count for of in pairs.values() for count in of.values()) + left_out == 200 * 3 + 199 * 200
    assert _largest_pairs(None) == (None, 0)
