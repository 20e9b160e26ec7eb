"""All experiments, in the order of the page."""

from experiments.beyond import BEYOND
from experiments.figure1 import FIGURE1
from experiments.figure2a import FIGURE2A
from experiments.figure2b import FIGURE2B
from experiments.figure3 import FIGURE3
from experiments.figure4 import FIGURE4
from experiments.mixing import MIXING
from experiments.stopping import STOPPING
from experiments.study import STUDY
from experiments.table2 import TABLE2
from experiments.table3 import TABLE3

EXPERIMENTS = {
    experiment.name: experiment
    for experiment in (
        STUDY,
        FIGURE1,
        FIGURE2A,
        FIGURE2B,
        FIGURE3,
        FIGURE4,
        TABLE2,
        TABLE3,
        BEYOND,
        MIXING,
        STOPPING,
    )
}
"""By name."""
