"""What names or reaches a person is found wherever it stands, to the code point, and versions and times are not."""

import ipaddress
import itertools
import json
import string
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from corpus_assets.attributes.registry import BUILT_IN
from corpus_assets.attributes.taggers.personal.pii_of_dolma import ADDRESS, EMAIL, PHONE
from resources.documents.tagger import Text
from resources.formats.documents import Document

TAGGERS = ["pii_regex_v1", "pii_regex_v2", "pii_regex_with_counts_v2", "pii_regex_with_counts_fast_v2"]
REPORTED = Path(__file__).resolve().parents[3] / "shared" / "data" / "reports" / "pii-email-at-end"

SPACES = " \n\t\r\u00a0\u3000"
BESIDE = st.text(st.sampled_from(string.punctuation + SPACES + "«»“”‘’–—…、。（）"), max_size=3)
WORDS = st.sampled_from(["", "Write to", "und", "x", "1", "联系", "Привет"])
LETTERS = st.sampled_from("abcxyzABC019éß")
LOCAL = st.from_regex(r"_?[a-z0-9é]([a-z0-9é._+'-]?[a-z0-9é]|%[g-z]){0,12}", fullmatch=True)
LABEL = st.from_regex(r"[a-z0-9ü]([a-z0-9ü-]{0,8}[a-z0-9ü])?", fullmatch=True)
TOP = st.sampled_from(["example", "org", "de", "co.uk", "xn--p1ai", "рф"])


def found(text: str, tagger: str = "pii_regex_v2") -> dict[str, list[str]]:
    spans = BUILT_IN[tagger].tag(Text(Document("a", text, "s")))
    return {kind: [text[s:e] for s, e, _ in spans[kind]] for kind in (EMAIL, PHONE, ADDRESS) if kind in spans}


@st.composite
def around(draw: st.DrawFn) -> tuple[str, str]:
    """What stands before and behind: nothing, or words that white space or punctuation keeps apart."""
    before, behind = draw(BESIDE), draw(BESIDE)
    left, right = (draw(WORDS) if beside else "" for beside in (before, behind))
    return left + before, behind + right


@given(LOCAL, LABEL, TOP, around())
def test_an_email_is_found_exactly_wherever_it_stands(
    local: str, label: str, top: str, beside: tuple[str, str]
) -> None:
    before, behind = beside
    assume(not label.isdecimal())  # `a@1.org`: not `a@1.2.org`, which is a version.
    assume(not before.endswith(("@", *"._+'-=%")) or not before[:1].isalnum())  # `x+jane@...` is another address.
    signs = before[len(before.rstrip("._+'-%")) :]
    assume("_" not in signs and not signs.endswith("%"))  # `_jane@...` is one too, and `%20jane@...` an escaped space.
    assume(not (local.startswith("_") and behind.startswith("_")))  # Emphasis.
    assume(not behind.startswith((*"._-@", "'")) or not behind[-1:].isalnum())
    address = f"{local}@{label}.{top}"
    for tagger in TAGGERS:
        assert found(before + address + behind, tagger).get(EMAIL) == [address]


@given(
    st.lists(st.tuples(LOCAL, LABEL), min_size=1, max_size=4), st.sampled_from([",", ";", "/", "|", " ", "\n", "><"])
)
def test_every_email_of_a_list_is_found(parts: list[tuple[str, str]], between: str) -> None:
    addresses = [f"{local}@{label}.example" for local, label in parts]
    assume(not any(label.isdecimal() for _, label in parts))
    assert found(between.join(addresses)) == {EMAIL: addresses}


@given(st.ip_addresses(v=4), around())
def test_an_ipv4_address_is_found_wherever_it_stands(address: ipaddress.IPv4Address, beside: tuple[str, str]) -> None:
    before, behind = beside
    assume(len(str(address)) > len("1.2.3.4") and not before.endswith((".", "::")))
    assume(not (behind.startswith(".") and behind[1:2].isdecimal()))
    assert found(before + str(address) + behind).get(ADDRESS) == [str(address)]


@given(st.ip_addresses(v=6, network="2000::/3"), around())
def test_an_ipv6_address_is_found_wherever_it_stands(address: ipaddress.IPv6Address, beside: tuple[str, str]) -> None:
    before, behind = beside
    assume(":" not in (before[-1:], behind[:1]) and "." not in (before[-1:], behind[:1]))
    assert found(before + str(address) + behind).get(ADDRESS) == [str(address)]


NUMBERS = ["(555) 010-9999", "555-010-9999", "555.010.9999", "+1 555 010 9999", "+49 30 5550 1234", "+33 1 23 45 67 89"]


@given(st.sampled_from([*NUMBERS, "+442079460958", "1-800-555-0199", "+1.5550109999", "+49 (0)30 5550-1234"]), around())
def test_a_phone_number_is_found_wherever_it_stands(number: str, beside: tuple[str, str]) -> None:
    before, behind = beside
    assume(not before.endswith(("+", "x")) and not any(map(str.isdecimal, before + behind)))
    assume(not behind.lstrip().startswith("x"))
    assert found(before + number + behind).get(PHONE) == [number]


@pytest.mark.parametrize(
    "text",
    [
        "npm install pkg@1.2.3 and pkg@1.0.0-beta.rc.1 and pkg@v2.0 and @user at x",
        "icon@2x.png, root@localhost, a @ b.example, @media.print",
        "libfoo 1.2.3.4 released, version 10.20.30.40, v10.20.30.40, lib-10.20.30.40.tar.gz, firmware: 10.2.3.40",
        "10.20.30.40-beta1, section 5.2.1.3, 1.02.3.4, 1.2.3.4.5, 999.300.1.2, 10.20.30.40 is released",
        "at 12:30:45, a[1::2], a::b, std::vector, 01:23:45:67:89:ab, 50:06:01:60:3b:a0:1a:2b, ::",
        "pi is 3.1415926535, 2023010112 is an id, on 2024-05-01 12:30:45, 800 824 896 1024, +1.5, 1 + 2",
        "ISBN 978-316-1484, doi: 555 010 9999, a number 030 5550 1234, phone 2024-05-01",
    ],
)
def test_what_only_looks_alike_is_not_found(text: str) -> None:
    assert found(text) == {}


@pytest.mark.parametrize(
    ("text", "kind", "right"),
    [
        ("dns 8.8.8.8, http://1.2.3.4/ and 1.1.1.1:53", ADDRESS, ["8.8.8.8", "1.2.3.4", "1.1.1.1"]),
        ("10.0.0.1-10.0.0.20 and 地址10.0.0.7有", ADDRESS, ["10.0.0.1", "10.0.0.20", "10.0.0.7"]),
        ("::ffff:203.0.113.7, [fe80::1%eth0], ::1", ADDRESS, ["::ffff:203.0.113.7", "fe80::1", "::1"]),
        ("IPv6:2001:db8::1 and [2001:db8::2]:443", ADDRESS, ["2001:db8::1", "2001:db8::2"]),
        ("联系jane@mail.example谢谢, 用户@例子.公司", EMAIL, ["jane@mail.example", "用户@例子.公司"]),
        ("root@[192.0.2.17] or o'brien@a.example's", EMAIL, ["root@[192.0.2.17]", "o'brien@a.example"]),
        ("list-return-7-jane=a.example@b.example", EMAIL, ["list-return-7-jane=a.example@b.example"]),
        ("?mail=jane@a.example&x", EMAIL, ["jane@a.example"]),
        ("user%host@a.example, 100%@b.example", EMAIL, ["user%host@a.example", "100%@b.example"]),
        ("_jane@a.example or '__x_y@a.example'", EMAIL, ["_jane@a.example", "__x_y@a.example"]),
        ("_jane@a.example_ **__x_y@a.example__**", EMAIL, ["jane@a.example", "x_y@a.example"]),
        ("to=x%20jane@a.example&cc=%3Cx%2by@a.example%3E", EMAIL, ["jane@a.example", "x%2by@a.example"]),
        ("jane%40a.example@b.example _@a.example %@a.example", EMAIL, ["jane%40a.example@b.example"]),
        ("jane@a.xn--p1ai-", EMAIL, ["jane@a.xn--p1ai"]),
        ("Tel.: 030 5550 1234, phone 5550109999", PHONE, ["030 5550 1234", "5550109999"]),
        ("555-010-9999/555-010-9998 x12\n555 010 9997", PHONE, ["555-010-9999", "555-010-9998 x12", "555 010 9997"]),
        ("I am doing well. # Call\n555-010-9999", PHONE, ["555-010-9999"]),
    ],
)
def test_what_stands_in_odd_places_is_found(text: str, kind: str, right: list[str]) -> None:
    for tagger in TAGGERS:
        assert found(text, tagger)[kind] == right


def test_a_text_full_of_question_marks_is_looked_at() -> None:
    text = "?" * 20_000 + " jane@mail.example"
    for tagger in TAGGERS:
        assert found(text, tagger) == {EMAIL: ["jane@mail.example"]}


@given(st.text(st.sampled_from("a1.@:-+ ()[]=x\n例"), max_size=120))
def test_spans_of_a_kind_do_not_overlap_and_their_share_is_at_most_one(text: str) -> None:
    spans = BUILT_IN["pii_regex_with_counts_fast_v2"].tag(Text(Document("a", text, "s")))
    for kind in (EMAIL, PHONE, ADDRESS):
        places: Any = spans.get(kind, [])
        assert all(end <= start for (_, end, _), (start, _, _) in itertools.pairwise(places))
    assert text == "" or spans["doc_frac"][0][2] <= 1


@pytest.mark.skipif(not REPORTED.is_dir(), reason="no reported texts")
@pytest.mark.parametrize("tagger", TAGGERS)
def test_the_addresses_of_the_reported_texts(tagger: str) -> None:
    right = json.loads((REPORTED / "expected.json").read_bytes())["addresses"]
    for line in (REPORTED / "raw" / "a.jsonl").read_text().splitlines():
        row = json.loads(line)
        if row["id"] in right:
            assert len(found(row["text"], tagger)[EMAIL]) == right[row["id"]], row
