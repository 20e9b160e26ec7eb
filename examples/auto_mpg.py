"""Auto MPG: few covariates that are all much correlated.

398 cars of the years 1970 to 1982, six numeric covariates, and how far they go on a gallon; the paper uses
these data too. They do not come with the package. Get `auto-mpg.data` from the UCI Machine Learning
Repository (https://archive.ics.uci.edu/dataset/9), and set the environment variable `AUTO_MPG` to its path.
"""

# %%
import os
from pathlib import Path

import interplay as ip

places = [os.environ.get("AUTO_MPG", "auto-mpg.data"), "auto_mpg.csv", "../shared/data/auto_mpg.csv"]
found = [place for place in places if Path(place).is_file()]
if not found:
    raise SystemExit("The Auto MPG data are not here: set AUTO_MPG to the path of auto-mpg.data.")
X, y = ip.datasets.auto_mpg(found[0])
print(X.corr().round(2).to_string())

# %% [markdown]
# Engine size, power and weight are nearly one thing. Such columns compete for the same effect: data say well
# what they do together, and badly which of them does it. Intervals of single effects are wide for that
# reason, and the posterior says so by correlations between effects.

# %%
est = ip.InteractionRegressor(impute="mean", random_state=0, progress=False).fit(X, y)
print(est.diagnostics_)

columns = ["term", "kind", "mean", "lower", "upper", "lfsr", "selected"]
print(est.effects()[columns].head(10).round(3).to_string(index=False))

# %% [markdown]
# ## Correlated effects
#
# A negative correlation between two effects means: if one is larger, the other is smaller. Their sum is
# better known than either.

# %%
labels = ["displacement", "horsepower", "weight"]
joint = est.joint(labels)
sd = joint.cov.diagonal() ** 0.5
print("sd of each:", *[f"{label} {value:.3f}" for label, value in zip(labels, sd, strict=True)])
print(f"sd of their sum: {joint.cov.sum() ** 0.5:.3f}")
print(f"correlation of displacement and weight: {joint.cov[0, 2] / (sd[0] * sd[2]):.2f}")

# %% [markdown]
# ## A square or a pair?
#
# Where x1 and x2 are correlated, x1·x2 is correlated with x1² and x2². A pair that is selected by a model
# without squares may be a curve in disguise. That is why the default prior has squares. Here it makes a
# difference: without them a pair of displacement and weight is selected; with them `weight^2` takes its
# place, and another pair is left.

# %%
without = ip.InteractionRegressor(
    ip.SKIM(quadratic=False), impute="mean", random_state=0, progress=False
).fit(X, y)
for name, fitted in {"with squares": est, "without": without}.items():
    pairs = [term for term in fitted.selected() if ":" in term]
    print(f"{name}: {', '.join(pairs) or 'no pair'}")
