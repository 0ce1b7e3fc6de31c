"""Leaders of the groups of split clusters, after they are compared with each other."""

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus_assets.dedup.clusters.guard import Examined
from corpus_assets.dedup.clusters.leaders import Comparison, Groups, compare_leaders
from corpus_assets.dedup.clusters.splits import Split, compare
from corpus_assets.dedup.documents.columns import Column
from corpus_assets.dedup.documents.numbering import Numbering
from corpus_assets.dedup.signatures.scheme import SignatureScheme
from corpus_assets.dedup.similarity.jaccard import occurring
from tests.dedup import oracles
from tests.resources.test_spill import Files

SCHEME, BITS, THRESHOLD = SignatureScheme(unit="word", width=1), 64, 0.6


def jaccard(left: str, right: str) -> float:
    one, other = (oracles.shingles(text, SCHEME) for text in (left, right))
    return len(one & other) / len(one | other)


def comparison(texts: list[str], memory: int) -> Comparison:
    # Equal sketches rule no pair out.
    sketches = np.zeros((len(texts), BITS // 8), dtype=np.uint8)
    return Comparison(
        total=len(texts),
        bits=BITS,
        sketches=Column(Numbering.of([("all", len(texts))]), lambda _: sketches, sketches[:0]),
        texts=lambda bitmap: ((n, texts[n]) for n in np.flatnonzero(occurring(bitmap, 0, len(texts))).tolist()),
        scheme=SCHEME,
        threshold=THRESHOLD,
        memory=memory,
        spill=Files(),
    )


@st.composite
def clusters(draw: st.DrawFn) -> tuple[list[str], list[Groups]]:
    """Texts of few words in clusters; each text is led by one that it is similar to."""
    random = draw(st.randoms(use_true_random=False))
    texts: list[str] = []
    found = []
    for _ in range(draw(st.integers(0, 4))):
        members = range(len(texts), len(texts) + random.randint(2, 15))
        words = random.randint(6, 12)
        texts += [" ".join(random.sample([f"w{n}" for n in range(words)], random.randint(4, 6))) for _ in members]
        ranks = random.sample(range(100), len(members))
        leads: list[int] = [-1] * len(members)
        for place in random.sample(range(len(members)), len(members)):
            like = (
                n for n, of in enumerate(leads) if n == of and jaccard(texts[members[n]], texts[members[place]]) >= 0.6
            )
            leads[place] = next((n for n in like if random.random() < 0.5 and ranks[n] < ranks[place]), place)
        found.append(Groups(np.array(members, np.uint32), np.array(ranks), np.array(leads)))
    return texts, found


@settings(max_examples=200)
@given(clusters(), st.sampled_from([1 << 9, 1 << 24]))
def test_no_two_leaders_are_similar_and_each_text_is_similar_to_its_leader(
    given: tuple[list[str], list[Groups]], memory: int
) -> None:
    texts, groups = given
    before = [group.leads.copy() for group in groups]
    compare_leaders(groups, comparison(texts, memory))
    for group, old in zip(groups, before, strict=True):
        own, leads = [texts[number] for number in group.members.tolist()], group.leads.tolist()
        leaders = sorted(set(leads))
        assert all(leads[leader] == leader for leader in leaders)
        assert not [pair for pair in combinations(leaders, 2) if jaccard(*(own[place] for place in pair)) >= THRESHOLD]
        assert all(jaccard(own[place], own[lead]) >= THRESHOLD for place, lead in enumerate(leads))
        for place in set(old.tolist()):
            better = [n for n in set(old.tolist()) if leads[n] == n and group.ranks[n] < group.ranks[place]]
            alike = [n for n in better if jaccard(own[n], own[place]) >= THRESHOLD]
            assert leads[place] == min(alike, key=lambda n: group.ranks[n], default=place)


def test_copies_go_with_their_text_and_the_best_copy_of_a_leader_is_kept() -> None:
    texts = ["a b c d", "a b c e", "q r s t", "a b c d", "q r s t"]
    members = np.arange(5, dtype=np.uint32)
    examined = Examined(np.array([0, 1, 2, 0, 2]), members[[3, 1, 4]], np.ones(5), 3, 0.1, 1)
    split = Split(3, members, examined, np.array([3, 1, 4, 0, 2]), np.array([[0, 3], [2, 4]], dtype=np.uint32))
    assert compare([split], comparison(texts, 1 << 20)) == 1
    documents, kept, sizes = split.moves()
    assert documents.tolist() == [0, 1, 2, 3, 4]
    assert kept.tolist() == [3, 3, 4, 3, 4]
    assert sizes.tolist() == [3, 3, 2, 3, 2]
    assert split.finding().examined == split.examined
