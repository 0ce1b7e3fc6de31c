"""Whether a document's URL is in a list (docs/formats/dolma.md "URLs"). The lists are files of the user."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from corpus_assets.attributes.addresses import LOOPBACK, Variants, address, hosts, hosts_of_dolma, listed
from corpus_assets.attributes.lists import Site, addresses_in, lines_of, set_of, sites_in
from corpus_assets.attributes.string_set import StringSet
from resources.documents.tagger import Spans, Tagger, Text
from resources.outside_files import OutsideFile

KIND = "url"
UNSUITED = frozenset(
    [
        "sex",
        "adult",
        "satire",
        "gossip",
        "tabloid",
        "tracker",
        "dating",
        "image",
        "humor",
        "joke",
        "comedy",
        "porn",
        "freemium",
        "betting",
        "casino",
        "gambling",
        "celebrity",
        "4chan",
        "camming",
        "escort",
        "hentai",
        "imageboard",
        "crowdfunding",
        "nudity",
        "comic",
    ]
) | {"social media", "image hosting", "online database", "company", "website"}
UNSUITED_ENDS = (".xxx", ".adult", ".sex", ".porn", ".sexy", ".dating", ".cam", ".tube", ".chat")


def _url(text: Text) -> str:
    """Returns the document's URL; empty if it has no valid one."""
    url = text.metadata.get(KIND)
    try:
        return url if isinstance(url, str) and any(address(url)) else ""
    except ValueError:
        return ""


def _url_of_dolma(text: Text) -> str:
    url: str = text.metadata.get(KIND) or ""
    return url


def _hit(text: Text, found: bool) -> Spans:
    return {KIND: text.whole(1.0)} if found else {}


def is_listed(text: Text, lists: StringSet, variants: Variants) -> Spans:
    """Returns 1 if any form of the URL is in the lists, and nothing otherwise."""
    return _hit(text, any(form in lists for form in variants(_url(text))))


def is_listed_as_in_dolma(text: Text, lists: StringSet, variants: Variants) -> Spans:
    """Returns the same; raises an error for a value that is no URL, as in the toolkit."""
    return _hit(text, any(form in lists for form in variants(_url_of_dolma(text))))


def matches_rules(text: Text, lists: Any) -> Spans:
    """Returns 1 if a rule blocks the URL without scheme and query, and nothing otherwise."""
    found = (lists.check_network_urls(f"http://{known}", "", "") for known in address(_url(text)))
    return _hit(text, any(result.matched for result in found))


def rules_in(files: Sequence[OutsideFile]) -> Any:
    """Returns the engine of ad-block rules."""
    import adblock

    rules = adblock.FilterSet()
    rules.add_filters(sorted({line.strip() for file in files for line in lines_of(file) if not line.startswith("!")}))
    return adblock.Engine(rules)


def links_in(files: Sequence[OutsideFile]) -> StringSet:
    """Returns the lines of lists in lower case; those that begin with `#` are comments."""
    return set_of(files, _link)


def _link(line: str) -> Iterator[str]:
    line = line.strip().lower()
    if line and not line.startswith("#"):
        yield line


def parents(url: str) -> Iterator[str]:
    """Yields the host of a URL and the domains above it that have a dot, without `www.`."""
    host = next(hosts(url), "")
    while host.count("."):
        yield host
        host = host.partition(".")[2]


def _base(host: str) -> str:
    """Returns the last three labels of a host with three dots or more; any other host unchanged."""
    return ".".join(host.rsplit(".", 2)[1:]) if host.count(".") > 2 else host


def hosts_and_bases(url: str) -> Iterator[str]:
    """Yields the forms that the toolkit stores in its list of allowed sites."""
    for host in hosts_of_dolma(url):
        yield host
        yield _base(host)


def forms_of_dolma(url: str) -> Iterator[str]:
    """Yields the forms of a URL that the toolkit looks up in that list."""
    for form in hosts_and_bases(url):
        yield from hosts_and_bases(form)


def _site_hosts(site: Site) -> Iterator[str]:
    with suppress(ValueError):
        yield from hosts(site.url or "")


def sites(files: Sequence[OutsideFile]) -> StringSet:
    """Returns the hosts of sites."""
    return StringSet(host for site in sites_in(files) for host in _site_hosts(site))


def suited_sites(files: Sequence[OutsideFile]) -> StringSet:
    """Returns the hosts of sites with a description that contains no excluded word."""
    return StringSet(host for site in sites_in(files) if _is_suited(site) for host in _site_hosts(site))


def _is_suited(site: Site) -> bool:
    words, url = (site.description or "").lower(), site.url or ""
    return site.description is not None and not any(word in words for word in UNSUITED) and not _has_end(url)


def _has_end(url: str) -> bool:
    return any(end in url for end in UNSUITED_ENDS)


def sites_of_dolma(files: Sequence[OutsideFile]) -> StringSet:
    """Returns all sites in the toolkit's form, whatever their description."""
    return StringSet(form for site in sites_in(files) for form in _forms_of_dolma(site))


def _forms_of_dolma(site: Site) -> list[str]:
    found: list[str] = []
    with suppress(ValueError):  # As in the toolkit, which keeps earlier values.
        for host in hosts_and_bases(site.url or ""):
            found.extend(listed(host, hosts_and_bases, ()))
    return found


_TYPES = ("url",)


def _host_list(name: str, source: str) -> Tagger:
    return Tagger(
        name,
        partial(is_listed, variants=hosts),
        version="1",
        types=_TYPES,
        reads=(KIND,),
        gives="`url`: 1 if `lists` name the host of `metadata.url`",
        source=source,
        dolma=partial(is_listed_as_in_dolma, variants=hosts_of_dolma),
        files={"lists": partial(addresses_in, variants=hosts, ignored=LOOPBACK)},
        dolma_files={"lists": partial(addresses_in, variants=hosts_of_dolma, ignored=())},
    )


def _rule_list(name: str, source: str) -> Tagger:
    return Tagger(
        name,
        matches_rules,
        version="1",
        types=_TYPES,
        reads=(KIND,),
        gives="`url`: 1 if an ad-block rule of `lists` blocks `metadata.url`",
        source=source,
        extra="adblock",
        wheels=("adblock",),
        files={"lists": rules_in},
    )


def _site_list(name: str, gives: str, load: Any) -> Tagger:
    return Tagger(
        name,
        partial(is_listed, variants=parents),
        version="1",
        types=_TYPES,
        reads=(KIND,),
        gives=f"`url`: 1 if `lists`, sites in JSON, have the host of `metadata.url` or a domain above {gives}",
        source="Wikidata, as in Dolma",
        dolma=partial(is_listed_as_in_dolma, variants=forms_of_dolma),
        files={"lists": load},
        dolma_files={"lists": sites_of_dolma},
    )


_HOST_LISTS = {
    "domain_blocklist_utp_v1": "Université Toulouse Capitole",
    "domain_blocklist_phishing_v1": "Phishing.Database",
    **{f"blocklist_project_{what}_v1": "The Block List Project" for what in ["nsfw", "social", "crime", "vice", "ads"]},
    **{
        f"blocklist_firebog_{what}_v1": "The Firebog"
        for what in ["ads", "crypto", "malicious", "nsfw", "social", "suspicious", "trackers"]
    },
    **{
        f"blocklist_hosts_{what}_v1": "StevenBlack/hosts"
        for what in ["adware_malware", "fakenews", "gambling", "porn", "social"]
    },
}
_RULE_LISTS = {
    **{f"oisd_{what}_abp_v1": "oisd" for what in ["small", "big", "nsfw"]},
    **{f"brave_{what}_abp_v1": "Brave" for what in ["core", "nsfw"]},
}
_OWN = "a list of your own"
TAGGERS = [
    _host_list("host_list", _OWN),
    *(_host_list(name, f"{source}, as in Dolma") for name, source in _HOST_LISTS.items()),
    Tagger(
        "url_list",
        partial(is_listed, variants=address),
        version="1",
        types=_TYPES,
        reads=(KIND,),
        gives="`url`: 1 if `lists` name host, port and path of `metadata.url`",
        source=_OWN,
        files={"lists": partial(addresses_in, variants=address, ignored=LOOPBACK)},
    ),
    Tagger(
        "link_blocklist_phishing_v1",
        partial(is_listed, variants=address),
        version="1",
        types=_TYPES,
        reads=(KIND,),
        gives="`url`: 1 if host, port and path of `metadata.url` are a line of `lists`",
        source="Phishing.Database, as in Dolma",
        dolma=partial(is_listed_as_in_dolma, variants=address),
        files={"lists": links_in},
    ),
    _rule_list("rule_list", _OWN),
    *(_rule_list(name, f"{source}, as in Dolma") for name, source in _RULE_LISTS.items()),
    _site_list("allowlist_wikidata_v1", "it", sites),
    _site_list("allowlist_wikidata_cleaned_v1", "it, and its description says nothing against it", suited_sites),
]
