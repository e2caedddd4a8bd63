"""Reports: what came of a run, as values and as text (JSON, Markdown, one HTML file)."""

from berbench.reports.document import cell_document, report_document, runs_document
from berbench.reports.gather import gather
from berbench.reports.markdown import cell_markdown, report_markdown
from berbench.reports.page import report_page
from berbench.reports.values import CellFiles, Planned, Report, RunFacts, Skipped, TaskFacts, TestLine

__all__ = [
    "CellFiles",
    "Planned",
    "Report",
    "RunFacts",
    "Skipped",
    "TaskFacts",
    "TestLine",
    "cell_document",
    "cell_markdown",
    "gather",
    "report_document",
    "report_markdown",
    "report_page",
    "runs_document",
]
