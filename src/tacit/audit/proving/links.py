"""The law of the proof is the law of the code.

Most of it is one definition: a proof runs the mechanism's own rules for rates, needs, losses and designs on symbols.
What a rule of the kernel says about a law besides (weights, noise, the program of a scan, the chance of an event) is
compared here with the probabilities that the mechanism states, on all small inputs and on random larger ones. Each
comparison is between rigorous enclosures; samplers are compared with those laws by the audit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations
from math import ceil
from random import Random

from tacit.answers.flows import Scanned, Weighed
from tacit.audit.small import SMALL
from tacit.curves import StepLoss
from tacit.errors import InvalidInput
from tacit.grids import integers
from tacit.guarantees import Pure, amplify
from tacit.mechanisms.choose.exponential import exponential, factor
from tacit.mechanisms.choose.permute_and_flip import permute_and_flip
from tacit.mechanisms.choose.priors import Decaying
from tacit.mechanisms.choose.stable_argmin import stable_argmin
from tacit.mechanisms.choose.stable_keys import stable_keys
from tacit.mechanisms.choose.stable_mode import stable_mode
from tacit.mechanisms.inverse.cuts import CutLaw, Stretch, Weights, cut_rate
from tacit.mechanisms.noise.noise import randomised_response
from tacit.mechanisms.search.binary_search import binary_search, laplace_look
from tacit.mechanisms.search.scan_rates import Rates, rates
from tacit.mechanisms.search.threshold_scan import ScanLaw, need_of, threshold_scan
from tacit.mechanisms.search.tree_descent import laplace_node, tree_descent
from tacit.mechanisms.totals.capped_flow import capped_flow
from tacit.mechanisms.totals.scan_and_release import scan_and_release
from tacit.noises import DiscreteGaussian, DiscreteLaplace, Lopsided, TruncatedLaplace
from tacit.noises.base import IntegerNoise
from tacit.numbers.enclosures import Enclosure, exp

BITS = 96
SLACK = Fraction(1, 2**60)
RANDOM_INPUTS = 6
"""How many larger inputs are drawn for each law, with a fixed seed."""
EPSILONS = (Fraction(1, 3), Fraction(1), Fraction(5, 2))


class Unlike(InvalidInput):
    """The code's law is not the one that its proof speaks about."""


def same(stated: Enclosure, expected: Enclosure, what: str) -> int:
    """One comparison of two enclosures."""
    if stated.low > expected.high + SLACK or expected.low > stated.high + SLACK:
        raise Unlike(f"the {what} is not the one that its proof speaks about.")
    return 1


def _losses(seed: int) -> Iterator[StepLoss]:
    """Every loss of the small statistics, and random ones on larger grids."""
    yield from dict.fromkeys(small.loss(x) for small in SMALL for x in small.datasets)
    random = Random(seed)
    for _ in range(RANDOM_INPUTS):
        losses = [random.randrange(9) for _ in range(random.randrange(6, 14))]
        yield StepLoss.from_losses(integers(0, len(losses) - 1), losses, one_directional=random.random() < 0.5)


def _moves(loss: StepLoss) -> tuple[int, int]:
    return (0, 1) if loss.one_directional else (1, 1)


def noises() -> int:
    """Masses of neighbouring integers have the ratios that the rules for noise and Gaussian shifts take."""
    done, random = 0, Random(1)
    for _ in range(4 * RANDOM_INPUTS):
        up, down = (Fraction(random.randrange(1, 40), 10) for _ in range(2))
        listed: list[tuple[IntegerNoise, Fraction, Fraction, int]] = [  # its exponent: rates above 0 and below, power
            (DiscreteLaplace(up), up, up, 1),
            (Lopsided(up, down), up, down, 1),
            (TruncatedLaplace(up, 12), up, up, 1),
            (DiscreteGaussian(up), 1 / (2 * up), 1 / (2 * up), 2),
        ]
        for noise, above, below, power in listed:
            base = noise.mass(0, BITS)
            for z in range(-6, 7):
                exponent = (above if z >= 0 else below) * abs(z) ** power
                done += same(noise.mass(z, BITS), base * exp(-exponent, BITS), noise.name)
    return done


def weights() -> int:
    """The exponential mechanism's probabilities are in proportion to π·e^{-γℓ} with the proof's γ."""
    done = 0
    for loss in _losses(2):
        for epsilon in EPSILONS[:2]:
            for law in (exponential(loss, epsilon), exponential(loss, epsilon, Decaying(2))):
                gamma, size = factor(epsilon, _moves(loss)), int(loss.grid.size)
                parts = [law.prior.weight(i, BITS) * exp(-gamma * loss.at(i), BITS) for i in range(size)]
                total = sum(parts[1:], parts[0])
                for i in range(size):
                    done += same(law._pmf_at(i, BITS), parts[i] / total, law.name)
    return done


def races() -> int:
    """Permute-and-flip has the law of the race with exponential noise: Σ_S (−1)^|S| p_y·Π_S p_z/(|S| + 1)."""
    done = 0
    for loss in dict.fromkeys(small.loss(x) for small in SMALL for x in small.datasets if int(small.grid.size) <= 6):
        law, gamma = permute_and_flip(loss, 1), factor(Fraction(1), _moves(loss))
        heads = [exp(-gamma * (loss.at(i) - loss.minimum), 192) for i in range(int(loss.grid.size))]
        for y, own in enumerate(heads):
            others, result = heads[:y] + heads[y + 1 :], Enclosure.of(0, 192)
            for size in range(len(others) + 1):
                for chosen in combinations(others, size):
                    part = own * Fraction((-1) ** size, size + 1)
                    for head in chosen:
                        part = part * head
                    result = result + part
            done += same(law._pmf_at(y, BITS), result, law.name)
    return done


def _walked(loss: StepLoss, law: ScanLaw, up: bool) -> list[Enclosure]:
    """The law of the program in the proof: the first point with ν ≥ need + ξ, summed over ξ as far as it matters."""
    size, (threshold, each) = int(loss.grid.size), law.rates
    order = list(range(size)) if up else list(range(size - 1, -1, -1))
    answers = [Enclosure.of(0, 192)] * size
    reached, fall = 1 - exp(-threshold, 192), exp(-threshold, 192)
    for xi in range(int(60 / threshold) + 2):
        going = reached
        for step, i in enumerate(order):
            stop = exp(-each * max(0, need_of(loss.at(i), law.offset, up) + xi), 192)
            place = i if up else order[max(0, step - 1)]
            answers[place] = answers[place] + going * stop
            going = going * (1 - stop)
        answers[order[-1]] = answers[order[-1]] + going
        reached = reached * fall
    return answers


def scans() -> int:
    """The threshold scan's probabilities are those of the program that its proof aligns, in both directions."""
    done = 0
    for number, loss in enumerate(_losses(3)):
        for up in (True, False):
            if number % 3 != up:
                continue
            law = threshold_scan(loss, 2, "up" if up else "down", Fraction(2, 5), 2)
            expected = rates(Fraction(2), _moves(loss), Fraction(2, 5))
            if law.rates != expected:
                raise Unlike("the rates of the threshold scan are not those of its proof.")
            for i, chance in enumerate(_walked(loss, law, up)):
                done += same(law._pmf_at(i, BITS), chance, law.name)
    return done


def halvings() -> int:
    """Binary search and tree descent go by comparisons of loss + noise, as many as their proofs count."""
    done = 0
    for loss in _losses(4):
        search, size = binary_search(loss, 2, epsilon=1), int(loss.grid.size)
        if search.noise != laplace_look(Fraction(1), search.comparisons):
            raise Unlike("the noise of the binary search is not that of its proof.")
        chances = [Enclosure.of(0, BITS)] * size

        def halve(low: int, high: int, left: int, chance: Enclosure) -> None:
            if high - low == 1:
                chances[high] = chances[high] + chance  # noqa: B023
                return None
            middle = low + (1 << (left - 1))
            if middle >= high:
                return halve(low, high, left - 1, chance)
            small = search.noise.tail(loss.at(middle) - 2, BITS)  # noqa: B023  Z is symmetric
            halve(low, middle, left - 1, chance * small)
            return halve(middle, high, left - 1, chance * (1 - small))

        halve(-1, size - 1, search.comparisons, Enclosure.of(1, BITS))
        for i, chance in enumerate(chances):
            done += same(search._pmf_at(i, BITS), chance, search.name)
        tree = tree_descent(loss, 1)
        done += tree.noise == laplace_node(Fraction(1), tree.depth, sum(_moves(loss)))
    return done


def releases() -> int:
    """Joint charges: the probability of an output is that of the test, the choice and the noises of its design."""
    from tacit.audit.cases.scan_and_release import CAPS, EPSILON, SMALL, buckets

    done, random, epsilon = 0, Random(5), EPSILON
    for _ in range(RANDOM_INPUTS):
        persons = tuple(random.randrange(1, 2 * CAPS[-1]) for _ in range(random.randrange(8)))
        law = scan_and_release(*buckets(persons, CAPS), epsilon, caps=CAPS, design=SMALL)
        over = [sum(s > cap for s in persons) for cap in CAPS]
        parts = [
            exp(-SMALL.choice * epsilon * n, BITS) * weight for weight, n in zip(SMALL.weights(CAPS), over, strict=True)
        ]
        test = DiscreteLaplace(SMALL.test * epsilon)
        many, least = (test.tail(ceil(x / epsilon) - len(persons), BITS) for x in (SMALL.size, SMALL.handful))
        for y in law.outcomes():
            i, scan = CAPS.index(y.cap), SMALL.scan(y.handful)
            limit = CAPS[min(i + SMALL.beyond, len(CAPS) - 1)]
            within, above = SMALL.noises(y.many, y.cap, epsilon, y.handful)
            noise = within.mass(y.within - sum(min(s, y.cap) for s in persons if s <= limit), BITS)
            noise = noise * above.mass(y.above - sum(s > limit for s in persons), BITS)
            if y.many:
                chance = many * parts[i] / sum(parts[1:], parts[0])
            elif i % scan.stride:
                continue
            else:
                visited = StepLoss.from_losses(
                    integers(0, -(-len(CAPS) // scan.stride) - 1), over[:: scan.stride], one_directional=True
                )
                rates_ = Rates(scan.threshold * epsilon, scan.each * epsilon)
                walked = ScanLaw(visited, True, rates_, int(scan.offset / epsilon), Pure(1))
                chance = (1 - least if y.handful else least - many) * walked._pmf_at(i // scan.stride, BITS)
            done += same(law.pmf(y, BITS), chance * noise, law.name)
    return done + _flows()


def _flows() -> int:
    from tacit.audit.cases.capped_flow import FALLING, Values

    done, epsilon, curve, levels = 0, Fraction(2), Values(FALLING), tuple(FALLING)[::2]
    weighed = Weighed(weight=Fraction(1, 5), ratio=Fraction(1, 2), parts=2)
    law = capped_flow(curve, epsilon, levels=levels, design=weighed)
    losses = [max(0, weighed.parts * (curve.at(2 * x) - curve.at(x)) // x) for x in levels]
    gamma = factor(weighed.share * epsilon, (weighed.parts, 2 * weighed.parts))
    parts = [exp(-gamma * k, BITS) * weighed.ratio**i for i, k in enumerate(losses)]
    for y in law.outcomes():
        share = parts[levels.index(y.cap)] / sum(parts[1:], parts[0])
        noise = weighed.noise(y.cap, epsilon).mass(y.value - curve.at(y.cap), BITS)
        done += same(law.pmf(y, BITS), share * noise, law.name)
    scanned = Scanned(Fraction(1, 5), Fraction(1, 10), Fraction(6), Fraction(12))
    walked = capped_flow(curve, epsilon, levels=levels, design=scanned)
    losses = [max(0, min((curve.at(2 * x) - curve.at(x)) // x, 6)) for x in levels]
    scan = ScanLaw(
        StepLoss.from_losses(integers(0, len(levels) - 1), losses),
        True,
        Rates(scanned.threshold * epsilon, scanned.each * epsilon),
        int(scanned.offset / epsilon),
        Pure(1),
    )
    for y in walked.outcomes():
        noise = scanned.noise(y.cap, epsilon).mass(y.value - curve.at(y.cap), BITS)
        done += same(walked.pmf(y, BITS), scan._pmf_at(levels.index(y.cap // 2), BITS) * noise, walked.name)
    return done


def cut_positions() -> int:
    """A cut's probabilities are in proportion to e^{-γℓ} with the proof's γ, as far as the loss rises."""
    done, random = 0, Random(6)
    for _ in range(RANDOM_INPUTS):
        given = Weights.of({cell: random.randrange(1, 4) for cell in range(0, 8, random.randrange(1, 3))}, ties=2)
        stretch = Stretch(given, 0, 15, Fraction(random.randrange(1, 4), 4))
        law, share = CutLaw(stretch, Fraction(1), 2), stretch.share
        gamma = cut_rate(Fraction(1), share.numerator, share.denominator, 2 * given.ties)
        parts = [exp(-gamma * law.loss(x), BITS) for x in range(16)]
        for x in range(16):
            done += same(law.pmf(x, BITS), parts[x] / sum(parts[1:], parts[0]), law.name)
    return done


def events() -> int:
    """What is known of public thresholds: the chances of bad events are at most what the proofs take them for."""
    done, random = 0, Random(7)
    for _ in range(4 * RANDOM_INPUTS):
        epsilon, delta = Fraction(random.randrange(1, 30), 10), Fraction(1, 10 ** random.randrange(1, 8))
        s, keys, least = random.randrange(1, 6), random.randrange(1, 9), random.randrange(2, 5)
        truncated = TruncatedLaplace.for_approx(epsilon, delta, s)
        plain, found = DiscreteLaplace(epsilon), stable_keys({}, epsilon, delta, keys, least)
        above = found.threshold - found.least
        pair = rates(epsilon, (1, 1), Fraction(1, 3))
        known = (
            truncated.tail(truncated.bound - s + 1, BITS).high <= delta,
            plain.tail(stable_mode({"a": 3}, epsilon, delta).threshold, BITS).high <= delta,
            plain.tail(stable_argmin(SMALL[0].loss(()), epsilon, delta).threshold - 1, BITS).high <= delta,
            found.noise.tail(above, BITS).high <= (delta / keys if above == found.bound else delta / 2 / keys),
            pair.early(keys, pair.need_for(keys, delta)).high <= delta,
        )
        if not all(known):
            raise Unlike("a public threshold is lower than its proof takes it for.")
        done += len(known)
    return done


def factors() -> int:
    """e^ε: what randomised response weighs, and what amplification promises."""
    done, random = 0, Random(8)
    for _ in range(4 * RANDOM_INPUTS):
        epsilon, size, p = (
            Fraction(random.randrange(1, 50), 10),
            random.randrange(2, 9),
            Fraction(random.randrange(1, 9), 9),
        )
        law, odds = randomised_response(0, size, epsilon), exp(-epsilon, BITS)
        for y in range(size):
            done += same(law.pmf(y, BITS), (odds if y else Enclosure.of(1, BITS)) / (1 + odds * (size - 1)), law.name)
        promised = amplify(Pure(epsilon), p).epsilon
        if exp(promised, BITS).high < (1 + (exp(epsilon, BITS) - 1) * p).low:
            raise Unlike("amplification promises less than its proof.")
        done += 1
    return done


LINKS: dict[str, Callable[[], int]] = {
    "noises": noises,
    "weights": weights,
    "races": races,
    "scans": scans,
    "searches by halves": halvings,
    "joint charges": releases,
    "cuts": cut_positions,
    "thresholds and their events": events,
    "e^ε in responses and samples": factors,
}
"""What is compared, by name; each says how many probabilities it compared, or fails."""
