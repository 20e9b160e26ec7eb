"""What is believed before the data: SKIM, the block-degree prior, and any diagonal prior."""

from interplay.model.priors.base import Hyperparameters, Prior, Scale
from interplay.model.priors.block_degree import BlockDegree
from interplay.model.priors.skim import SKIM
from interplay.model.priors.two_way import TwoWay

__all__ = ["SKIM", "BlockDegree", "Hyperparameters", "Prior", "Scale", "TwoWay"]
