from macroscope.corpora.wikipedia.wikitext import parse_article

HIDDEN = frozenset({"file", "image", "category"})


def sections(text):
    return [(s.title, s.text) for s in parse_article(text, HIDDEN).sections]


def test_markup_is_removed_and_words_are_kept():
    text = (
        "{{Infobox|name=x}}'''Rome''' is a [[city|town]] in [[Italy]].<ref>A book.</ref><!-- hidden -->\n\n"
        "[[File:A.jpg|thumb|A [[picture]]]]It is old &amp; large.\n"
        "== Early ''history'' ==\nIt has 5&nbsp;hills.{{cn}}\n{| class=wikitable\n|-\n| a || b\n|}\n"
        "=== Kings ===\n* Romulus\n* Numa\n"
        "== Gallery ==\n<gallery>A.jpg</gallery>\n[[Category:Cities]]"
    )
    assert sections(text) == [
        ("abstract", "Rome is a town in Italy.\nIt is old & large."),
        ("Early history", "It has 5 hills.\nKings\nRomulus\nNuma"),
    ]


def test_deeper_headings_belong_to_their_section():
    assert [title for title, _ in sections("== A ==\nx\n=== B ===\ny\n==== C ====\nz\n== D ==\nw")] == ["A", "D"]


def test_sections_have_no_blank_lines():
    assert all("\n\n" not in text for _, text in sections("One.\n\n\nTwo.\n\n== A ==\n\nx\n\n\n\ny"))


def test_sections_without_text_are_counted():
    article = parse_article("Lead.\n== A ==\n{{x}}\n== B ==\ntext", HIDDEN)
    assert [s.title for s in article.sections] == ["abstract", "B"]
    assert article.empty_sections == 1


def test_share_of_links():
    assert parse_article("[[All]] [[links]]", HIDDEN).link_share > 0.8
    assert parse_article("No links at all.", HIDDEN).link_share == 0
