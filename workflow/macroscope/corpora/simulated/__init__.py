"""Source `simulated`: corpora from exactly known processes, in the formats of real sources."""

from macroscope.corpora.declaration import ORDERS, Simulation, Source

_SHAPING = "source kind documents clutter valid_share test_share"
_WORDING = ("simulated_wording.yaml",)
_LANGUAGES = ("simulated_languages.yaml",)
_TOPICS = ("simulated_topics.yaml",)
_PEOPLE = ("simulated_people.yaml",)
_SCRIPTS = ("simulated_scripts.yaml",)

SOURCE = Source(
    options="options:SimulatedCorpus",
    simulations={
        "hsmm": Simulation("hsmm:write_corpus", "webtext.jsonl", "webtext", f"{_SHAPING} hsmm", "hsmm:generate"),
        "languages": Simulation(
            "languages:write_corpus", "webtext.jsonl", "webtext", _SHAPING, "languages:generate", _LANGUAGES
        ),
        "people": Simulation(
            "people:write_corpus",
            "webtext.jsonl",
            "webtext",
            _SHAPING,
            "people:generate",
            _PEOPLE,
            (*ORDERS, "wrong_gender", "no_antecedent", "merged", "split"),
        ),
        "scripts": Simulation(
            "scripts:write_corpus", "webtext.jsonl", "webtext", _SHAPING, "scripts:generate", _SCRIPTS
        ),
        "topics": Simulation("topics:write_corpus", "webtext.jsonl", "webtext", _SHAPING, "topics:generate", _TOPICS),
        "webtext": Simulation(
            "wiki:write_webtext", "webtext.jsonl", "webtext", _SHAPING, "articles:generate_texts", _WORDING
        ),
        "wiki": Simulation(
            "wiki:write_corpus", "pages-articles.xml.bz2", "wikipedia", _SHAPING, "articles:generate", _WORDING
        ),
    },
)
