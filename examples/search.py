"""Search: ten pairs among two million.

A simulation of the paper's kind, larger: 2,000 covariates, of which five act on the response, alone and in
all their pairs. There are 1,999,000 possible pairs, and 200 rows to find ten of them with. Set the
environment variable `SEARCH_P` for another number of covariates.
"""

# %%
import os

import interplay as ip

p = int(os.environ.get("SEARCH_P", "2000"))
simulation = ip.simulate.synthetic(n=200, p=p, scale=2, noise_variance=25, seed=1)
data = simulation.frame("y")
print(f"{p * (p - 1) // 2:,} pairs; {len(simulation.pairs)} of them are true")

# %% [markdown]
# The fit is given the table and the name of the response. The truth has no squares, and neither has this
# prior; leave `quadratic=False` out if you do not know. For a long run, `checkpoint="search.nc"` would let
# the same call go on after a stop.

# %%
est = ip.InteractionRegressor(ip.SKIM(quadratic=False), random_state=0, progress=False).fit(data, "y")
print(est.diagnostics_)

# %% [markdown]
# ## All pairs, without asking for main effects first
#
# `top_pairs` goes through all of them exactly, a block at a time.

# %%
top = est.top_pairs(12)
top["true"] = top["term"].isin(simulation.pairs)
columns = ["term", "mean_natural", "lower_natural", "upper_natural", "lfsr", "true"]
print(top[columns].round(3).to_string(index=False))

# %%
axes = est.plot.interaction_map()

# %% [markdown]
# ## What was found, and what was not

# %%
truth = set(simulation.terms)
found = set(est.selected())
print(f"{len(found & truth)} of {len(truth)} effects found, {len(found - truth)} false")
print("missed:", ", ".join(sorted(truth - found)) or "none")
