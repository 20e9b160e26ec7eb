"""The core at work: simulated data, and exact posteriors of effects beside the truth."""

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table

from interplay.data.design import Design, design
from interplay.data.simulate import Simulation, synthetic
from interplay.effects.conditional import Conditional
from interplay.effects.mixture import Mixture
from interplay.effects.scale import natural_scale
from interplay.effects.search import strongest_pairs
from interplay.model.marginal import engine
from interplay.model.priors import SKIM
from interplay.model.terms import mains
from interplay.precision import double_precision
from interplay.results.tables import effect_table

ROWS, VARIABLES, SEED = 120, 200, 0


def main() -> None:
    """Print the strongest main effects and interactions of a simulated study, and mark the true ones."""
    console = Console()
    study = synthetic(ROWS, VARIABLES, scale=2.0, noise_variance=25.0, seed=SEED)
    made = design(study.X, study.y, names=study.names)
    posterior = conditional_at_truth(made, study)
    terms = mains(made)
    main_effects = effect_table(made, terms, Mixture(*posterior.effects(terms)))
    pairs = effect_table(made, *strongest_pairs(posterior, made, size=15))
    pair_count = VARIABLES * (VARIABLES - 1) // 2
    console.print(
        f"[bold]A simulated study[/bold]: {ROWS} rows, {VARIABLES} variables, {pair_count:,} possible pairs."
        f" {len(study.mains)} variables and their {len(study.pairs)} pairs truly act, each with effect 1 in"
        " the units of the data.\n"
        "Below: the exact posterior of each effect [italic]given the true hyperparameters[/italic] (which"
        " variables matter, how large effects are, how much noise there is), in the units of the data.\n"
    )
    console.print(_rendered("Main effects, the surest 10", main_effects.head(10), study))
    console.print(_rendered(f"The strongest of all {pair_count:,} interactions", pairs, study))


@double_precision
def conditional_at_truth(made: Design, study: Simulation) -> Conditional:
    """The posterior given the true hyperparameters: κ = 1 for variables that act, and nearly 0 for others."""
    prior = SKIM(quadratic=False)
    active = np.array([name in study.mains for name in made.names])
    terms = [term for term in study.effects if len(term) == 1]
    to_natural, _ = natural_scale(made, terms)
    to_natural_pair, _ = natural_scale(made, list(study.effects)[-1:])
    hyperparameters = {
        "eta1": jnp.asarray(1.0 / np.mean(to_natural)),
        "eta2": jnp.asarray(1.0 / np.mean(to_natural_pair)),
        "eta3": jnp.zeros(()),
        "kappa": jnp.where(jnp.asarray(active), 1.0, 0.05),
        "intercept_scale": jnp.asarray(float(prior.intercept_scale)),
        "sigma": jnp.asarray(study.noise_sd / made.response_scale),
    }
    variances = jax.tree.map(lambda leaf: leaf[None], prior.variances(hyperparameters, made.p))
    return Conditional(engine(made, prior), variances, hyperparameters["sigma"][None])


def _rendered(title: str, effects: pd.DataFrame, study: Simulation) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold")
    table.add_column("term")
    for heading in ("truth", "mean", "90 % interval", "P(> 0)", "lfsr"):
        table.add_column(heading, justify="right")
    table.add_column("selected")
    for row in effects.itertuples():
        term = str(row.term)
        truth = study.terms.get(term, 0.0)
        table.add_row(
            term,
            f"{truth:g}",
            f"{row.mean_natural:.2f}",
            f"{row.lower_natural:.2f} to {row.upper_natural:.2f}",
            f"{row.prob_positive:.3f}",
            f"{row.lfsr:.1e}",
            ("yes, true" if truth else "yes, FALSE") if row.selected else ("missed" if truth else ""),
        )
    return table


if __name__ == "__main__":
    main()
