from macroscope.natural_language.stop_words import stop_words


def test_stop_words_are_those_of_the_language():
    words = stop_words("en")
    assert {"the", "wouldn't", "'s"} <= words
    assert len(words) == 179 + 7
    assert stop_words("tlh") == frozenset()
