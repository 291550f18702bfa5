"""Two prompts with their texts, written as records and read as a user's file."""

import json

from macroscope.documents import Provenance
from macroscope.readers.reading import read_user_documents

PROMPTS = ("Write about a fox.", "Write about rain.")
TEXTS = ("A fox ran.", "It rained.")


def read(path, selection=None):
    """Return (id, prompt, text) of each document, and the source of their provenance."""
    provenance = Provenance("test")
    documents = read_user_documents([path], provenance, 0.1, 0.1, selection)
    return [(document.id, document.prompt, document.text) for document in documents], provenance


def write(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path
