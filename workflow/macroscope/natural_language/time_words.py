"""Words that order events in time, by language: words of opposite sense, and names of days and months.

Words that have another sense as often are left out: "last" (of a row), "next" alone (to a place), "May", German "vor"
and "nach" (of places), "morgen" and Spanish "mañana" (morning).
"""

OPPOSITES: dict[str, dict[str, str]] = {
    "de": {
        "bevor": "nachdem",
        "zuvor": "danach",
        "vorher": "nachher",
        "früher": "später",
        "gestern": "übermorgen",
        "zuerst": "zuletzt",
        "anfangs": "schließlich",
        "morgens": "abends",
    },
    "en": {
        "before": "after",
        "beforehand": "afterwards",
        "earlier": "later",
        "previously": "subsequently",
        **{f"previous {unit}": f"next {unit}" for unit in ("day", "night", "week", "month", "year", "time")},
        "yesterday": "tomorrow",
        "at first": "at last",
        "firstly": "lastly",
        "initially": "finally",
        "morning": "evening",
        "dawn": "dusk",
        "sunrise": "sunset",
    },
    "es": {
        "antes": "después",
        "anteriormente": "posteriormente",
        "previamente": "seguidamente",
        "inicialmente": "finalmente",
    },
    "fr": {
        "avant": "après",
        "hier": "demain",
        "auparavant": "ensuite",
        "précédemment": "ultérieurement",
        "plus tôt": "plus tard",
        "d'abord": "enfin",
    },
    "it": {
        "prima": "dopo",
        "ieri": "domani",
        "precedentemente": "successivamente",
        "inizialmente": "infine",
        "mattina": "sera",
    },
    "nl": {
        "voordat": "nadat",
        "gisteren": "overmorgen",
        "eerder": "later",
        "vooraf": "achteraf",
        "aanvankelijk": "uiteindelijk",
    },
    "pt": {
        "antes": "depois",
        "ontem": "amanhã",
        "anteriormente": "posteriormente",
        "inicialmente": "finalmente",
    },
}
"""Language -> words, in lower case, of opposite sense; each word is in one pair alone."""

CALENDAR: dict[str, tuple[frozenset[str], ...]] = {
    "de": (frozenset("Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag".split()),),
    "en": (
        frozenset("Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()),
        frozenset("January February April June July August September October November December".split()),
    ),
    "es": (frozenset("lunes martes miércoles jueves viernes sábado domingo".split()),),
    "fr": (frozenset("lundi mardi mercredi jeudi vendredi samedi dimanche".split()),),
    "it": (frozenset("lunedì martedì mercoledì giovedì venerdì sabato domenica".split()),),
    "nl": (frozenset("maandag dinsdag woensdag donderdag vrijdag zaterdag zondag".split()),),
    "pt": (),
}
"""Language -> groups of names, as they are written within a sentence."""
