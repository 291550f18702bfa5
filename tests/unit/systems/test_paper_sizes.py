"""Numbers of parameters of the papers' models, counted without weights."""

import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM

import macroscope.systems.language_model.architectures  # noqa: F401  registers the model types
from macroscope.config.schema import parse_config
from macroscope.files import REPOSITORY
from macroscope.models import gpus_of, resolve
from macroscope.strict_yaml import read_yaml
from macroscope.systems.translation.network import Size, Translator


def count_parameters(model):
    return sum(value.numel() for value in model.parameters())


def language_model(base, vocabulary=None):
    sizes = dict(resolve(base).configuration)
    sizes.pop("tokens", None)
    registered = sizes.pop("vocabulary")
    with torch.device("meta"):
        special = {"bos_token_id": 0, "eos_token_id": 0}
        return AutoModelForCausalLM.from_config(
            AutoConfig.for_model(vocab_size=vocabulary or registered, **special, **sizes)
        )


@pytest.mark.parametrize(("base", "millions"), [("fairseq-symbols", 18.943488), ("iwslt-symbols", 12.645888)])
def test_both_readings_of_the_transformer_of_table_1(base, millions):
    """53 symbols and fairseq's four special ones; fairseq 0.12.2 itself counts 18,943,488 for the released command."""
    assert count_parameters(language_model(base, 57)) == pytest.approx(millions * 1e6, abs=0.5)
    assert gpus_of(base) == 1


@pytest.mark.parametrize(("name", "millions"), [("autoregressive", 64.80), ("non-autoregressive", 65.98)])
def test_translators_have_the_sizes_of_appendix_c(name, millions):
    config = parse_config(read_yaml(REPOSITORY / "experiments/deng2022-code-mixing.yaml"))
    system = config.systems[name]
    names = "layers heads width hidden dropout autoregressive positions lengths"
    sizes = [getattr(system, name) for name in names.split()]
    with torch.device("meta"):
        model = Translator(Size(system.vocabulary, system.max_tokens, *sizes))
    assert count_parameters(model) / 1e6 == pytest.approx(millions, abs=0.005)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("base", "published", "millions"),
    [("transformer", 205, 202.9), ("adaptive", 315, 312.9), ("gated-cnn", 133, 133.6), ("lstm", 59, 60.4)],
)
def test_models_of_meister2021_are_within_three_percent_of_table_1(base, published, millions):
    counted = count_parameters(language_model(f"meister2021-{base}")) / 1e6
    assert counted == pytest.approx(millions, abs=0.06)
    assert counted == pytest.approx(published, rel=0.03)
