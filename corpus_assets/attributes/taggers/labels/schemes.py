"""Schemes of labels of languages, and the one that all are mapped to: `eng_Latn`, as GlotLID has it.

A label is a language by ISO 639-3, an underscore, and a script by ISO 15924. Macrolanguages are the language that is
usually meant, as in FineWeb-2: Arabic is `arb_Arab`, Chinese `cmn_Hani`, Estonian `ekk_Latn`. Sources: the labels of
fastText's lid.176 (Joulin et al. 2017), GlotLID v3 (Kargaran et al. 2023), OpenLID v1 and v2 (Burchell et al. 2023),
which has those of FLORES-200.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from functools import lru_cache

PREFIX = "__label__"
UNKNOWN = "und_Zyyy"
"""The label of a text of which a model says nothing."""
_LABEL = re.compile(r"[a-z]{3}_[A-Z][a-z]{3}")
_PARTS = (
    "af:afr als:gsw am:amh an:arg ar:arb as:asm av:ava az:azj ba:bak be:bel bg:bul bh:bho bn:ben bo:bod "
    "br:bre bs:bos ca:cat ce:che co:cos cs:ces cv:chv cy:cym da:dan de:deu dv:div el:ell eml:egl en:eng "
    "eo:epo es:spa et:ekk eu:eus fa:fas fi:fin fr:fra fy:fry ga:gle gd:gla gl:glg gn:gug gu:guj gv:glv "
    "he:heb hi:hin hr:hrv ht:hat hu:hun hy:hye ia:ina id:ind ie:ile io:ido is:isl it:ita ja:jpn jv:jav "
    "ka:kat kk:kaz km:khm kn:kan ko:kor ku:kmr kv:kpv kw:cor ky:kir la:lat lb:ltz li:lim lo:lao lt:lit "
    "lv:lvs mg:plt mk:mkd ml:mal mn:khk mr:mar ms:zsm mt:mlt my:mya nah:nhe ne:npi nl:nld nn:nno no:nob "
    "oc:oci or:ory os:oss pa:pan pl:pol ps:pbt pt:por qu:quz rm:roh ro:ron ru:rus sa:san sc:srd sd:snd "
    "sh:hbs si:sin sk:slk sl:slv so:som sq:als sr:srp su:sun sv:swe sw:swh ta:tam te:tel tg:tgk th:tha "
    "tk:tuk tl:fil tr:tur tt:tat ug:uig uk:ukr ur:urd uz:uzn vi:vie vo:vol wa:wln yi:ydd yo:yor zh:cmn "
)
_OF_THREE = (
    "arz ast azb bar bcl bpy bxr cbk ceb ckb diq dsb dty frr gom hif hsb ilo jbo krc lez lmo lrc mai mhr min mrj mwl "
    "myv mzn nap nds new pam pfl pms pnb rue sah scn sco tyv vec vep vls war wuu xal xmf yue "
)
LID_176 = {**dict(pair.split(":") for pair in _PARTS.split()), **{code: code for code in _OF_THREE.split()}}
"""ISO 639-3 of each label of lid.176."""
_OF_FLORES = {
    "zho_Hans": "cmn_Hani",
    "zho_Hant": "cmn_Hani",
    "cmn_Hans": "cmn_Hani",
    "cmn_Hant": "cmn_Hani",
    "yue_Hant": "yue_Hani",
    "pes_Arab": "fas_Arab",
    "prs_Arab": "fas_Arab",
    "est_Latn": "ekk_Latn",
    "swa_Latn": "swh_Latn",
    "kor_Kore": "kor_Hang",
}
"""Labels of OpenLID that GlotLID writes otherwise."""
_SCRIPTS = {
    **{"Latin": "Latn", "Cyrillic": "Cyrl", "Arabic": "Arab", "Devanagari": "Deva", "Han": "Hani", "Hiragana": "Hira"},
    **{"Katakana": "Kana", "Hangul": "Hang", "Greek": "Grek", "Hebrew": "Hebr", "Thai": "Thai", "Bengali": "Beng"},
    **{
        "Tamil": "Taml",
        "Telugu": "Telu",
        "Kannada": "Knda",
        "Malayalam": "Mlym",
        "Gujarati": "Gujr",
        "Gurmukhi": "Guru",
    },
    **{"Oriya": "Orya", "Sinhala": "Sinh", "Khmer": "Khmr", "Lao": "Laoo", "Myanmar": "Mymr", "Tibetan": "Tibt"},
    **{
        "Georgian": "Geor",
        "Armenian": "Armn",
        "Ethiopic": "Ethi",
        "Thaana": "Thaa",
        "Syriac": "Syrc",
        "Tifinagh": "Tfng",
    },
    **{"Mongolian": "Mong", "Cherokee": "Cher", "Canadian_Aboriginal": "Cans", "Ol_Chiki": "Olck", "Nko": "Nkoo"},
    **{
        "Javanese": "Java",
        "Balinese": "Bali",
        "Sundanese": "Sund",
        "Meetei_Mayek": "Mtei",
        "Yi": "Yiii",
        "Adlam": "Adlm",
    },
    **{"Bopomofo": "Bopo", "Coptic": "Copt", "Gothic": "Goth", "Buginese": "Bugi", "Tai_Le": "Tale", "Vai": "Vaii"},
}
"""ISO 15924 by the name that Unicode has for a script."""
_COMBINED = {"jpn": "Jpan", "kor": "Hang", "cmn": "Hani", "wuu": "Hani", "yue": "Hani"}
"""Languages whose script stands beside Latin letters, or beside another, in most texts."""
_LOOKED_AT = 8000
"""Code points of a text whose letters tell its script."""


def mapper(labels: Iterable[str]) -> Callable[[str, str], str]:
    """Returns a function of one of a model's labels and a text that gives the label with its script.

    `ValueError` names a label of no known scheme.
    """
    bare = [label.removeprefix(PREFIX) for label in labels]
    strange = next((one for one in bare if not _LABEL.fullmatch(one)), None)
    if strange is None:
        return _with_script
    unknown = next((one for one in bare if one not in LID_176), None)
    if unknown is not None:
        first = strange if _LABEL.fullmatch(unknown) else unknown
        raise ValueError(
            f"the label {first!r} is of no scheme that is known; valid: labels such as eng_Latn for all (GlotLID, "
            "OpenLID), or the codes of lid.176"
        )
    return _without_script


def _with_script(label: str, _: str) -> str:
    bare = label.removeprefix(PREFIX)
    return _OF_FLORES.get(bare, bare)


def _without_script(label: str, text: str) -> str:
    language = LID_176[label.removeprefix(PREFIX)]
    return f"{language}_{_COMBINED.get(language) or script_of(text)}"


def script_of(text: str) -> str:
    """Returns the script of most of the first letters of a text by ISO 15924; `Zyyy` without letters."""
    letters = Counter(character for character in text[:_LOOKED_AT] if character.isalpha())
    scripts: Counter[str] = Counter()
    for letter, count in letters.items():
        scripts[_script(letter)] += count
    return max(sorted(scripts), key=scripts.__getitem__, default="Zyyy")


@lru_cache(maxsize=1 << 16)
def _script(letter: str) -> str:
    import regex

    found = (code for name, code in _SCRIPTS.items() if regex.match(rf"\p{{Script={name}}}", letter))
    return next(found, "Zyyy")
