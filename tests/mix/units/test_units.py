"""Datasets have the tokens of each bucket that were asked for."""

from pathlib import Path

from tests.mix.units.buckets import TOPIC, counted, mixed


def test_shares_by_topic(tmp_path: Path) -> None:
    shares = {"science": 0.5, "sports": 0.2, "web/forum": 0.2, "missing": 0.1}
    corpus, found = mixed(tmp_path, [TOPIC], {"shares": shares})
    print(counted(corpus), found["mixture"]["units"])
    whole = sum(used["reached"] for used in found["mixture"]["units"].values())
    for unit, share in shares.items():
        used = found["mixture"]["units"][unit]
        assert abs(used["reached"] - used["target"]) <= 20
        assert abs(used["reached"] / whole - share) < 0.001
    assert sum(numbers["tokens"] for numbers in found["sources"].values()) == whole
