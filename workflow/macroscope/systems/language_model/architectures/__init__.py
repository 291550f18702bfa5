"""Architectures of the papers that transformers lacks.

Of meister2021: an LSTM, a gated CNN, and a GPT-2 with adaptive softmax; of deng2022: the decoder of fairseq.

Importing this package registers them with `AutoConfig` and `AutoModelForCausalLM`, so that they are trained, saved,
loaded, measured and sampled like other models. The LSTM and the gated CNN carry a state from token to token: see
`recurrent`.
"""

from transformers import AutoConfig, AutoModelForCausalLM

from macroscope.systems.language_model.architectures.gpt2_variants import (
    AdaptiveGpt2Config,
    AdaptiveGpt2ForCausalLM,
    FairseqConfig,
    FairseqForCausalLM,
)
from macroscope.systems.language_model.architectures.recurrent import (
    GatedCnnConfig,
    GatedCnnForCausalLM,
    LstmConfig,
    LstmForCausalLM,
)

for _config, _model in (
    (LstmConfig, LstmForCausalLM),
    (GatedCnnConfig, GatedCnnForCausalLM),
    (AdaptiveGpt2Config, AdaptiveGpt2ForCausalLM),
    (FairseqConfig, FairseqForCausalLM),
):
    AutoConfig.register(_config.model_type, _config, exist_ok=True)
    AutoModelForCausalLM.register(_config, _model, exist_ok=True)
