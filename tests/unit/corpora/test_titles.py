import pytest

from macroscope.corpora.titles import normalise_title


@pytest.mark.slow
@pytest.mark.parametrize(
    ("title", "standard"),
    [
        ("Materials and Methods", "material and method"),  # the forms of the paper's Table 18
        ("Results", "result"),
        ("RESULTS AND DISCUSSION", "result and discussion"),
        ("Demographics", "demographic"),
        ("Case Report", "case report"),
        ("Acknowledgements", "acknowledgment"),
        ("External links", "external link"),
        ("See also", "see also"),
        ("References", "reference"),
        ("2. Methods & Materials", "method and material"),
        ("IV. Results", "result"),
        ("Playing career", "playing career"),
        ("''Early'' life 1950–1970", "early life"),
        ("Analyses", "analysis"),
        ("Children", "child"),
        ("1998", "1998"),
        ("The 1990s", "the 1990s"),
        ("3. C++ and C#", "c++ and c#"),
    ],
)
def test_english_titles(title, standard):
    assert normalise_title(title) == standard


@pytest.mark.parametrize("language", ["en", "hi"])
def test_marks_are_parts_of_words(language):
    """Vowels of Indic scripts, Hebrew and Arabic, and Thai signs are marks; without them, words would be the same."""
    titles = "काम किम माता मौत मिति কাল কুল கலை كِتاب ประวัติ שָׁלוֹם".split()
    normalised = [normalise_title(title, language) for title in titles]
    assert len(set(normalised)) == len(titles)
    assert all(" " not in title for title in normalised)


def test_normalisation_is_idempotent():
    for title in ("material and method", "result", "early life", "see also", "behavior", "acknowledgment"):
        assert normalise_title(title) == title


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "title", "standard"), [("it", "Note", "nota"), ("de", "Einzelnachweise", "einzelnachweis")]
)
def test_other_languages(language, title, standard):
    assert normalise_title(title, language) == standard
