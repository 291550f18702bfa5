"""Resolve coreference with F-coref (Otmazgin, Cattan and Goldberg 2022; MIT), in the environment envs/fastcoref.yaml.

Heads, names of persons, pronouns and sentences are those of spaCy's English pipeline.
"""

from resolving import arguments, missing, run

ENVIRONMENT = "envs/fastcoref.yaml"
PIPELINE = "en_core_web_sm"


def main():
    """Resolve the documents that the command line names."""
    given = arguments(__doc__)
    try:
        import spacy
        from fastcoref import FCoref
    except ImportError as error:
        missing(error.name, ENVIRONMENT)
    pipeline = spacy.load(PIPELINE)
    model = FCoref(model_name_or_path=given.model, nlp=pipeline, enable_progress_bar=False)

    def resolve(texts):
        found = []
        for text in texts:
            try:
                document = pipeline(text)
                (prediction,) = model.predict(texts=[text])
                clusters = prediction.get_clusters(as_strings=False)
                spans = [[document.char_span(a, b, alignment_mode="expand") for a, b in some] for some in clusters]
                found.append((document, [[span for span in some if span is not None] for some in spans]))
            except Exception as error:  # one document must not end the others; it is counted and named
                found.append(error)
        return found

    run(given, resolve)


if __name__ == "__main__":
    main()
