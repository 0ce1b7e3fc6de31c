import csv
import gzip
import io
import json
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.raw.readers import BadRow, Limits, RawFile, RowRules, read_documents
from corpus_assets.raw.rows.rules import FormatOptions
from resources.errors import BadFileError
from resources.formats.codecs import BUFFER_BYTES
from resources.formats.documents import Document

VALUES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)


def read(
    name: str, content: bytes, options: FormatOptions | None = None, limits: Limits | None = None, **rules: Any
) -> list[Document | BadRow]:
    file = RawFile(name, lambda: io.BytesIO(content))
    return list(read_documents(file, RowRules("s", options=options or FormatOptions(), **rules), limits or Limits()))


def written(rows: list[list[str]], **how: Any) -> bytes:
    out = io.StringIO(newline="")
    csv.writer(out, **how).writerows(rows)
    return out.getvalue().encode()


def texts(rows: list[Document | BadRow]) -> list[str]:
    return [row.text if isinstance(row, Document) else f"{row.where}: {row.reason}" for row in rows]


@given(
    rows=st.lists(st.lists(VALUES, min_size=2, max_size=2), max_size=6),
    ends=st.sampled_from(["\r\n", "\n", "\r"]),
    delimiter=st.sampled_from(",;\t|"),
    mark=st.booleans(),
)
def test_every_value_that_was_written_is_read(rows: list[list[str]], ends: str, delimiter: str, mark: bool) -> None:
    table = [["text", "note"], *rows]
    content = written(table, lineterminator=ends, delimiter=delimiter, quoting=csv.QUOTE_ALL)
    found = read("a.csv", b"\xef\xbb\xbf" * mark + content, FormatOptions(delimiter))
    documents = [row for row in found if isinstance(row, Document)]
    assert documents == found
    notes = [json.loads(bytes(row.metadata))["note"] for row in documents]
    assert [[row.text, note] for row, note in zip(documents, notes, strict=True)] == rows
    assert [row.id for row in documents] == [f"a.csv:{n}" for n in range(len(rows))]


@given(content=st.binary(max_size=80).map(lambda end: b'text,x\n"a",b\n' + end), cut=st.integers(0, 90))
def test_any_bytes_give_rows_or_a_bad_file(content: bytes, cut: int) -> None:
    try:
        found = read("a.csv", content[:cut])
    except BadFileError as error:
        assert error.where.startswith("a.csv")
        return
    assert all(isinstance(row, Document) or row.where.startswith("a.csv line ") for row in found)
    assert sum(isinstance(row, Document) for row in found) <= content.count(b"\n") + content.count(b"\r") + 1


def test_lines_end_as_the_first_one_does_and_line_ends_in_quotes_stay() -> None:
    assert texts(read("a.csv", b'text,n\ra,1\r\r"b\rc\nd\r\ne",2\rf,3')) == ["a", "b\rc\nd\r\ne", "f"]
    assert texts(read("a.csv", b'"te\rxt",text\n1,a\n2,"b\r"\n')) == ["a", "b\r"]
    assert texts(read("a.csv", b"text\r\r\na\r\r\n")) == ["a"]
    long = b"text" + b",x" * BUFFER_BYTES + b"\n"
    with pytest.raises(BadFileError, match="two columns with one name"):
        read("a.csv.gz", gzip.compress(long))


@pytest.mark.parametrize(
    ("content", "found", "detail"),
    [
        (b"text,n\na,1\nb\rc,2\nd,3\n", ["a", "a.csv line 3: stray_line_end", "d"], "carriage return stands outside"),
        (b"text,n\ra,1\rb\nc,2\rd,3\r", ["a", "a.csv line 3: stray_line_end", "d"], "a line feed stands outside"),
        (b'text,n\na,1\n"b"c,2\nd,3\n', ["a", "a.csv line 3: bad_quotes", "d"], 'text stands after a closing "'),
    ],
)
def test_faults_of_a_line_are_told_in_our_words(content: bytes, found: list[str], detail: str) -> None:
    rows = read("a.csv", content)
    assert texts(rows) == found
    assert isinstance(rows[1], BadRow)
    assert detail in rows[1].detail


BACKSLASH = FormatOptions(escape="\\")


@pytest.mark.parametrize(
    ("options", "content", "values"),
    [
        (BACKSLASH, rb'"say \"hi\"",1' + b"\n", 'say "hi"'),
        (BACKSLASH, rb'"a ""b"" c",1' + b"\n", 'a "b" c'),
        (BACKSLASH, rb'"C:\new \\ \, \LaTeX\\",1' + b"\n", "C:\\new \\ \\, \\LaTeX\\"),
        (BACKSLASH, b'"a\\\nb \\"",1\n', 'a\\\nb "'),
        (BACKSLASH, rb"a\,b \t \\,1" + b"\n", "a,b \\t \\"),
        (BACKSLASH, b"a\\\nb,1\n", "a\nb"),
        (BACKSLASH, b"a\\\r\nb,1\r\n", "a\r\nb"),
        (FormatOptions("\t", None, escape="\\"), b'say "a\\\tb\\\\\t1\n', 'say "a\tb\\'),
        (FormatOptions(escape="!"), b'"a!"b!c!!",1\n', 'a"b!c!'),
    ],
)
def test_an_escape_character_counts_where_one_is_needed_and_stays_elsewhere(
    options: FormatOptions, content: bytes, values: str
) -> None:
    delimiter = (options.delimiter or ",").encode()
    head = b"text" + delimiter + b"n\n"
    if b"\r" in content:
        head = head.replace(b"\n", b"\r\n")
    rows = read("a.csv", head + content + content, options)
    assert texts(rows) == [values, values]


@given(
    rows=st.lists(st.lists(VALUES, min_size=2, max_size=2), max_size=6),
    ends=st.sampled_from(["\r\n", "\n", "\r"]),
    quoting=st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
    escape=st.sampled_from("\\!^"),
)
def test_every_value_that_was_written_with_escapes_is_read(
    rows: list[list[str]], ends: str, quoting: int, escape: str
) -> None:
    table = [["text", "note"], *rows]
    content = written(table, lineterminator=ends, quoting=quoting, escapechar=escape, doublequote=False)
    found = read("a.csv", content, FormatOptions(escape=escape))
    documents = [row for row in found if isinstance(row, Document)]
    assert documents == found
    assert [[row.text, json.loads(bytes(row.metadata))["note"]] for row in documents] == rows


def test_compressed_tables_and_their_usual_delimiters() -> None:
    table = [["id", "text"], ["1", "one, two"], ["2", 'say "a\tb"']]
    commas, tabs = written(table), written(table, delimiter="\t")
    packed = {
        "a.csv": commas,
        "a.csv.gz": gzip.compress(commas),
        "a.csv.zst": zstandard.compress(commas),
        "A.TSV": tabs,
        "a.tsv.gz": gzip.compress(tabs),
        "a.tsv.zst": zstandard.compress(tabs),
    }
    for name, content in packed.items():
        assert read(name, content) == [Document("1", "one, two", "s"), Document("2", 'say "a\tb"', "s")], name
    with pytest.raises(BadFileError, match=r"csv promises plain bytes, but the content is gzip"):
        read("a.csv", packed["a.csv.gz"])
    with pytest.raises(BadFileError, match="cut or corrupt"):
        read("a.csv.gz", packed["a.csv.gz"][:-4])


def test_names_and_quotes_are_the_sources_own() -> None:
    options = FormatOptions(";", "'", ("nr", "body", "lang"))
    found = read("a.csv", b"7;'it''s; this';en\n8;\"b\";\n", options, text_key="body", id_key="nr")
    assert [(row.id, row.text, bytes(row.metadata)) for row in found if isinstance(row, Document)] == [
        ("7", "it's; this", b'{"lang":"en"}'),
        ("8", '"b"', b'{"lang":""}'),
    ]
    unquoted = FormatOptions(quote=None, columns=("text", "x"))
    assert texts(read("a.tsv", b'say "a\t1\n5" disk\t2\n', unquoted)) == ['say "a', '5" disk']


def test_bad_rows_name_their_lines_and_are_counted() -> None:
    content = b'id,text\n1,"two\nlines"\n2,three,4\n5\n\n6,"x"y\n7,a\0b\n8,\xff\n"9\n",ok\n,no id\n'
    found = read("a.csv", content)
    assert texts(found) == [
        "two\nlines",
        "a.csv line 4: ragged_row",
        "a.csv line 5: ragged_row",
        "a.csv line 7: bad_quotes",
        "a.csv line 8: nul",
        "a.csv line 9: invalid_utf8",
        "ok",
        "a.csv line 12: bad_id",
    ]
    derived = [row.id for row in read("a.csv", content, ids="derived") if isinstance(row, Document)]
    assert derived == ["a.csv:0", "a.csv:6", "a.csv:7"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'id,text\n1,a\n2,"open\n3,b\n', r"a\.csv line 3 to 4: a quote is open where the file ends"),
        (b"id,body\n1,a\n", r"no column 'text'; columns: 'id', 'body'"),
        (b"text,text\n1,a\n", "two columns with one name"),
        (b"te\0xt\n1\n", "the header cannot be read"),
        (b'te\xff,"text"\n1\n', "the header cannot be read"),
        (b'"text"x\n1\n', r"line 1: the header cannot be read"),
        (b'a,te\rxt\nb\n"c\rd",e\n', "no column 'text'"),
        (b'id,text\r1,"open\r2,b\r', r"a\.csv line 2 to 3: a quote is open where the file ends"),
        (b"," * 100_000 + b"\nb\n", "two columns with one name; columns: ('', ){39}'' [.]{3}$"),
        ("text\na\n".encode("utf-16"), "starts like UTF-16"),
    ],
)
def test_tables_that_cannot_be_trusted(content: bytes, message: str) -> None:
    with pytest.raises(BadFileError, match=message):
        read("a.csv", content)


def test_tables_without_rows() -> None:
    assert read("a.csv", b"") == read("a.csv", b"\xef\xbb\xbf") == read("a.csv", b"id,text\n") == []


def test_a_quote_that_is_never_closed_takes_no_more_than_a_row_may_have() -> None:
    class Kept(io.BytesIO):
        def close(self) -> None:
            """The place where reading stopped can be looked at."""

    content = Kept(b'text\n"' + b"all of this is one row\n" * 200_000)
    with pytest.raises(BadFileError, match=r"a\.csv line 2: the row is over the limit of 100000 bytes"):
        list(read_documents(RawFile("a.csv", lambda: content), RowRules("s"), Limits(line_bytes=100_000)))
    assert content.tell() <= BUFFER_BYTES + 100_000
