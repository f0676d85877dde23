"""Noises, each described once: how it is drawn, its exact probabilities and tails, how far it reaches, what it proves.

`DiscreteLaplace`, `Lopsided`, `DiscreteGaussian`, `TruncatedLaplace` and `Staircase` are noises on the integers
(`IntegerNoise`); `Difference`, `Coarser`, `Rounded` and `LopsidedSum` are made of them. Noises of `smooth_noises` may
be scaled to a smooth sensitivity.
"""

from tacit.noises.base import IntegerNoise, Noise
from tacit.noises.combined import Coarser, Difference, Rounded
from tacit.noises.discrete_gaussian import DiscreteGaussian
from tacit.noises.discrete_laplace import DiscreteLaplace
from tacit.noises.lopsided import Lopsided, LopsidedSum
from tacit.noises.staircase import Staircase
from tacit.noises.truncated_laplace import TruncatedLaplace

__all__ = [
    "Coarser",
    "Difference",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "IntegerNoise",
    "Lopsided",
    "LopsidedSum",
    "Noise",
    "Rounded",
    "Staircase",
    "TruncatedLaplace",
]
