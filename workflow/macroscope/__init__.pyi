from macroscope.api.comparison import compare as compare
from macroscope.api.copies import find_copies as find_copies
from macroscope.api.critic_functions import Critics
from macroscope.api.listing import list_critics as list_critics
from macroscope.api.listing import list_languages as list_languages
from macroscope.api.metric import MacroscopeMetric as MacroscopeMetric
from macroscope.api.result import Comparison as Comparison
from macroscope.api.result import load as load
from macroscope.api.texts import profile as profile
from macroscope.api.texts import read_texts as read_texts
from macroscope.api.timeline import Timeline as Timeline
from macroscope.api.timeline import timeline as timeline
from macroscope.api.trainer_callback import MacroscopeCallback as MacroscopeCallback
from macroscope.errors import MacroscopeError as MacroscopeError

__version__: str
critics: Critics
