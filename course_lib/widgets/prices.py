"""What tokens cost: settings of the reader's own, for no model in particular.

    >>> prices = Prices(input_per_million=2.0, output_per_million=10.0)
    >>> prices.cost(Usage(input_tokens=500_000, output_tokens=100_000))
    2.0

Source: chapter 00.
"""

from dataclasses import dataclass

from course_lib.errors import SettingsError
from course_lib.messages import Usage

__all__ = ["Prices"]


@dataclass(frozen=True, kw_only=True)
class Prices:
    """Prices of a million tokens of each kind, in `currency`; the defaults are round numbers of a plausible size.

    Raises:
        SettingsError: a price below 0.
    """

    input_per_million: float = 1.0
    cached_input_per_million: float = 0.1
    cache_write_per_million: float = 1.25
    output_per_million: float = 5.0
    currency: str = "$"

    def __post_init__(self) -> None:
        if min(self.in_order) < 0:
            raise SettingsError(f"prices {self.in_order}: none of them can be below 0")

    @property
    def in_order(self) -> tuple[float, float, float, float]:
        """Input, cached input, cache write, output, for a million tokens each."""
        return (
            self.input_per_million,
            self.cached_input_per_million,
            self.cache_write_per_million,
            self.output_per_million,
        )

    def cost(self, usage: Usage) -> float:
        """Return what the tokens cost, in `currency`."""
        tokens = (usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens, usage.output_tokens)
        return sum(count * price for count, price in zip(tokens, self.in_order, strict=True)) / 1_000_000

    def said(self, cost: float) -> str:
        """Return an amount with its currency; small amounts with more decimals."""
        return f"{self.currency}{cost:,.2f}" if cost >= 1 or not cost else f"{self.currency}{cost:.4f}"

    def __str__(self) -> str:
        names = ("input", "cached input", "cache write", "output")
        listed = " · ".join(f"{n} {self.currency}{p:,.2f}" for n, p in zip(names, self.in_order, strict=True))
        return f"{listed} per million tokens"
