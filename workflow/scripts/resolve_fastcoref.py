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

    def predicted(texts):
        """Clusters of each text; where a batch fails, of each by itself, so that one does not end the others."""
        try:
            return [some.get_clusters(as_strings=False) for some in model.predict(texts=texts)]
        except Exception as error:  # whatever the model may raise
            return [error] if len(texts) == 1 else [found for text in texts for found in predicted([text])]

    def resolve(texts):
        found = []
        for text, clusters in zip(texts, predicted(texts)):
            try:
                if isinstance(clusters, Exception):
                    raise clusters
                document = pipeline(text)
                spans = [[document.char_span(a, b, alignment_mode="expand") for a, b in some] for some in clusters]
                found.append((document, [[span for span in some if span is not None] for some in spans]))
            except Exception as error:  # one document must not end the others; it is counted and named
                found.append(error)
        return found

    run(given, __file__, resolve)


if __name__ == "__main__":
    main()
