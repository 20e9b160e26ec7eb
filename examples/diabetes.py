"""Diabetes: ten measurements, four effects, no interaction.

The data of Efron et al. (2004) come with scikit-learn: 442 patients, ten covariates at the start, and a
measure of how far the disease has progressed after a year. Which covariates act on it, and do any two act
together?
"""

# %%
import interplay as ip

X, y = ip.datasets.diabetes()
est = ip.InteractionRegressor(random_state=0, progress=False).fit(X, y)
print(est.diagnostics_)

# %% [markdown]
# Read the verdict first. Anything but *trust* says what to do before the numbers below mean something.
#
# The surest effects come first. `mean` is on the standardised scale, on which effects can be compared with
# each other; `mean_natural` is in units of the data: the change of the response per unit of the covariate.

# %%
columns = ["term", "kind", "mean", "lower", "upper", "lfsr", "mean_natural", "selected"]
print(est.effects()[columns].head(10).round(3).to_string(index=False))

# %%
axes = est.plot.forest(size=10)

# %% [markdown]
# ## Is there an interaction?
#
# `top_pairs` ranks all 45 pairs. The lfsr of the best says how sure one could be of the sign of any of them.

# %%
print(est.top_pairs(3)[columns].round(3).to_string(index=False))
print("selected:", ", ".join(est.selected()))

# %% [markdown]
# None of the pairs is selected. That is not proof that there is none. How much could interactions matter at
# most? Their share of the variance of the response, all 45 together, answers that better than a list without
# entries.

# %%
shares = est.fit_.variance_shares().quantile([0.05, 0.5, 0.95])
print(shares.round(3).to_string())

# %% [markdown]
# ## Prediction
#
# The interval is that of a new patient, noise included. It is wide because half of the variance is noise.

# %%
mean = est.predict(X.head(3))
for value, (low, high), true in zip(mean, est.predict_interval(X.head(3), 0.9), y.head(3), strict=True):
    print(f"predicted {value:.0f}, 90 % interval {low:.0f} to {high:.0f}, observed {true:.0f}")
