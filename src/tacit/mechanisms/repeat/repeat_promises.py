"""What the best of K runs promises, K random and secret, from what one run promises.

Let Q be the law of one run, ordered by score (equal scores by an independent uniform number, which is free), f(z) =
E[z^K], and q = Q(below y) + u·Q(y) for u in [0, 1]. The best of K runs is y with probability f(Q(≤ y)) − f(Q(< y)) =
Q(y)·E_u[f'(q)]. Below, p = 1 − q is the chance of a randomised event after one run, so whatever one run promises bounds
p' by p, and the pair q, q' belongs to neighbours at the same y and u.

NEGATIVE BINOMIAL. f'(q) ∝ s^{−(1+η)}, s = 1 − (1−γ)q = γ + (1−γ)p: the chance of that event or of a coin of γ.
- Pure(ε) → Pure((2+η)ε): s' ≤ e^ε·s, so f'(q) ≤ e^{(1+η)ε}·f'(q'); Q(y) ≤ e^ε·Q'(y) gives the rest.
- Approx(ε, δ) → Approx((2+η)ε, 1 − f(1−δ)): neighbours' laws split as (1−δ)Q₀ + δQ₁ and (1−δ)Q₀' + δQ₁' with Q₀, Q₀'
  within e^ε of each other (every (ε, δ) pair is a post-processing of a coin that is exposed with chance δ). Runs that
  are all of the first kind give y with probability (1−δ)·Q₀(y)·E_u[f'((1−δ)q₀)], where s = γ~ + (1−γ~)p with 1 − γ~ =
  (1−γ)(1−δ), so the pure argument holds for them; some run is of the other kind with probability 1 − f(1−δ) ≤ δ·E[K].
- Rényi of every order, one run's being D: for any λ^ > 1, at order λ,
  D(λ) + (1+η)·((1−1/λ^)·D(λ^) + ln(1/γ)/λ^) + ln E[K]/(λ−1).
  Why: a^λ·b^{1−λ} is convex, so the moment of order λ is at most Σ Q^λ·Q'^{1−λ}·E_u[f'(q)·(f'(q)/f'(q'))^{λ−1}]; f' ≤
  f'(1) = E[K], and s'^λ^·s^{1−λ^} ≤ e^{(λ^−1)D(λ^)} with s ≥ γ gives s'/s ≤ e^{(1−1/λ^)D(λ^)}·γ^{−1/λ^}.

POISSON of mean m. f'(q)^λ·f'(q')^{1−λ} = m·e^{m(λ−1)(p' − pλ/(λ−1))} ≤ m·e^{m(λ−1)δ^}, where one run is (ε^, δ^) with
e^ε^ = λ/(λ−1). No run at all has probability e^{−m} on either side. So the divergence of order λ is at most
ln(e^{−m} + m·e^{(λ−1)(D(λ) + mδ^)})/(λ−1). There is no pure bound: p may be 0 where p' is not negligible beside 1/m.

Orders are searched over public numbers only, and any of them gives a valid bound.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from tacit.errors import InvalidInput
from tacit.guarantees import Approx, Guarantee, Pure, Renyi, RenyiCurve, Zcdp, rounding
from tacit.guarantees.conversions import Curve, lowest, renyi_approx, slack
from tacit.guarantees.kinds import above_one, probability
from tacit.mechanisms.repeat.run_counts import NegativeBinomial, Poisson, RunCount
from tacit.numbers.enclosures import Enclosure, exp, log
from tacit.numbers.exact import Number
from tacit.proofs import Argument, Proof
from tacit.proofs import rules as by


def promised(
    one_run: Guarantee, runs: RunCount, *, order: Number | None = None, delta: Number | None = None
) -> Guarantee:
    """What the best of ``runs`` promises: of the kind of one run, or Renyi at ``order``, or Approx at ``delta``."""
    if order is not None and delta is not None:
        raise InvalidInput("give order= for a Renyi guarantee or delta= for an Approx one, not both.")
    if order is None and delta is None:
        return _direct(one_run, runs)
    curve = _repeated(one_run, runs)
    if order is not None:
        at = above_one(order)
        return Renyi(at, rounding.up(lambda bits: curve(at, bits)))
    chance = probability(delta)
    best = lowest(lambda a, bits: curve(a, bits) + slack(a, chance, bits))
    epsilon = rounding.up(lambda bits: renyi_approx(curve(best, bits), best, chance, bits))
    if isinstance(one_run, Pure) and isinstance(runs, NegativeBinomial):
        epsilon = min(epsilon, _direct(one_run, runs).to(Approx, delta=chance).epsilon)
    return Approx(epsilon, chance)


def selected(epsilon: Fraction, eta: Fraction) -> Fraction:
    """(2 + η)·ε."""
    return (2 + eta) * epsilon


def _direct(one_run: Guarantee, runs: RunCount) -> Guarantee:
    if isinstance(runs, NegativeBinomial) and isinstance(one_run, Pure):
        return Pure(selected(one_run.epsilon, runs.eta))
    if isinstance(runs, NegativeBinomial) and isinstance(one_run, Approx):
        delta = rounding.up(lambda bits: 1 - runs.generating(Enclosure.of(1 - one_run.delta, bits)))
        if delta >= 1:
            raise InvalidInput("this many runs take delta to 1; give each run a smaller delta or run it less often.")
        return Approx((2 + runs.eta) * one_run.epsilon, delta)
    raise InvalidInput(
        "the best of these runs has no guarantee of the kind of one run; name order= for Renyi or delta= for Approx, "
        "or repeat a Pure or Approx mechanism a NegativeBinomial number of times."
    )


def _repeated(one_run: Guarantee, runs: RunCount) -> Curve:
    """The Rényi curve of the best of ``runs``."""
    if isinstance(one_run, Pure):
        base = RenyiCurve.pure(one_run.epsilon)
    elif isinstance(one_run, Zcdp):
        base = RenyiCurve.gaussian(one_run.rho)
    elif isinstance(one_run, RenyiCurve):
        base = one_run
    else:
        raise InvalidInput(
            "one run must be Pure, Zcdp or a RenyiCurve for this; an Approx one takes no order or delta."
        )
    if isinstance(runs, NegativeBinomial):
        return _negative_binomial(base, runs)
    if isinstance(runs, Poisson):
        return _poisson(base, one_run, runs)
    raise InvalidInput("runs must be NegativeBinomial(eta, gamma) or Poisson(mean).")


def _negative_binomial(base: RenyiCurve, runs: NegativeBinomial) -> Curve:
    def selection(order: Fraction, bits: int) -> Enclosure:
        return base.divergence(order, bits) * (1 - 1 / order) - log(runs.gamma, bits) / order

    other = lowest(selection)

    def curve(order: Fraction, bits: int) -> Enclosure:
        return (
            base.divergence(order, bits) + selection(other, bits) * (1 + runs.eta) + runs.mean(bits).log() / (order - 1)
        )

    return curve


def _poisson(base: RenyiCurve, one_run: Guarantee, runs: Poisson) -> Curve:
    exposed = _pure_delta(one_run.epsilon) if isinstance(one_run, Pure) else _curve_delta(base)

    def curve(order: Fraction, bits: int) -> Enclosure:
        one = (base.divergence(order, bits) + exposed(order, bits) * runs.rate) * (order - 1)
        return (one.exp() * runs.rate + exp(-runs.rate, bits)).log() / (order - 1)

    return curve


def _pure_delta(epsilon: Fraction) -> Callable[[Fraction, int], Enclosure]:
    """The δ^ of a pure mechanism at e^ε^ = λ/(λ−1): (e^ε − e^ε^)/(1 + e^ε), or 0."""

    def delta(order: Fraction, bits: int) -> Enclosure:
        factor = exp(epsilon, bits)
        excess = (factor - order / (order - 1)) / (factor + 1)
        return Enclosure.between(max(excess.low, Fraction(0)), max(excess.high, Fraction(0)), bits)

    return delta


def _curve_delta(base: RenyiCurve) -> Callable[[Fraction, int], Enclosure]:
    """The δ^ of a Rényi curve at e^ε^ = λ/(λ−1): ln δ^ = (α−1)(D(α) − ε^ + ln(1−1/α)) − ln α at the best α."""

    def delta(order: Fraction, bits: int) -> Enclosure:
        def logarithm(a: Fraction, precision: int) -> Enclosure:
            room = base.divergence(a, precision) - log(order / (order - 1), precision) + log(1 - 1 / a, precision)
            return room * (a - 1) - log(a, precision)

        found = logarithm(lowest(logarithm), bits)
        return found.exp() if found.high < 0 else Enclosure.of(1, bits)

    return delta


def argue(p: Argument, *, known: bool = False, looked_up: bool = False) -> None:
    """P(y) = Q(y)·E_u[f'(q)], f'(q) ∝ s^{−(1+η)}, s = γ + (1−γ)·p, where p is the chance of an event after one run.

    ``known`` is for a number of runs that does not vary, f'(q) ∝ q^{k−1}: q moves by any factor where 1 − q moves by
    e^ε. ``looked_up`` is for scores that the mechanism does not release: the event is not one of its outputs.
    """
    epsilon, factor, eta = p.positive("ε"), p.real("e^ε", lambda x: x > 1), p.real("η", lambda x: x > -1)
    gamma, chance, other = p.real("γ", lambda x: x > 0, lambda x: x < 1), p.within("p", 0, 1), p.within("p'", 0, 1)
    if not looked_up:
        p.assume(chance <= factor * other, other <= factor * chance)
    with p.case("the chance of the event, or of a coin of γ"):
        own, its_own = (1 - x if known else gamma + (1 - gamma) * x for x in (chance, other))
        p.derive(its_own <= factor * own)
    p.promise(epsilon + by.power(p, 1 + eta, epsilon), selected(epsilon, eta))


PROOFS = (
    Proof(
        "best of several runs",
        "mechanisms.repeat_and_select",
        "Pure((2 + η)ε) from Pure(ε)",
        argue,
        "the number of runs is truncated negative binomial and secret; the score is part of what a run releases",
    ),
)
