"""Training of translation models (deng2022 Appendix C)."""

from hashlib import sha256
from pathlib import Path

from safetensors.torch import save_model
from transformers import set_seed

from macroscope.files import atomic, write_json
from macroscope.systems.translation import TranslationSystem
from macroscope.systems.translation.network import Size, Translator
from macroscope.systems.translation.pairs import Pairs, collate, encode_pairs, read_pairs, train_piece_tokenizer
from macroscope.tables import write_csv
from macroscope.trainer import train
from macroscope.training import Checkpoints, Examples, Schedule, discard


def train_translator(
    documents: Path, output: Path, options: TranslationSystem, *, seed: int, checkpoints: Path
) -> None:
    """Train a translation model on the train split; keep the checkpoint of the lowest validation loss.

    Writes into the folder `output`: tokenizer.json, model.safetensors, size.json (`network.Size`), training_log.csv
    (step, epoch, train_loss, valid_loss; nats per token) and training.json (numbers of parameters, of pairs, and of
    pairs that were left out because they are longer than max_tokens).
    """
    texts = (text for document, original in read_pairs(documents, "train") for text in (original, document.text))
    tokenizer = train_piece_tokenizer(texts, options.vocabulary)
    train_set, valid_set = (
        encode_pairs(documents, split, tokenizer, options.max_tokens) for split in ("train", "valid")
    )
    size = Size(
        tokenizer.get_vocab_size(),
        options.max_tokens,
        options.layers,
        options.heads,
        options.width,
        options.hidden,
        options.dropout,
        options.autoregressive,
        options.positions,
        options.lengths,
    )
    set_seed(seed)
    model = Translator(size)
    training = options.training
    schedule = Schedule(
        epochs=training.epochs,
        batch_size=training.batch_size,
        device_batch_size=training.batch_size,
        learning_rate=training.learning_rate,
        warmup_share=training.warmup_share,
        evaluations=training.evaluations,
    )
    identity = {"options": options.model_dump(mode="json"), "seed": seed, "train": _digest(train_set)}
    history = train(model, Examples(train_set, valid_set, collate), schedule, Checkpoints(checkpoints, identity), seed)
    with atomic(output) as folder:
        folder.mkdir()
        tokenizer.save(str(folder / "tokenizer.json"))
        save_model(model.cpu(), str(folder / "model.safetensors"))
        write_json(folder / "size.json", size.as_dict())
        summary = {
            "parameters": sum(p.numel() for p in model.parameters()),
            "training_pairs": len(train_set),
            "training_pairs_too_long": train_set.left_out,
            "validation_pairs": len(valid_set),
            "validation_pairs_too_long": valid_set.left_out,
        }
        write_json(folder / "training.json", summary)
        write_csv(history, folder / "training_log.csv")
    discard(checkpoints)


def _digest(pairs: Pairs) -> str:
    digest = sha256()
    for row in (*pairs.originals, *pairs.translations):
        digest.update(row.tobytes() + b"|")
    return digest.hexdigest()
