"""The papers behind the units and tasks."""

from nalm.papers.citations import PAPERS, Paper

__all__ = ["PAPERS", "Paper"]
