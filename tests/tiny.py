"""Small things for tests that need a whole model or corpus: made in a second, without any download."""

import json
from pathlib import Path

from macroscope.corpora.simulated.articles import simulate_documents
from macroscope.corpora.simulated.process import wiki_process
from macroscope.documents import Document, Provenance, Section, write_documents


def simulated_documents(order: str, n: int, seed: int) -> list[Document]:
    """Documents of the simulated encyclopaedia."""
    return list(simulate_documents(wiki_process(), order, n, seed))


def write_jsonl(path: Path, documents: list[Document], titles: bool = True) -> Path:
    """Write documents as a user would have them."""
    lines = []
    for document in documents:
        sections = [{"title": s.title if titles else None, "text": s.text} for s in document.sections]
        lines.append(json.dumps({"id": document.id, "title": document.title, "sections": sections}))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")
    return path


def write_texts_of_lengths(path: Path, lengths: dict[str, int]) -> Path:
    """Write a collection of texts, given the number of words of each by its id."""
    texts = [Document(name, "test", None, (Section(None, "word " * length),)) for name, length in lengths.items()]
    path.parent.mkdir(parents=True, exist_ok=True)
    write_documents(path, texts, Provenance("test"))
    return path


def write_encoder(folder: Path) -> Path:
    """Write a BERT with random weights whose vocabulary is the simulated encyclopaedia's: 40,000 parameters."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    words = sorted(
        {
            word.strip(".,")
            for document in simulated_documents("process", 200, 0)
            for section in document.sections
            for word in section.text.lower().split()
            if not word.strip(".,").isdigit()
        }
    )
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    tokenizer = Tokenizer(models.WordLevel({w: i for i, w in enumerate([*special, *words])}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]"
    )
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(fast), hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64,
        max_position_embeddings=64, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
    )  # fmt: skip
    BertModel(config).save_pretrained(folder)
    fast.save_pretrained(folder)
    return folder
