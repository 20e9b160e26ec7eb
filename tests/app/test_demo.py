"""The demo, in small: it prints every part, marks what is true, and leaves a fit that can be asked more."""

from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import interplay as ip
from interplay.app import demo


def test_effects_of_a_dose_are_deviations() -> None:
    trial = demo.simulate_trial(60, 20)
    assert trial.data.shape == (60, 20)
    assert trial.data["dose"].value_counts().to_dict() == {"none": 20, "low": 20, "high": 20}
    doses = [effect for label, effect in trial.truth.items() if label.startswith("dose")]
    slopes = [effect for label, effect in trial.truth.items() if ":dose" in label]
    assert sum(doses) == sum(slopes) == 0
    assert len(trial.truth) == 4 + 6 + 3 + 3
    # The response is what the truth says, and noise of standard deviation 3.
    genes = {label for label in trial.truth if "dose" not in label}
    fitted = sum(trial.truth[label] * trial.data[label.split(":")].prod(axis=1) for label in genes)
    partner = next(label for label in trial.truth if ":dose" in label).split(":")[0]
    dose = trial.data["dose"]
    fitted += dose.map(demo.DOSES) + dose.map(demo.SLOPES) * trial.data[partner]
    assert np.std(trial.response - fitted) == pytest.approx(3.0, rel=0.3)


@pytest.mark.user_settings
@pytest.mark.filterwarnings("ignore::interplay.inference.diagnostics.ConvergenceWarning")
def test_prints_every_part_and_saves(tmp_path: Path) -> None:
    text, file = StringIO(), tmp_path / "demo.nc"
    console = Console(file=text, width=80)
    settings = {"draws": 20, "sampler": ip.HMC(chains=2, warmup=10), "progress": False}
    demo.main(file, rows=60, covariates=20, console=console, **settings)
    out = text.getvalue()
    assert max(map(len, out.splitlines())) <= 80
    assert "…" not in out
    for part in ("60 rows and 20 covariates", "190 possible pairs", "dose[high]", "P(> 0)", "90 % interval"):
        assert part in " ".join(out.split())
    assert "✓ true" in out
    assert out.count("Convergence: ") == 2
    assert "The data support" in " ".join(out.split())
    loaded = ip.load(file)
    assert (loaded.design.n, loaded.design.p) == (60, 20)
    assert set(demo.simulate_trial(60, 20).truth) >= set(loaded.effects(["dose"])["term"])
