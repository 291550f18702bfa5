"""Section classification: sections/s against the paper's way, one section at a time padded to 512 tokens."""

import os
import tempfile
from pathlib import Path

import torch
from _report import quiet, say, seconds

from macroscope.corpora.simulated.articles import simulate_documents
from macroscope.corpora.simulated.genres import wiki_process
from macroscope.critics.coherence.classifier import SectionClassifier, new_classifier

SECTIONS, OF_REFERENCE, MAX_TOKENS = 400, 24, 512


@torch.inference_mode()
def papers_way(classifier: SectionClassifier, texts: list[str]) -> None:
    """Classify one section at a time, padded to the longest length."""
    for text in texts:
        inputs = classifier.tokenizer(
            text, truncation=True, padding="max_length", max_length=MAX_TOKENS, return_tensors="pt"
        )
        classifier.model(**inputs).logits.argmax(-1)


def main() -> None:
    """Print sections/s of both."""
    torch.set_num_threads(os.cpu_count() or 1)
    documents = simulate_documents(wiki_process(), "process", SECTIONS, 1)
    texts = [section.text for document in documents for section in document.sections][:SECTIONS]
    with tempfile.TemporaryDirectory() as name, quiet():
        model, tokenizer = new_classifier("minilm", wiki_process().states, 1)
        model.save_pretrained(name)
        tokenizer.save_pretrained(name)
        classifier = SectionClassifier(Path(name), MAX_TOKENS)
        classifier.logits(texts[:64])
        ours = SECTIONS / seconds(lambda: classifier.logits(texts))
        paper = OF_REFERENCE / seconds(lambda: papers_way(classifier, texts[:OF_REFERENCE]))
        coarse = SectionClassifier(Path(name), MAX_TOKENS, "bfloat16")
        coarse.logits(texts[:64])
        halved = SECTIONS / seconds(lambda: coarse.logits(texts))
    say("sections/s", f"{ours:,.1f}", f"{paper:,.1f}", ours / paper, "10: batch of one, padded to 512")
    say("sections/s in bfloat16", f"{halved:,.1f}", f"{ours:,.1f}", halved / ours, "> 1 with AMX: float32")


if __name__ == "__main__":
    main()
