"""A GPT-2 of transformers as GGUF, the format of llama.cpp."""

import json
from pathlib import Path

import gguf
import numpy as np

MERGED = {"attn.c_attn": "attn_qkv", "attn.c_proj": "attn_output", "mlp.c_fc": "ffn_up", "mlp.c_proj": "ffn_down"}
NORMS = {"ln_1": "attn_norm", "ln_2": "ffn_norm"}


def write_gguf(model, tokenizer, path: Path) -> Path:
    """Write a model with its byte-level BPE, in float32."""
    config = model.config
    writer = gguf.GGUFWriter(path, "gpt2")
    writer.add_context_length(config.n_positions)
    writer.add_embedding_length(config.n_embd)
    writer.add_feed_forward_length(config.n_inner or 4 * config.n_embd)
    writer.add_block_count(config.n_layer)
    writer.add_head_count(config.n_head)
    writer.add_layer_norm_eps(config.layer_norm_epsilon)
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    _add_tokenizer(writer, tokenizer)
    for name, values in _tensors(model):
        writer.add_tensor(name, np.ascontiguousarray(values.detach().float().numpy()))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _add_tokenizer(writer, tokenizer):
    vocabulary = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    special = set(tokenizer.all_special_tokens)
    merges = json.loads(tokenizer.backend_tokenizer.to_str())["model"]["merges"]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list([token for token, _ in vocabulary])
    kinds = gguf.TokenType.CONTROL, gguf.TokenType.NORMAL
    writer.add_token_types([kinds[0] if token in special else kinds[1] for token, _ in vocabulary])
    writer.add_token_merges([merge if isinstance(merge, str) else " ".join(merge) for merge in merges])
    writer.add_bos_token_id(tokenizer.eos_token_id)
    writer.add_eos_token_id(tokenizer.eos_token_id)
    writer.add_add_bos_token(False)


def _tensors(model):
    body = model.transformer
    yield "token_embd.weight", body.wte.weight
    yield "position_embd.weight", body.wpe.weight
    yield "output_norm.weight", body.ln_f.weight
    yield "output_norm.bias", body.ln_f.bias
    yield "output.weight", model.lm_head.weight
    for number, block in enumerate(body.h):
        for name, gguf_name in {**MERGED, **NORMS}.items():
            part = block.get_submodule(name)
            # transformers keeps these matrices the other way round.
            yield f"blk.{number}.{gguf_name}.weight", part.weight.T if name in MERGED else part.weight
            yield f"blk.{number}.{gguf_name}.bias", part.bias
