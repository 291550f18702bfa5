from macroscope.api.comparison import compare as compare
from macroscope.api.result import Comparison as Comparison
from macroscope.errors import MacroscopeError as MacroscopeError

__version__: str
