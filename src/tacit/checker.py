"""Checks a certificate of Tacit by itself: this file imports nothing else of Tacit, only the standard library.

    python -I checker.py answer.json              what `tacit verify answer.json` runs

CHECKED, of each release, in exact rationals and rigorous bounds on exp and log: every draw's price follows from the
rates of its law, by the formula that stands below under the law's name; every drawn value lies in the law's support;
the prices compose to what is said to be spent, and that, converted and amplified, is covered by the charge; a value
that is said to come from a draw does. Numbers are exact texts, "1/3"; prices a kind and its numbers, "Approx 1 1/1000".
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from hashlib import sha256
from math import ceil, floor, isqrt, log
from pathlib import Path
from typing import Any

FORM = "certificate 1"
FIELDS = {"question", "charge", "protected", "private", "ledger", "draws", "spent", "order"}
FIELDS |= {"sample", "values", "proofs"}
ROUNDED = {"exponential mechanism", "cut", "shared weight"}  # what ρ buys of these is rounded down
TRUSTED = """that these laws were drawn from with true randomness; that a person moves what was drawn from no more than
            is said, on one side of a part, as Tacit proves; what is computed; and without a ledger that it is true."""
VERIFIED, REFUSED, UNCOVERED = 0, 1, 5
"""Exit codes: all of it holds; something does not; what can be checked holds, but a law is not known."""
BITS, TINY, CLOSE = 192, Fraction(1, 1 << 10**4), Fraction(1, 10**6)
"""Binary digits of bounds; what is next to nothing; by how much of it a sum of rounded numbers may be rounded up."""


class Wrong(Exception):
    """What a certificate says does not hold."""


class Uncovered(Exception):
    """A law or a grid that is not known here."""


def need(holds: bool, otherwise: str) -> None:
    """Refuse unless something holds."""
    if not holds:
        raise Wrong(otherwise)


def number(text: Any) -> Fraction:
    """An exact number, written as a text."""
    need(isinstance(text, str) and len(text) <= 4000 and set(text) <= set("0123456789/-"), "a number is none")
    return Fraction(text)


def positive(text: Any) -> Fraction:
    """A number above 0, such as a rate."""
    need(number(text) > 0, "a rate or a size is not above 0")
    return number(text)


def whole(text: Any) -> int:
    """A whole number, written as a text."""
    need(number(text).denominator == 1, "a number is not whole")
    return number(text).numerator


def size(text: Any) -> int:
    """A whole number that is not negative."""
    need(whole(text) >= 0, "a move or a number of things is negative")
    return whole(text)


def exp_minus(x: Fraction) -> tuple[Fraction, Fraction]:
    """Bounds on e^{−x} for x ≥ 0: the series of e^{−x/2^k} in integers, squared k times, rounded outward each time."""
    need(x >= 0, "a rate or a threshold is negative")
    if x > 7000:
        return Fraction(0), TINY
    work, halvings = BITS + 64 + 2 * int(x), max(0, x.numerator.bit_length() - x.denominator.bit_length() + 5)
    one, ends = 1 << work, list[Fraction]()
    least = (x.numerator << work) // (x.denominator << halvings)  # x/2^k from below
    for y, up in ((least + 1, False), (least, True)):  # e^{−y} falls in y
        term, total, k = one, one, 0
        while term > 1:
            k += 1
            term = term * y // (one * k)
            total += -term if k % 2 else term
        total += (2 * k + 2) * (1 if up else -1)  # terms are rounded by less than two each; the rest is below the last
        for _ in range(halvings):
            total = -(-total * total >> work) if up else total * total >> work
        ends.append(Fraction(max(total, 0), one))
    return ends[0], min(ends[1], Fraction(1))


def log_above(x: Fraction) -> Fraction:
    """An upper bound on ln x = y + ln(x·e^{−y}) ≤ y + x·e^{−y} − 1, which holds for any y: a float near it will do."""
    need(x > 0, "there is a logarithm of nothing")
    y = Fraction(log(x.numerator) - log(x.denominator))
    return y + x * (exp_minus(y)[1] if y >= 0 else 1 / exp_minus(-y)[0]) - 1


def gaussian_tail_above(variance: Fraction, k: int) -> Fraction:
    """A bound on P[Z ≥ k] of discrete Gaussian noise: by terms, or for large v by a fraction of ∫_{k−½}^∞ f."""
    if k < 1 or (variance > 4096 and (2 * k - 1) ** 2 < 4 * variance):
        return Fraction(1)
    # All weights add up to √(2πv) at least, by Poisson's formula, and f is convex from √v on.
    every = max(
        Fraction(isqrt(floor(variance * 62831853071 * 10**30)), 10**20), 1 + 2 * exp_minus(1 / (2 * variance))[0]
    )
    if variance > 4096:
        tail = a = k - Fraction(1, 2)
        for level in range(60, 0, -1):  # rounding to the nearest 2^-99 changes the quotient by less than 2^-90 of it
            tail = Fraction(round((a + level * variance / tail) * 2**99), 2**99)
        return exp_minus(a * a / (2 * variance))[1] * variance / tail * (1 + Fraction(1, 2**60)) / every
    total, z = Fraction(0), k
    while True:
        term, ratio = exp_minus(z * z / (2 * variance))[1], exp_minus((2 * z + 1) / (2 * variance))[1]
        if term <= max(total / 2**40, TINY):
            return (total + term / (1 - ratio)) / every
        total, z = total + term, z + 1


@dataclass(frozen=True)
class Price:
    """A kind of guarantee and its numbers."""

    kind: str
    first: Fraction
    delta: Fraction = Fraction(0)

    @classmethod
    def read(cls, text: Any) -> Price:
        """From "Pure 1/2", "Zcdp 1/10" or "Approx 1 1/1000000"."""
        kind, *words = text.split(" ")
        price = cls(kind, *map(number, words))
        need(len(words) == {"Pure": 1, "Zcdp": 1, "Approx": 2}.get(kind), "a price cannot be read")
        need(price.first >= 0 and 0 <= price.delta < 1, "a price is negative, or its δ is no probability")
        return price

    def __str__(self) -> str:
        delta = f" and δ = {float(self.delta):.6g}" if self.kind == "Approx" else ""
        return f"{'ρ' if self.kind == 'Zcdp' else 'ε'} = {float(self.first):.6g}{delta}"


def rho_of(epsilon: Fraction) -> Fraction:
    """An upper bound on ε·tanh(ε/2), which ε-DP is in zCDP."""
    low = exp_minus(epsilon)[0]
    return epsilon * (1 - low) / (1 + low)


def epsilon_of(rho: Fraction, delta: Fraction, order: Any) -> Fraction:
    """An upper bound on αρ + ln(1 − 1/α) − ln(δα)/(α − 1), which ρ-zCDP implies at δ for any order α > 1."""
    alpha = number(order)
    need(alpha > 1 and delta > 0, "a conversion to ε and δ needs an order above 1 and a δ")
    return alpha * rho + log_above(1 - 1 / alpha) + log_above(1 / (delta * alpha)) / (alpha - 1)


Cost = tuple[str, Fraction] | tuple[str, Fraction, Fraction]  # a kind and its numbers


def noise(law: Any, price: Price) -> Cost:
    """Integers that a person moves by s together cost rate·s, or s²/(2v); so many looks at one, so many times that."""
    s, times = positive(law["sensitivity"]), max(1, size(law["times"] if law["law"] == "looks" else "1"))
    if law["noise"] == "discrete Laplace":
        return "Pure", times * positive(law["rate"]) * s
    need(law["noise"] == "discrete Gaussian", "a noise is not known")
    return "Zcdp", times * s * s / (2 * positive(law["variance"]))


def choice(law: Any, price: Price) -> Cost:
    """By γ times a loss that moves in [−r, s]: γ·(r + s); weights have bounded range too, an eighth of the square."""
    epsilon = positive(law["rate"]) * sum(map(size, law["moves"]))
    bounded = law["law"] != "noisy maximum" and price.kind == "Zcdp"
    return ("Zcdp", epsilon * epsilon / 8) if bounded else ("Pure", epsilon)


def scan(law: Any, price: Price) -> Cost:
    """ε1·max(r, s) + ε2·(r + s)."""
    moves = [size(part) for part in law["moves"]]
    return "Pure", positive(law["threshold"]) * max(moves) + positive(law["each"]) * sum(moves)


def shared(law: Any, price: Price) -> Cost:
    """Draws about parts of everybody's weight: one of them, times the most that anybody weighs, or its square."""
    costs = [cost_of(part["law"], price) for part in law["parts"]]
    need(set(costs) == {costs[0]} and costs[0][0] == price.kind != "Approx", "parts by shared weight cost differently")
    return price.kind, positive(law["weight"]) ** (2 if price.kind == "Zcdp" else 1) * costs[0][1]


def scan_and_release(law: Any, price: Price) -> Cost:
    """The largest sum of what a person moves: in the test, in the choice of the cap, and in one of the two numbers."""
    test, sums = positive(law["test"]), list[Fraction]()
    for kind in law.keys() & {"many", "few", "handful"}:
        *chosen, within_up, within_down, above_up, above_down = map(positive, law[kind])
        lose, gain = (0, test) if kind == "many" else (test, test if kind == "few" and "handful" in law else 0)
        over = (chosen[0], 0) if kind == "many" else (chosen[1], chosen[0])
        sums += [
            lose + over[0] + above_down,
            gain + over[1] + above_up,
            lose + within_down,
            gain + sum(chosen) + within_up,
        ]
        sums += [lose + over[0] + within_down, gain + over[1] + within_up] if law["beyond"] != "0" else []
    return "Pure", max(sums)


def capped_flow(law: Any, price: Price) -> Cost:
    """By weights, at the level or at twice it, or by a scan, at twice the level."""
    up, down = positive(law["up"]), positive(law["down"])
    if "weight" in law:
        weight, parts, twice = positive(law["weight"]), positive(law["parts"]), law["factor"] == "2"
        need(twice or (law["factor"] == "1" and down >= weight and parts >= 1), "the rates of a flow do not suit")
        at_level, beyond = (up + 3 * weight, down + (2 + 1 / parts) * weight), (up / 2 + 3 * weight, down + 3 * weight)
        return "Pure", max(up + 2 * weight, *(beyond if twice else at_level))
    first, each = positive(law["threshold"]), positive(law["each"])
    return "Pure", max(up + 2 * first + 2 * each, down + first + 3 * each, up / 2 + 2 * first + 3 * each)


def stable_keys(law: Any, price: Price) -> Cost:
    """Counts of keys above a threshold, a person being in κ of them, or weights w in each of m; a new one within δ."""
    threshold, least, weighted = whole(law["threshold"]), whole(law["least"]), law["law"] == "weighted keys"
    need(least >= 2, "a key of one person may be shown")
    most = size(law["most"]) if weighted else 1
    given = [(size(k), size(w)) for k, w in law["weights"]] if weighted else [(size(law["keys"]), 1)]
    if law["noise"] == "truncated Laplace":
        rate, bound, (keys, _) = positive(law["rate"]), whole(law["bound"]), given[0]
        need(not weighted and threshold >= bound + least, "a threshold is below what noise can reach")
        low = exp_minus(rate)[0]
        top = exp_minus(rate * bound)[1] * (1 - low) / (1 + low - 2 * exp_minus(rate * (bound + 1))[1])
        return "Approx", keys * rate, keys * top
    need(law["noise"] == "discrete Gaussian" and price.delta > 0, "a noise is not known, or has no δ")
    variance, half = positive(law["variance"]), price.delta / 2
    squared = most * most if weighted else given[0][0]
    need(not weighted or all(k * w * w <= squared for k, w in given), "a person of many keys weighs too much")
    shown = max(k * gaussian_tail_above(variance, threshold - w - (least - 1) * most) for k, w in given)
    epsilon = epsilon_of(squared / (2 * variance), half, law["order"])
    need(epsilon <= price.first <= epsilon * (1 + CLOSE), "noise on keys does not suit ε")
    return "Approx", price.first, 2 * shown


def tested(law: Any, price: Price) -> Cost:
    """Tests, which mere noise passes with chance e^{−rate·T}/(1 + e^{−rate}), and others beside; four bound a share."""
    tests = [(positive(rate), whole(least)) for rate, least in law.get("tests") or [(law["rate"], law["threshold"])]]
    passed = sum((exp_minus(rate * least)[1] / (1 + exp_minus(rate)[0]) for rate, least in tests), Fraction(0))
    if law["law"] == "share":
        return "Approx", tests[0][0] * positive(law["moves"]) + positive(law["share"]), 4 * passed
    beside = sum((positive(rate) * size(moved) for rate, moved in law.get("beside", ())), Fraction(0))
    return "Approx", beside + sum(rate for rate, _ in tests), passed


def propose(law: Any, price: Price) -> Cost:
    """A scan for a bound and noise for it; without room one passes: e^{−e2·C}(1 − e^{−e1})/(1 − e^{−e1−e2})."""
    first, each = positive(law["threshold"]), positive(law["each"])
    early = exp_minus(each * whole(law["room"]))[1] * (1 - exp_minus(first)[0]) / (1 - exp_minus(first + each)[1])
    return "Approx", first + 2 * each + positive(law["rate"]), size(law["bounds"]) * early


def smooth(law: Any, price: Price) -> Cost:
    """Noise that admits a shift by s and a scale that grows by e^t for each person, e^{−t} the decay; s is rounded."""
    shift, decay, kind = positive(law["shift"]), positive(law["decay"]), "Pure"
    need(decay < 1, "a sensitivity may grow without end")
    grown, low = log_above(1 / decay), -log_above(decay)  # t from above and from below
    if law["noise"] == "Student":
        d = whole(law["degrees"])
        spent = shift * (d + 1) / (2 * Fraction(isqrt(d << 400), 1 << 200)) + grown * max(1, d)
    elif law["noise"] == "Laplace" and price.delta > 0:
        spent, kind = max(shift + grown, (1 / decay - 1) * log_above(1 / price.delta) + shift - low), "Approx"
    else:
        need(law["noise"] == "Laplace-log-normal", "a noise is not known, or has no δ")
        sigma = positive(law["sigma"])
        spent, kind = (shift / exp_minus(3 * sigma * sigma / 2)[0] + grown / sigma) ** 2 / 2, "Zcdp"
    need(spent <= price.first <= spent * (1 + 100 * CLOSE), "a noise of a private scale does not suit its price")
    return kind, price.first, price.delta


LAWS: dict[str, Callable[[Any, Price], Cost]] = {"noise": noise, "looks": noise, "threshold scan": scan}
LAWS |= {"exponential mechanism": choice, "cut": choice, "noisy maximum": choice, "shared weight": shared}
LAWS |= {"scan and release": scan_and_release, "capped flow": capped_flow}
LAWS |= {"share": tested, "stable mode": tested, "tests": tested}
LAWS |= {"stable keys": stable_keys, "weighted keys": stable_keys, "smooth sensitivity": smooth, "proposal": propose}
"""The public vocabulary: each law by its name."""


def cost_of(law: Any, price: Price) -> Cost:
    """What a law costs; the price that is asked says only which of its formulas, and at which δ."""
    if not isinstance(law, dict) or law.get("law") not in LAWS:
        raise Uncovered
    return LAWS[law["law"]](law, price)


def supported(law: Any, drawn: Any) -> None:
    """Refuse what a law cannot have drawn."""
    name = law["law"]
    if "of" in law:
        on_grid(law["of"], drawn["value"] if isinstance(drawn, dict) else drawn)
    elif name == "noise":
        alone = law["parts"] is None
        count = len([whole(value) for value in ([drawn] if alone else drawn)])
        need(
            isinstance(drawn, list) != alone and count == (1 if alone else whole(law["parts"])),
            "other parts were drawn",
        )
    elif name == "shared weight":
        rest = iter(drawn)
        need(len(drawn) == sum(size(part["times"]) for part in law["parts"]), "values of other parts were drawn")
        for part in law["parts"]:
            for _ in range(size(part["times"])):
                supported(part["law"], next(rest))
    elif name == "scan and release":
        caps = {digits * 10**zeros for zeros in range(37) for digits in (10, 12, 15, 20, 25, 30, 40, 50, 60, 80)}
        caps = caps | {1, 2, 3, 4, 5, 6, 8} if law["caps"] == "readable" else set(map(int, law["caps"].split()))
        need(whole(drawn["cap"]) in caps and drawn["kind"] in law, "a cap is none of those to choose from")
        need(isinstance(whole(drawn["within"]) + whole(drawn["above"]), int), "a total is not whole")
    elif name == "capped flow":
        level, words = Fraction(whole(drawn["cap"]), whole(law["factor"])), law["levels"].split()
        two = level.numerator & -level.numerator  # an octave is a power of two, once or three times
        octave = level.numerator in (two, 3 * two) and level <= whole(words[-1])
        need(level.denominator == 1 and (octave if words[0] == "octaves" else str(level) in words), "a cap is no level")
        whole(drawn["value"])
    elif name in ("stable keys", "weighted keys"):
        need(len({json.dumps(key) for key, _ in drawn}) == len(drawn), "a key is shown twice")
        need(all(whole(n) >= whole(law["threshold"]) for _, n in drawn), "a key is shown below the threshold")
    elif name == "stable mode":
        need(drawn is None or isinstance(drawn, dict | str), "a value is neither shown nor refused")
    elif name == "share":
        share, counts = number(drawn["value"]), [whole(count) for count in drawn["counts"]]
        near = len(counts) == 4 or (len(counts) == 2 and (share / positive(law["lattice"])).denominator == 1)
        need(near and 0 <= share <= 1, "there is no such share")
    elif drawn is not None or name == "smooth sensitivity":  # a proposal may be refused
        value = drawn["value"] if isinstance(drawn, dict) else drawn
        need((number(value) / positive(law["lattice"])).denominator == 1, "a drawn value is not on its lattice")
        bound = int(number(drawn["bound"]) / positive(law["lattice"])) if value is not drawn else 0
        need(
            value is drawn or (bound & (bound - 1) == 0 < bound and bound.bit_length() <= whole(law["bounds"])),
            "no bound",
        )


def on_grid(grid: Any, drawn: Any) -> None:
    """Refuse a value that is not on a public grid of multiples, or of numbers with few digits."""
    x, first, last = number(drawn), grid["first"], grid["last"]
    if grid["grid"] == "digits":
        digits, smallest, place = whole(grid["count"]), whole(grid["smallest"]), Fraction(0)
        need(1 <= digits <= 99, "a grid has no such digits")
        if x:
            decade = len(str(abs(x.numerator))) - len(str(x.denominator))
            decade -= Fraction(10) ** decade > abs(x)
            shown = abs(x) / Fraction(10) ** (decade - digits + 1) - 10 ** (digits - 1) + 1
            place = ((decade - smallest) * 9 * 10 ** (digits - 1) + shown) * (1 if x > 0 else -1)
    elif grid["grid"] == "multiples":
        place = x / positive(grid["step"])
    else:
        raise Uncovered
    inside = (first is None or place >= whole(first)) and (last is None or place <= whole(last))
    need(place.denominator == 1 and inside and (place * x > 0 or place == x), "a drawn value is not on its grid")


def spent_of(draws: list[tuple[str, Price]], kind: str) -> tuple[Fraction, ...]:
    """What draws cost together: sums, but only one side of each division of the persons, "sum+" or "sum-"."""
    sides: dict[str, dict[str, tuple[Fraction, Fraction]]] = {}
    for part, price in draws:
        need(price.kind in ("Pure", kind) and part[-1:] in ("", "+", "-"), "these prices or parts do not add up")
        side = sides.setdefault(part[:-1] + "|" if part else "", {})
        first, delta = side.get(part, (Fraction(0), Fraction(0)))
        added = rho_of(price.first) if kind == "Zcdp" and price.kind == "Pure" else price.first
        side[part] = first + added, delta + price.delta
    need(all(len(set(side.values())) == 1 for side in sides.values()), "a side of a division lacks draws of the other")
    return tuple(sum((next(iter(side.values()))[i] for side in sides.values()), Fraction(0)) for i in (0, 1))


def covered(spent: Price, charge: Price, sample: Fraction, order: Any) -> None:
    """Refuse a charge that does not cover what was spent: converted, then amplified by a secret sample."""
    epsilon, delta = spent.first, spent.delta
    if charge.kind == "Zcdp":
        need(sample == 1 and spent.kind != "Approx", "zCDP neither follows from ε and δ nor is amplified")
        epsilon = rho_of(epsilon) if spent.kind == "Pure" else epsilon
    elif spent.kind == "Zcdp":
        need(charge.kind == "Approx", "zCDP is never pure")
        delta = charge.delta / sample
        epsilon = epsilon_of(epsilon, delta, order)
    if sample != 1:  # ln(1 + p(e^ε − 1)) = ε + ln(p + (1 − p)e^{−ε})
        epsilon, delta = epsilon + log_above(sample + (1 - sample) * exp_minus(epsilon)[1]), delta * sample
    need(epsilon <= charge.first and delta <= charge.delta, f"the draws cost more than the charge of {charge}")


def value_of(rule: Any, draws: list[Any]) -> Any:
    """The value that follows from a draw, or from the difference of two, by the rounding that is named."""
    x = Fraction(0)
    for sign, draw in zip((1, -1), rule["draws"], strict=False):
        drawn = draws[draw]["drawn"]
        x += sign * amount(drawn[rule["place"]] if isinstance(drawn, list) else drawn, draws[draw]["law"])
    x, step = x * number(rule["times"]), number(rule["step"])
    turn: Any = {"even": round, "down": floor, "up": ceil}[rule["round"]]
    if rule["as"] in ("float", "integer"):
        return float(x * step) if rule["as"] == "float" else turn(x * step)
    if rule["as"] == "decimal":
        return str(Decimal(turn(x)) * (Decimal(step.numerator) / Decimal(step.denominator)))
    if rule["as"] == "date":
        return str(date(1970, 1, 1) + timedelta(days=turn(x)))
    return str(datetime(1970, 1, 1) + timedelta(microseconds=turn(x)))


def amount(drawn: Any, law: Any) -> Fraction:
    """The number that a draw stands for; of a capped total what lies within, and those above beyond mere noise."""
    if isinstance(drawn, str | list):
        return number(drawn[1] if isinstance(drawn, list) else drawn)
    if law["law"] != "scan and release":
        return number(drawn["value"])
    epsilon, counted, allowed, *rest = map(number, law["value"])
    doubted, lifted = rest[:2] if drawn["kind"] == "many" else rest[2:]
    above, cap = whole(drawn["above"]), whole(drawn["cap"])
    left = max(Fraction(0), above - (allowed + doubted / (above * epsilon)) / epsilon) if above > 0 else 0
    return Fraction(whole(drawn["within"]) + int(lifted * cap / epsilon) + int(int(counted * cap) * left))


@dataclass
class Verdict:
    """Sentences about what holds, what does not, and what could not be checked."""

    checked: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    uncovered: list[str] = field(default_factory=list)

    @property
    def code(self) -> int:
        """The exit code."""
        return REFUSED if self.wrong else UNCOVERED if self.uncovered else VERIFIED

    def __str__(self) -> str:
        head = {VERIFIED: "VERIFIED", REFUSED: "REFUSED", UNCOVERED: "NOT COVERED IN FULL"}[self.code]
        lines = [f"wrong       {line}." for line in self.wrong] + [f"not covered {line}." for line in self.uncovered]
        return "\n".join([head, *lines, *(f"checked     {line}." for line in self.checked), f"trusted     {TRUSTED}"])


def check_release(release: Any, verdict: Verdict) -> None:
    """Check one release."""
    need(set(release) == FIELDS, "a release has other fields than it should")
    need(release["private"] is True, "it was made with a seeded source and protects nobody")
    draws, charge, spent = release["draws"], Price.read(release["charge"]), Price.read(release["spent"])
    priced = list[tuple[str, Price]]()
    for draw in draws:
        need(set(draw) == {"part", "law", "price", "drawn"}, "a draw has other fields than it should")
        price = Price.read(draw["price"])
        priced.append((draw["part"], price))
        try:
            cost = Price(*cost_of(draw["law"], price))
            rounded = CLOSE if price.kind == "Zcdp" and draw["law"]["law"] in ROUNDED else 0
            near = cost.first <= price.first <= cost.first * (1 + rounded)
            right = near and cost.kind == price.kind and cost.delta <= price.delta
            need(right, f"the law {draw['law']['law']!r} costs {cost}, and {price} is said")
            supported(draw["law"], draw["drawn"])
        except Uncovered:
            verdict.uncovered.append(f"a law that this checker does not know, said to cost {price}")
    need(bool(priced), "nothing was drawn")
    first, delta = spent_of(priced, spent.kind)
    near = first <= spent.first <= first * (1 + (CLOSE if spent.kind == "Zcdp" else 0))
    need(near and delta == spent.delta, "the draws cost other than what is said")
    sample = positive(release["sample"] or "1")
    need(charge.delta < sample <= 1, "there is no such sample")
    covered(spent, charge, sample, release["order"])
    traced = [value for value in release["values"] if value["from"] is not None]
    for value in release["values"]:
        need(set(value) == {"statistic", "key", "value", "from"}, "a value has other fields")
        if value["from"] is not None:
            same = json.dumps(value_of(value["from"], draws)) == json.dumps(value["value"])
            need(same, f"the {value['statistic']} is not what was drawn")
    names = ", ".join(dict.fromkeys(str(value["statistic"]) for value in release["values"]))[:200] or "no value"
    laws = ", ".join(dict.fromkeys(str((draw["law"] or {}).get("law", "?")) for draw in draws))
    told = f"{names}: {len(draws)} draws ({laws}) cost {spent}, within {charge}; what was drawn can be drawn"
    rest = f"{len(traced)} of {len(release['values'])} values are draws, the others computed"
    verdict.checked.append(f"{told}; {rest}; protected is {release['protected']}; proofs {release['proofs']}")


def check(certificate: Any) -> Verdict:
    """Check a certificate, or an answer that has one."""
    verdict = Verdict()
    found: Any = certificate.get("certificate", certificate) if isinstance(certificate, dict) else None
    try:
        need(isinstance(found, dict) and set(found) == {"tacit", "releases", "digest"}, "this is no certificate")
        need(found["tacit"] == FORM and bool(found["releases"]), "this certificate has a form that is not known here")
        need(found["digest"] == digest(found["releases"]), "the certificate was changed: its digest is another")
        for release in found["releases"]:
            check_release(release, verdict)
    except Wrong as error:
        verdict.wrong.append(str(error))
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError):
        verdict.wrong.append("the certificate cannot be read")
    return verdict


def digest(releases: Any) -> str:
    """The SHA-256 of what a certificate says, as JSON with sorted keys."""
    return sha256(json.dumps(releases, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


if __name__ == "__main__":  # pragma: no cover - as a file of its own
    print(outcome := check(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))))
    sys.exit(outcome.code)
