"""Source `simulated`: corpora that are made from a process that is known exactly, in an upstream format."""

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
        "hsmm": Simulation("hsmm:write_corpus", "webtext.jsonl", "webtext", f"{_SHAPING} hsmm", "hsmm:draw"),
        "languages": Simulation(
            "languages:write_corpus", "webtext.jsonl", "webtext", _SHAPING, "languages:draw", _LANGUAGES
        ),
        "people": Simulation(
            "people:write_corpus",
            "webtext.jsonl",
            "webtext",
            _SHAPING,
            "people:draw",
            _PEOPLE,
            (*ORDERS, "wrong_gender", "no_antecedent", "merged", "split"),
        ),
        "scripts": Simulation("scripts:write_corpus", "webtext.jsonl", "webtext", _SHAPING, "scripts:draw", _SCRIPTS),
        "topics": Simulation("topics:write_corpus", "webtext.jsonl", "webtext", _SHAPING, "topics:draw", _TOPICS),
        "webtext": Simulation(
            "wiki:write_webtext", "webtext.jsonl", "webtext", _SHAPING, "articles:draw_texts", _WORDING
        ),
        "wiki": Simulation(
            "wiki:write_corpus", "pages-articles.xml.bz2", "wikipedia", _SHAPING, "articles:draw", _WORDING
        ),
    },
)
