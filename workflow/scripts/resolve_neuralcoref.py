"""Resolve coreference as deng2022 did: neuralcoref 4 on spaCy 2, in the environment envs/neuralcoref.yaml."""

from resolving import arguments, missing, run

ENVIRONMENT = "envs/neuralcoref.yaml"
PIPELINE = "en_core_web_lg"


def main():
    """Resolve the documents that the command line names."""
    given = arguments(__doc__)
    try:
        import neuralcoref
        import spacy
    except ImportError as error:
        missing(error.name, ENVIRONMENT)
    pipeline = spacy.load(PIPELINE)
    pipeline.add_pipe(pipeline.create_pipe("sentencizer"))
    neuralcoref.add_to_pipe(pipeline)

    def resolve(texts):
        resolved = []
        for text in texts:
            try:
                document = pipeline(text)
                resolved.append((document, [list(cluster.mentions) for cluster in document._.coref_clusters or []]))
            except Exception as error:  # an error of one document must not end the others; it is counted and reported
                resolved.append(error)
        return resolved

    run(given, __file__, resolve)


if __name__ == "__main__":
    main()
