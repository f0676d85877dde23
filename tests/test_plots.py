"""Pictures are made, show what they should, and warn where a picture would show data."""

import io
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import tacit
from tacit import Approx, InvalidInput, Pure, Renyi, Zcdp, plots
from tacit.audit.survey import SurveyLine
from tacit.grids import integers
from tacit.mechanisms import laplace, randomised_response, shifted_inverse

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def words(figure: "Figure") -> str:
    """All texts of a figure, which can be written as a file."""
    from matplotlib.text import Text

    out = io.BytesIO()
    figure.savefig(out, format="png")
    assert out.getvalue().startswith(b"\x89PNG")
    return "\n".join(text.get_text() for text in figure.findobj(Text))


def test_a_law_is_drawn_with_a_warning() -> None:
    law = shifted_inverse(profile=[9, 5, 2], grid=integers(0, 20), epsilon=1)
    text = words(plots.law(law))
    assert "shifted inverse by scan, Pure(1) for one draw" in text
    assert "for study, with public or made-up data" in text
    assert "without" in words(plots.law({"with": laplace(9, 1), "without": laplace(8, 1)}, range(20), "Neighbours"))
    assert "randomised response" in words(plots.law(randomised_response(0, 2, 1)))


def test_a_law_is_drawn_where_a_picture_can_show_it() -> None:
    with pytest.raises(InvalidInput, match="shows 1 to 400 outputs"):
        plots.law(laplace(9, 1), range(1000))
    with pytest.raises(InvalidInput, match="no law to draw"):
        plots.law({})


def test_draws_of_laws_too_large_to_list() -> None:
    text = words(plots.draws({"with": [1.0, 2.0, 3.0], "without": [2.0]}, "Sums"))
    assert "for study" in text
    assert "without" in text
    with pytest.raises(InvalidInput, match="no draws"):
        plots.draws({"with": []})


def test_accuracy_against_epsilon() -> None:
    forecast = tacit.plan("persons", persons=1000, epsilon=1)
    text = words(plots.accuracy(forecast, tacit.plan("ratio", persons=50, epsilon=1)))
    assert "persons, 1,000 persons, lognormal: 19 of 20 within" in text
    assert "ratio, 50 persons" in text
    assert "0.25" in text
    with pytest.raises(InvalidInput, match="no forecast"):
        plots.accuracy()


def test_a_budget_burning_down() -> None:
    figure = plots.burn_down(Pure(2), [("first", Pure(1)), ("x" * 99, Pure("0.5"))])
    (axes,) = figure.axes
    assert [bar.get_width() for bar in axes.patches] == [1, 1, 0.5, 0.5]  # type: ignore[attr-defined]
    assert "left (light) and spent (dark) of Pure(2)" in words(figure)
    for total in (Approx(1, "1e-6"), Zcdp(1), Renyi(2, 1)):
        assert words(plots.burn_down(total, [("all", total)]))


def test_what_an_audit_found() -> None:
    good = SurveyLine("mechanism", "noise", "Pure(1/2)", "ε = 0.5", "ε ≥ 0.3", "tight", True)
    bad = SurveyLine("museum", "no noise", "Pure(1)", "ε = ∞", "ε ≥ 9", "caught", True)
    far = {"name": "half the noise", "promised": "Pure(1)", "exact": "ε = 2", "sampled": "–"}
    text = words(plots.audit([good, bad, far]))
    assert all(name in text for name in ("noise", "no noise", "half the noise", "promised", "exactly"))
    with pytest.raises(InvalidInput, match="no promise of pure"):
        plots.audit([SurveyLine("mechanism", "x", "Zcdp(1)", "–", "–", "tight", True)])


def test_without_matplotlib_the_remedy_is_named() -> None:
    code = (
        "import sys; sys.modules['matplotlib'] = None; import tacit.plots as p, tacit\n"
        "try: p.burn_down(tacit.Pure(1), [])\n"
        "except tacit.InvalidInput as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert "pip install 'tacit-dp[plot]'" in done.stdout
