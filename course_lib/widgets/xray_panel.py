"""An X-ray of a session log in a notebook: choose a file, see where its tokens went.

    XrayPanel(sample_session_path())        # as the last line of a cell; then any log of your own

Nothing is looked for before somebody asks for it, and nothing leaves the machine. All that it shows is drawn by
`session_logs.report_chart` and `report_html`, from the report alone.
Source: chapter 04.
"""

import base64
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ipywidgets

from course_lib.errors import CourseError
from course_lib.session_logs.labels import one_line, short_end
from course_lib.session_logs.redact import redacted
from course_lib.session_logs.report_chart import draw_xray
from course_lib.session_logs.report_html import html_table, report_tables
from course_lib.session_logs.report_words import described, heading, summary_rows, thread_notes
from course_lib.session_logs.xray import xray
from course_lib.session_logs.xray_report import SessionReport
from course_lib.session_logs.xray_threads import ThreadReport
from course_lib.tokens import MessageCounter, TokenCounter
from course_lib.widgets.palette import LIVE, PRINTED
from course_lib.widgets.prices import Prices
from course_lib.widgets.svg import plain

__all__ = ["LOG_FOLDERS", "XrayPanel", "XrayPicture", "found_logs"]

# Where programs keep their logs, below the home folder (as of November 2026).
LOG_FOLDERS = (".claude/projects", ".codex/sessions", ".gemini/tmp", ".pi/agent/sessions")
_ENDINGS = (".json", ".jsonl", ".traj")
_CLOSE = '<div style="line-height:1.45">'  # lines closer together than in a form
_MOST_FOUND = 100
_MOST_BYTES = 64 * 2**20  # a larger file would keep the kernel busy for too long


class XrayPicture:
    """The picture of one thread as it stays in a notebook: an image with its text alternative.

    Args:
        report: what `xray` found.
        thread: which of its threads; the main one by default.
    """

    def __init__(self, report: SessionReport, thread: ThreadReport | None = None) -> None:
        chosen = thread or (report.threads[0] if report.threads else ThreadReport(name="main"))
        self.svg = draw_xray(report, chosen, PRINTED)
        compactions = [one for one in report.compactions if one.thread == chosen.name]
        self.alternative_text = one_line(described(chosen, compactions))

    def __repr__(self) -> str:
        return self.alternative_text

    def _repr_html_(self) -> str:
        encoded = base64.b64encode(self.svg.encode()).decode()
        alt = plain(self.alternative_text)
        return f'<img alt="{alt}" src="data:image/svg+xml;base64,{encoded}" style="width:100%;max-width:900px">'


class XrayPanel(ipywidgets.VBox):
    """A log's report as a panel.

    Args:
        path: the log to begin with; without one, the panel waits.
        counter: how visible tokens are counted, as for `xray`.
        prices: what tokens cost.
        home: where the usual folders are looked for; the learner's home by default.
    """

    def __init__(
        self,
        path: str | Path | None = None,
        *,
        counter: MessageCounter | TokenCounter | None = None,
        prices: Prices | None = None,
        home: Path | None = None,
    ) -> None:
        self.report: SessionReport | None = None
        self._counter, self._prices, self._home = counter, prices, home
        self._path = ipywidgets.Text(
            description="log",
            placeholder="path of a session log",
            continuous_update=False,
            layout=ipywidgets.Layout(width="auto", flex="1 1 320px"),
        )
        self._show = _button("Show", "read this log and show its report", button_style="primary")
        self._find = _button("Find logs", "list the logs in the usual folders of this machine")
        self._found = _choice("found")
        self._thread = _choice("thread")
        self._hide = ipywidgets.Checkbox(description="hide names", indent=False, layout=ipywidgets.Layout(width="auto"))
        self._status = ipywidgets.HTML(layout=ipywidgets.Layout(margin="0 8px"))
        self._picture, self._tables = ipywidgets.HTML(), ipywidgets.HTML()
        rows = (self._path, self._show, self._find), (self._found, self._thread, self._hide, self._status)
        super().__init__([*map(_row, rows), self._picture, self._tables])
        self._show.on_click(lambda _: self.load(self._path.value))
        self._path.observe(lambda change: self.load(change["new"]), names="value")  # when the enter key is pressed
        self._find.on_click(lambda _: self.find())
        self._found.observe(lambda change: self._choose(change["new"]), names="value")
        self._thread.observe(lambda _: self._paint(), names="value")
        self._hide.observe(lambda _: self._offer_threads(), names="value")
        if path is not None:
            self.load(path)

    def load(self, path: str | Path) -> None:
        """Read a log and show its report; what is wrong with the file is said in the panel."""
        file = Path(str(path).strip()).expanduser()
        try:
            if not str(path).strip():
                raise CourseError("name a log, or let the panel find some")
            if file.is_file() and file.stat().st_size > _MOST_BYTES:
                raise CourseError(
                    f"{file.name} is larger than {_MOST_BYTES // 2**20} MB: use the command `course xray` in a terminal"
                )
            self.report = xray(file, counter=self._counter, prices=self._prices)
        except (CourseError, OSError, ValueError) as error:
            self._say(str(error), role="alert")
            return
        self._say(f"read {file.name}")
        self._offer_threads()

    def _choose(self, log: str | None) -> None:
        if log:
            self._path.value = log  # which loads it

    def find(self) -> None:
        """List the logs in the usual folders, the latest first; only their names and times are looked at."""
        logs = found_logs(self._home or Path.home())
        options = [(f"{short_end(str(log), 80)}", str(log)) for log in logs]
        self._found.options = [(f"{len(options)} logs: choose one", ""), *options]
        self._show_only_where_useful()
        self._say("" if logs else f"no log below {', '.join(f'~/{folder}' for folder in LOG_FOLDERS)}")

    def picture(self) -> XrayPicture | None:
        """Return the picture as it is now, for readers without a kernel; None before a log is read."""
        shown = self._shown()
        return XrayPicture(shown, shown.thread(self._thread.value or "")) if shown else None

    def _shown(self) -> SessionReport | None:
        return redacted(self.report) if self.report and self._hide.value else self.report

    def _offer_threads(self) -> None:
        shown = self._shown()
        threads = [(one.name, str(place)) for place, one in enumerate(shown.threads, 1)] if shown else []
        self._thread.options = [(one_line(name), place) for name, place in threads]
        self._thread.value = threads[0][1] if threads else None
        self._show_only_where_useful()
        self._paint()

    def _show_only_where_useful(self) -> None:
        self._found.layout.display = "" if self._found.options else "none"
        self._thread.layout.display = "" if len(self._thread.options) > 1 else "none"

    def _paint(self) -> None:
        shown = self._shown()
        if shown is None:
            return
        thread = shown.thread(self._thread.value or "") or (shown.threads[0] if shown.threads else None)
        title = f"<b>X-ray of {plain(one_line(shown.file))}</b> {plain(one_line(heading(shown)))}"
        notes = "".join(f"<div>{plain(note)}</div>" for note in thread_notes(thread)) if thread else ""
        drawn = draw_xray(shown, thread, LIVE) if thread and thread.rows else ""
        self._picture.value = f"{_CLOSE}{title}{html_table((), summary_rows(shown), 'll')}{drawn}{notes}</div>"
        self._tables.value = f"{_CLOSE}{_folded(shown)}</div>"

    def _say(self, status: str, role: str = "status") -> None:
        self._status.value = f'<span role="{role}">{plain(status)}</span>'

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        data["text/plain"] = "(The X-ray panel works when this cell runs.)"
        shown, still = self._shown(), self.picture()
        if shown and still:
            lines = [f"X-ray of {one_line(shown.file)}: {one_line(heading(shown))}"]
            lines += [f"{name}: {said}" for name, said in summary_rows(shown)]
            data["text/plain"] = "\n".join([*lines, repr(still)])
            data["text/html"] = f"{html_table((), summary_rows(shown), 'll')}{still._repr_html_()}{_folded(shown)}"
        return bundle


def _folded(report: SessionReport) -> str:
    """The tables, each behind its title."""
    titled = [(title, content) for title, content in report_tables(report) if content]
    return "".join(f"<details><summary>{plain(title)}</summary>{content}</details>" for title, content in titled)


def found_logs(home: Path, most: int = _MOST_FOUND) -> list[Path]:
    """Return the latest logs in the usual folders below `home`, the latest first; none is opened."""
    return sorted(_candidates(home), key=lambda log: (-_modified(log), str(log)))[:most]


def _candidates(home: Path) -> Iterator[Path]:
    for folder in LOG_FOLDERS:
        for here, _, names in os.walk(home / folder):
            yield from (Path(here, name) for name in names if name.endswith(_ENDINGS))


def _modified(log: Path) -> float:
    try:
        return log.stat().st_mtime
    except OSError:
        return 0.0


def _button(label: str, tooltip: str, **how: Any) -> ipywidgets.Button:
    return ipywidgets.Button(description=label, tooltip=tooltip, layout=ipywidgets.Layout(width="96px"), **how)


def _choice(label: str) -> ipywidgets.Dropdown:
    layout = ipywidgets.Layout(width="auto", max_width="460px", display="none", margin="2px 10px 2px 2px")
    return ipywidgets.Dropdown(options=[], description=label, style={"description_width": "initial"}, layout=layout)


def _row(controls: tuple[ipywidgets.Widget, ...]) -> ipywidgets.HBox:
    return ipywidgets.HBox(list(controls), layout=ipywidgets.Layout(flex_flow="row wrap", align_items="center"))
