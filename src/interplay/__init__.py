"""Bayesian discovery of main effects and interactions among many covariates."""

from interplay.data import datasets, simulate
from interplay.data.design import Design, design, encode
from interplay.data.errors import DataError
from interplay.data.table import Table, read
from interplay.model.priors import SKIM, BlockDegree, Prior, TwoWay

__all__ = [
    "SKIM",
    "BlockDegree",
    "DataError",
    "Design",
    "Prior",
    "Table",
    "TwoWay",
    "datasets",
    "design",
    "encode",
    "read",
    "simulate",
]
