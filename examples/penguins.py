"""Penguins: factors, missing values, and an interaction between two factors.

The Palmer penguins (Horst, Hill and Gorman 2020) are 344 birds of three species on three islands, some of
them without a recorded sex. The data ship with the package `palmerpenguins`. What makes a penguin heavy?
"""

# %%
import numpy as np
from palmerpenguins import load_penguins

import interplay as ip

penguins = load_penguins()
print(penguins.isna().sum()[penguins.isna().any()].to_string())

# %% [markdown]
# A missing *response* is refused, so the two birds that were never weighed are left out. Missing *covariates*
# are refused too unless a way to fill them is chosen: `impute="mean"` puts the mean in place of a number, and
# the average over the levels in place of a level. Text columns are factors; nothing has to be coded by hand.

# %%
weighed = penguins.dropna(subset=["body_mass_g"])
est = ip.InteractionRegressor(impute="mean", random_state=0, progress=False).fit(weighed, "body_mass_g")
print(est.diagnostics_)

# %% [markdown]
# ## Levels are deviations from the average level
#
# A factor has one effect for each level, and they add up to zero. None is a reference. In grams:

# %%
natural = ["term", "mean_natural", "lower_natural", "upper_natural", "lfsr"]
print(est.effects(["species", "sex"])[natural].round(2).to_string(index=False))

# %% [markdown]
# ## An interaction of two factors
#
# A label such as `species:sex` stands for all combinations of levels.

# %%
print(est.effects(["species:sex"])[natural].round(2).to_string(index=False))

# %% [markdown]
# Easier to read: by how much are males heavier than females, in each species, with bill and flipper held
# equal? That is a sum of several effects. They are correlated, so its uncertainty needs their joint
# posterior.

# %%
for species in ("Adelie", "Chinstrap", "Gentoo"):
    cell = f"species[{species}]"
    joint = est.joint(["sex[male]", "sex[female]", f"{cell}:sex[male]", f"{cell}:sex[female]"]).natural()
    difference = np.array([1, -1, 1, -1])
    mean, sd = difference @ joint.mean, np.sqrt(difference @ joint.cov @ difference)
    print(f"{species}: {mean:.0f} g (sd {sd:.0f})")

# %% [markdown]
# The same as a picture: the mean of each species, for each sex.

# %%
axes = est.plot.slopes("species", "sex")

# %% [markdown]
# ## Which effects to report

# %%
print("\n".join(est.selected()))
