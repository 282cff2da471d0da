"""Do the settings in the environment make sense? For `course doctor`."""

import difflib
from collections.abc import Mapping
from dataclasses import fields

from course_lib.environment.bootstrap import RERUN_MARK
from course_lib.errors import SettingsError
from course_lib.providers.model_limits import limits_of
from course_lib.providers.settings import ProviderSettings, settings_from_environment

__all__ = ["OTHER_SETTINGS", "settings_problem", "window_note"]

OTHER_SETTINGS = ("COURSE_FOLDER", "COURSE_BROWSER", "COURSE_SCREENSHOTS", RERUN_MARK)


def settings_problem(environ: Mapping[str, str]) -> str:
    """Return what is wrong with the COURSE_… variables in a sentence; "" when nothing is.

    >>> settings_problem({"COURSE_PROVIDR": "openai"})
    'COURSE_PROVIDR is no setting of the course: did you mean COURSE_PROVIDER?'
    """
    known = [*(f"COURSE_{field.name.upper()}" for field in fields(ProviderSettings)), *OTHER_SETTINGS]
    for name in sorted(environ):
        if name.startswith("COURSE_") and name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            return f"{name} is no setting of the course" + (f": did you mean {near[0]}?" if near else "")
    try:
        settings_from_environment(environ)
    except SettingsError as error:
        return str(error)
    return ""


def window_note(environ: Mapping[str, str]) -> str:
    """Return how much the model of sound settings holds, and who says so, in a sentence; "" for the offline model.

    >>> window_note({}), window_note({"COURSE_PROVIDER": "vllm", "COURSE_MODEL": "m", "COURSE_WINDOW_TOKENS": "9000"})
    ('', "'m' holds 9,000 tokens, as set")
    """
    settings = settings_from_environment(environ)
    return limits_of(settings).note if settings.model else ""
