"""The report: a fit in one HTML file that needs nothing else."""

from interplay.results.report.write import write_report

__all__ = ["write_report"]
