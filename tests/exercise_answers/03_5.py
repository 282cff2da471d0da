# %% right: counted
from course_lib.checks.token_practice import SIX_TEXTS
from course_lib.tokens import TiktokenCounter

longest_text = max(SIX_TEXTS, key=lambda letter: TiktokenCounter()(SIX_TEXTS[letter]))

# %% wrong: A hash is expensive
longest_text = "C"

# %% wrong: Digits by threes
longest_text = "D"

# %% wrong: cheapest of all
longest_text = "A"

# %% wrong: shortest of the six
longest_text = "F"

# %% wrong: one of the letters
longest_text = 5
