"""Tables of what is installed: the critics, and the languages that each can judge."""

import pandas as pd

from macroscope.api.arguments import checked
from macroscope.config.reference import language_fits
from macroscope.critics import critics
from macroscope.natural_language.languages import LANGUAGES


@checked
def list_critics() -> pd.DataFrame:
    """List the installed critics.

    Returns
    -------
    data frame
        Index: name of the critic. Columns: `observes`, what of a text it measures; `default`, whether it runs if no
        critic is named; `learns`, whether it learns from a part of the real texts; `extras` of the installation that it
        may need; `package` that declares it.
    """
    rows = {
        name: {
            "observes": plugin.data.observes,
            "default": plugin.data.criticize is not None,
            "learns": plugin.data.learns,
            "extras": ", ".join(plugin.data.extras),
            "package": plugin.package,
        }
        for name, plugin in critics().items()
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("critic")


@checked
def list_languages() -> pd.DataFrame:
    """List the languages that are recognized, and which critics can judge them with default options.

    Returns
    -------
    data frame
        Index: ISO 639-1 code. Columns: `name`, then each critic: "full", "partly" (some numbers are undefined, or mean
        less) or "not".
    """
    levels = {name: {code: fit.level for code, fit in fits.items()} for name, fits in language_fits().items()}
    names = {code: language.name for code, language in LANGUAGES.items()}
    return pd.DataFrame({"name": names, **levels}).rename_axis("code").sort_values("name")
