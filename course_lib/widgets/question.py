"""A question for understanding: choose an option, read why.

Source: chapter 00.
"""

import html
from typing import Any

import ipywidgets

from course_lib.checks.exercise import Question

__all__ = ["QuestionCard"]


class QuestionCard(ipywidgets.VBox):
    """One question with its options; choosing one shows whether it is right, and why.

    Args:
        question: what to ask.

    `choose(place)` does what a click does, for the keyboard-minded and for tests.
    """

    def __init__(self, question: Question) -> None:
        self.question = question
        self._options = ipywidgets.RadioButtons(
            options=[(option.text, place) for place, option in enumerate(question.options)],
            index=None,
            layout=ipywidgets.Layout(width="auto"),
        )
        self._verdict = ipywidgets.HTML()
        self._options.observe(lambda change: self.choose(change["new"]), names="value")
        super().__init__([ipywidgets.HTML(f"<b>{html.escape(question.text)}</b>"), self._options, self._verdict])

    def choose(self, place: int) -> None:
        """Choose the option at this 0-based place; once the right one is chosen, every option is explained."""
        if self._options.value != place:
            self._options.value = place  # which comes back here
            return
        is_right = place == self.question.right
        chosen = self.question.options[place]
        others = [o for o in self.question.options if o is not chosen] if is_right else []
        lines = [f"{'✓ ' if is_right else '✗ Not this one. '}{html.escape(chosen.explanation)}"]
        lines += [f"<i>{html.escape(option.text)}</i> {html.escape(option.explanation)}" for option in others]
        self._verdict.value = f'<div role="status">{"<br>".join(lines)}</div>'

    @property
    def verdict(self) -> str:
        """What is shown below the options, as HTML; empty before a choice."""
        return str(self._verdict.value)

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        options = (f"  ( ) {option.text}" for option in self.question.options)
        data["text/plain"] = "\n".join([self.question.text, *options])
        return bundle
