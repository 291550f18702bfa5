"""Articles by language, for perturbations. Those of other words, as in Swedish "huset", are no words."""

ARTICLES = {
    "ca": ("el", "la", "els", "les", "un", "una", "uns", "unes"),
    "de": tuple("der die das den dem des ein eine einen einem einer eines".split()),
    "en": ("a", "an", "the"),
    "es": ("el", "la", "los", "las", "un", "una", "unos", "unas"),
    "fr": ("le", "la", "les", "un", "une", "des"),
    "gl": ("o", "a", "os", "as", "un", "unha", "uns", "unhas"),
    "hu": ("a", "az", "egy"),
    "it": ("il", "lo", "la", "i", "gli", "le", "un", "uno", "una"),
    "nl": ("de", "het", "een"),
    "pt": ("o", "a", "os", "as", "um", "uma", "uns", "umas"),
}
"""Articles that are words of their own, in lower case; an elided one, as in "l'eau", is a part of the next word."""
