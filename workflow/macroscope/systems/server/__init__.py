"""Kind `server`: a model behind an OpenAI-compatible completions end point, such as vLLM's, SGLang's or llama.cpp's."""

from macroscope.colours import BLUE
from macroscope.stages import Stage
from macroscope.systems.declaration import Kind

KIND = Kind(
    options="options:ServerSystem",
    label="model behind a server",
    colour=BLUE,
    stages={
        # One job per system, whatever the number of samples: the server limits the number of parallel requests.
        "generate": Stage(
            "sampling:sample_server",
            inputs="prompts? corpus system seed",
            options="url model api answers_as api_key_variable titles temperature top_p beginning prompt_words samples"
            " max_tokens log_probabilities parallel timeout_seconds seed",
            minutes=2880,
            beside="completions.parquet",
        ),
    },
    names_setting=True,
)
