"""Section classification: sections/s against the paper's way, one section at a time padded to 512 tokens."""

import os
import tempfile
from pathlib import Path
from typing import Any

import torch
from _report import in_turns, quiet, say

from macroscope.corpora.simulated.articles import simulate_documents
from macroscope.corpora.simulated.process import wiki_process
from macroscope.critics.coherence.classifier import SectionClassifier, load_untrained_classifier

SECTIONS, OF_REFERENCE, MAX_TOKENS = 400, 24, 512


@torch.inference_mode()
def papers_way(model: Any, tokenizer: Any, texts: list[str]) -> None:
    """Classify one section at a time, padded to the longest length."""
    for text in texts:
        inputs = tokenizer(text, truncation=True, padding="max_length", max_length=MAX_TOKENS, return_tensors="pt")
        model(**inputs).logits.argmax(-1)


def main() -> None:
    """Print sections/s of both."""
    torch.set_num_threads(os.cpu_count() or 1)
    documents = simulate_documents(wiki_process(), "process", SECTIONS, 1)
    texts = [section.text for document in documents for section in document.sections][:SECTIONS]
    with tempfile.TemporaryDirectory() as name, quiet():
        model, tokenizer = load_untrained_classifier("minilm", wiki_process().states, 1)
        model.save_pretrained(name)
        tokenizer.save_pretrained(name)
        classifier = SectionClassifier(Path(name), MAX_TOKENS)
        model.eval()
        classifier.logits(texts[:64])
        coarse = SectionClassifier(Path(name), MAX_TOKENS, "bfloat16")
        coarse.logits(texts[:64])
        ours, paper, halved = in_turns(
            lambda: classifier.logits(texts),
            lambda: papers_way(model, tokenizer, texts[:OF_REFERENCE]),
            lambda: coarse.logits(texts),
        )
    ours, paper, halved = SECTIONS / ours, OF_REFERENCE / paper, SECTIONS / halved
    say("sections/s", f"{ours:,.1f}", f"{paper:,.1f}", ours / paper, "10: batch of one, padded to 512")
    say("sections/s in bfloat16", f"{halved:,.1f}", f"{ours:,.1f}", halved / ours, "> 1 with AMX: float32")


if __name__ == "__main__":
    main()
