"""GLINTERNET: the paper's own hierarchical LASSO, run by R where R and the package are installed."""

import subprocess
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory

import numpy as np

from interplay.baselines.estimate import Estimate, check_folds
from interplay.data.design import Design
from interplay.data.errors import DataError
from interplay.model.terms import Term

PROGRAM = """
arguments <- commandArgs(trailingOnly = TRUE)
folder <- arguments[1]
set.seed(as.integer(arguments[3]))
X <- as.matrix(read.csv(file.path(folder, "X.csv"), header = FALSE))
dimnames(X) <- NULL
y <- scan(file.path(folder, "y.csv"), quiet = TRUE)
fit <- glinternet::glinternet.cv(
  X, y, numLevels = rep(1, ncol(X)), nFolds = as.integer(arguments[2]), numCores = as.integer(arguments[4]))

# The function is a polynomial of degree two: its coefficients are differences of its values.
f <- function(points) as.numeric(predict(fit, points, type = "response"))
at <- function(columns, signs) {
  points <- matrix(0, nrow(columns), ncol(X))
  for (k in seq_len(ncol(columns))) points[cbind(seq_len(nrow(columns)), columns[, k])] <- signs[k]
  f(points)
}
active <- fit$activeSet[[1]]
pairs <- matrix(as.integer(active$contcont), ncol = 2)
mains <- matrix(sort(unique(c(as.integer(active$cont), as.integer(pairs)))), ncol = 1)
found <- data.frame(i = 0, j = 0, value = f(matrix(0, 1, ncol(X))))
if (nrow(mains)) found <- rbind(found, data.frame(
  i = mains[, 1], j = 0, value = (at(mains, 1) - at(mains, -1)) / 2))
if (nrow(pairs)) found <- rbind(found, data.frame(
  i = pairs[, 1], j = pairs[, 2],
  value = (at(pairs, c(1, 1)) - at(pairs, c(1, -1)) - at(pairs, c(-1, 1)) + at(pairs, c(-1, -1))) / 4))
options(digits = 17)
write.table(found, file.path(folder, "found.csv"), sep = ",", row.names = FALSE, col.names = FALSE)
write(c(fit$lambdaHat, f(X)), file.path(folder, "fitted.csv"), ncolumns = 1)
"""
"""Reads X.csv and y.csv in a folder; writes found.csv (i, j, coefficient; from 1, and 0 for none) and
fitted.csv (the penalty, then the fitted values)."""

NEGLIGIBLE = 1e-9
"""Part of the largest coefficient below which a difference of values is rounding."""


def glinternet(design: Design, *, folds: int = 5, seed: int = 0, threads: int = 1) -> Estimate:
    """Fit main effects and pairs with strong hierarchy by R's glinternet (Lim and Hastie 2015).

    Parameters
    ----------
    design
        The data, numbers only.
    folds, seed
        Of cross-validation, on rows that R shuffles.
    threads
        Cores of glinternet.

    Raises
    ------
    ImportError
        If there is no `Rscript`, or no glinternet in it.
    DataError
        If there are too few rows, or factors.
    """
    check_folds(design, folds)
    if design.d != design.p:
        raise DataError("got factors: expected numbers only. Leave them out, or take hierarchical_lasso.")
    program = _rscript()
    with TemporaryDirectory() as name:
        folder = Path(name)
        np.savetxt(folder / "X.csv", design.X, delimiter=",", fmt="%.17g")
        np.savetxt(folder / "y.csv", design.y, fmt="%.17g")
        (folder / "fit.R").write_text(PROGRAM)
        command = [program, "--vanilla", str(folder / "fit.R"), name, str(folds), str(seed), str(threads)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"glinternet ended with {done.returncode}:\n{done.stderr[-2000:]}")
        found = np.loadtxt(folder / "found.csv", delimiter=",", ndmin=2)
        penalty, *fitted = np.loadtxt(folder / "fitted.csv").tolist()
    return _estimate(found, np.array(fitted), penalty)


def available() -> bool:
    """Whether R and glinternet are there."""
    try:
        _rscript()
    except ImportError:
        return False
    return True


def _rscript() -> str:
    program = which("Rscript")
    if program is None:
        raise ImportError("glinternet is run by R, and there is no Rscript on the PATH. Install R to use it.")
    asked = [program, "--vanilla", "-e", "library(glinternet)"]
    if subprocess.run(asked, capture_output=True, check=False).returncode:
        raise ImportError("R has no package glinternet. Install it in R with install.packages('glinternet').")
    return program


def _estimate(found: np.ndarray, fitted: np.ndarray, penalty: float) -> Estimate:
    """From rows (i, j, coefficient), columns counted from 1 and 0 where there is none."""
    least = NEGLIGIBLE * np.abs(found[:, 2]).max()
    effects: dict[Term, float] = {
        tuple(sorted(int(k) - 1 for k in (i, j) if k > 0)): float(value)
        for i, j, value in found
        if i == 0 or abs(value) > least
    }
    return Estimate(tuple(effects), np.array(list(effects.values())), fitted, penalty)
