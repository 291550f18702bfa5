"""The shared part of the resolvers with their own environments: documents in, a file of mentions out.

It runs on Python 3.7 and later, with pyarrow and spaCy 2 or 3, without macroscope: the environments differ. The format
is that of workflow/macroscope/critics/coreference/mentions.py. Finished parts stay beside the output until it is
complete, and a killed job resumes after them.
"""

import argparse
import hashlib
import os
import pathlib
import re
import shutil
import sys

import pyarrow as pa
import pyarrow.parquet as pq

AT_ONCE = 200
MENTION = pa.struct(
    [
        ("start", pa.int32()),
        ("end", pa.int32()),
        ("head_start", pa.int32()),
        ("head_end", pa.int32()),
        ("entity", pa.int32()),
        ("pronoun", pa.bool_()),
        ("person", pa.bool_()),
    ]
)
SCHEMA = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("sentence_starts", pa.list_(pa.int32())),
        pa.field("mentions", pa.list_(MENTION)),
        pa.field("error", pa.string()),
    ]
)
SKIPPED = {"sentence_starts": [], "mentions": [], "error": None}
# The list of the released code (infer_coreference_chains.py of deng2022), and "itself".
NO_PERSON = ("it", "its", "itself", "cleaves")


def arguments(description):
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--documents", required=True, help="documents or samples (Parquet)")
    parser.add_argument("--output", required=True, help="file of mentions to write (Parquet)")
    parser.add_argument("--model", default="", help="name or folder of the model")
    parser.add_argument("--weights", default="", help="archive with the weights of neuralcoref")
    parser.add_argument("--split", default="", help="only documents of this split")
    parser.add_argument("--word", action="append", default=[], help="resolve only texts with this word; repeatable")
    parser.add_argument("--shard", type=int, default=0)
    parser.add_argument("--documents-per-shard", type=int, default=0, help="0: all are one shard")
    return parser.parse_args()


def missing(package, environment):
    """Exit with one sentence about a missing package."""
    sys.exit(
        "error: the package '%s' is not installed here; run this script with the Python of the environment %s, which"
        " 'macroscope critics make-environment' makes" % (package, environment)
    )


def run(given, script, resolve):
    """Resolve all documents.

    Parameters
    ----------
    given
        The parsed command line.
    script
        Path of the calling script.
    resolve
        Function of a list of texts that returns for each (spaCy document, clusters, each a list of its spans), or an
        exception.
    """
    folder = given.output + ".parts"
    os.makedirs(folder, exist_ok=True)
    words = [re.compile(r"(?<!\w)%s(?!\w)" % re.escape(word)) for word in given.word]
    code = digest(given.model, str(given.word), *[pathlib.Path(path).read_text("utf-8") for path in (script, __file__)])
    parts, done = [], 0
    for documents in batches(given):
        # A part is named after all its inputs, so that parts of another run are not reused.
        part = os.path.join(folder, "%s.parquet" % digest(code, *[word for pair in documents for word in pair]))
        parts.append(part)
        if not os.path.exists(part):
            texts = {name: text for name, text in documents if all(word.search(text) for word in words)}
            resolved = dict(zip(texts, resolve(list(texts.values()))))
            rows = [row(name, resolved[name]) if name in resolved else dict(SKIPPED, id=name) for name, _ in documents]
            write(part, [pa.Table.from_pydict({n: [r[n] for r in rows] for n in SCHEMA.names}, SCHEMA)])
        done += len(documents)
        print("resolved %d documents" % done, file=sys.stderr)
    write(given.output, (pq.read_table(part) for part in parts))
    shutil.rmtree(folder)


def digest(*words):
    """Return a digest of words."""
    hasher = hashlib.sha256()
    for word in words:
        hasher.update(word.encode("utf-8", "surrogatepass") + b"\0")
    return hasher.hexdigest()[:32]


def batches(given):
    """Yield lists of (id, text) of the requested documents; other row groups are not read."""
    size = given.documents_per_shard
    first, last = (given.shard * size, (given.shard + 1) * size) if size else (0, float("inf"))
    file = pq.ParquetFile(given.documents)
    batch, begin = [], 0
    for group in range(file.num_row_groups):
        end = begin + file.metadata.row_group(group).num_rows
        if end > first and begin < last:
            for at, document in enumerate(rows_of(file.read_row_group(group, ["id", "split", "sections"])), begin):
                if not first <= at < last or (given.split and document["split"] != given.split):
                    continue
                text = "\n".join(section["text"] for section in document["sections"])
                batch.append((document["id"], text))
                if len(batch) == AT_ONCE:
                    yield batch
                    batch = []
        begin = end
    if batch:
        yield batch


def rows_of(table):
    """Return the rows of a table as dictionaries."""
    columns = table.to_pydict()
    names = list(columns)
    return [dict(zip(names, values)) for values in zip(*columns.values())]


def row(name, result):
    """Return a row of `SCHEMA`; a failed document has only an error."""
    if isinstance(result, Exception):
        error = "%s: %s" % (type(result).__name__, result)
        return {"id": name, "sentence_starts": [], "mentions": [], "error": error}
    document, clusters = result
    mentions = [mention(span, number) for number, cluster in enumerate(clusters) for span in cluster]
    starts = [token.idx for token in document if token.i == 0 or token.is_sent_start]
    return {"id": name, "sentence_starts": starts, "mentions": mentions, "error": None}


def mention(span, entity):
    """Return a `MENTION` from a span of spaCy; personal pronouns and names of persons are persons."""
    head = span.root
    pronoun = head.pos_ == "PRON" or head.tag_ in ("PRP", "PRP$")
    pronoun = pronoun and head.lower_ not in NO_PERSON
    return {
        "start": span.start_char,
        "end": span.end_char,
        "head_start": head.idx,
        "head_end": head.idx + len(head.text),
        "entity": entity,
        "pronoun": pronoun,
        "person": pronoun or head.ent_type_ == "PERSON",
    }


def write(path, tables):
    """Write tables to one file, whole or not at all."""
    temporary = path + ".tmp"
    with pq.ParquetWriter(temporary, SCHEMA) as writer:
        for table in tables:
            writer.write_table(table)
    os.replace(temporary, path)
