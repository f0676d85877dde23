"""The room's public names: every mechanism is exported, and no law's repr depends on the data."""

import doctest
import pkgutil
from importlib import import_module
from inspect import isfunction
from typing import Any

import pytest

import tacit.grids
import tacit.guarantees
import tacit.mechanisms
from tacit.curves import StepLoss
from tacit.grids import integers
from tacit.mechanisms import exponential, noisy_max, permute_and_flip, stable_argmin, tree_descent

MODULES = [
    module.name for module in pkgutil.walk_packages(tacit.mechanisms.__path__, "tacit.mechanisms.") if not module.ispkg
]


@pytest.mark.parametrize("module", MODULES)
def test_a_module_named_like_its_mechanism_is_exported(module: str) -> None:
    name = module.rpartition(".")[2]
    mechanism = getattr(import_module(module), name, None)
    assert not isfunction(mechanism) or name in tacit.mechanisms.__all__


def test_all_lists_what_is_there_in_order() -> None:
    names = tacit.mechanisms.__all__
    assert names == sorted(names)
    assert all(hasattr(tacit.mechanisms, name) for name in names)


def test_reprs_show_public_facts_only() -> None:
    one, other = (StepLoss.from_losses(integers(0, 2), losses) for losses in ([0, 1, 2], [9, 0, 9]))
    for build in (exponential, permute_and_flip, noisy_max, tree_descent):
        assert repr(build(one, 1)) == repr(build(other, 1))
    assert repr(stable_argmin(one, 1, "0.1")) == repr(stable_argmin(other, 1, "0.1"))


def examples() -> list[Any]:
    """The functions of the rooms that make laws, losses, guarantees and grids."""
    rooms = [tacit.mechanisms, tacit.guarantees, tacit.grids]
    named = [getattr(room, name) for room in rooms for name in getattr(room, "__all__", dir(room))]
    homes = tuple(room.__name__ for room in rooms)
    return [f for f in named if isfunction(f) and f.__module__.startswith(homes) and not f.__name__.startswith("_")]


@pytest.mark.parametrize("function", examples(), ids=lambda function: function.__name__)
def test_a_function_shows_how_it_is_called(function: Any) -> None:
    (found,) = doctest.DocTestFinder(recurse=False).find(function, function.__name__)
    assert found.examples, f"{function} has no example"
    assert doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(found).failed == 0
