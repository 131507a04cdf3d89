"""Golden values of the privacy accountants, by Google's dp-accounting.

    python3 -m venv /tmp/dp && /tmp/dp/bin/pip install dp-accounting==0.6.0
    /tmp/dp/bin/python tests/reference/dp_accounting_values.py > tests/reference/dp_accounting.json

A test of `fedround-metrics` reads the file.
"""

import itertools
import json

import dp_accounting as dp
from dp_accounting import pld, rdp

RATES = [0.01, 0.1, 1.0]
NOISES = [0.8, 1.5, 5.0]
COUNTS = [1, 50, 500]
DELTAS = [1e-5, 1e-3]
# Of the orders that fedround tries, those that are best for some case; the sums of a fixed size take
# dp-accounting the square of an order.
ORDERS = list(range(2, 257))
ORDERS_FIXED = list(range(2, 65))
REPLACE = dp.NeighboringRelation.REPLACE_ONE


def epsilons(accountant, event):
    accountant.compose(event)
    return [accountant.get_epsilon(delta) for delta in DELTAS]


def poisson(rate, noise, count):
    step = dp.PoissonSampledDpEvent(rate, dp.GaussianDpEvent(noise))
    return dp.SelfComposedDpEvent(step, count)


def fixed(rate, noise, count):
    size = 1000
    step = dp.SampledWithoutReplacementDpEvent(size, round(rate * size), dp.GaussianDpEvent(noise))
    return dp.SelfComposedDpEvent(step, count)


def tree(noise, length, passes):
    """Passes of so many rounds, each with a tree."""
    one = dp.SingleEpochTreeAggregationDpEvent(noise, length)
    return dp.SelfComposedDpEvent(one, passes)


def trees():
    special = dp.NeighboringRelation.REPLACE_SPECIAL
    for noise, length, passes in itertools.product([1.5, 6.0], [1, 4, 7, 8, 60], [1, 5]):
        event = tree(noise, length, passes)
        yield {
            "noise": noise,
            "length": length,
            "passes": passes,
            "rdp": epsilons(rdp.RdpAccountant(ORDERS, special), event),
        }


def cases():
    for rate, noise, count in itertools.product(RATES, NOISES, COUNTS):
        settings = {"rate": rate, "noise": noise, "count": count}
        event = poisson(rate, noise, count)
        yield {
            **settings,
            "sampling": "poisson",
            "rdp": epsilons(rdp.RdpAccountant(ORDERS), event),
            "pld": epsilons(pld.PLDAccountant(value_discretization_interval=1e-3), event),
        }
        event = fixed(rate, noise, count)
        yield {
            **settings,
            "sampling": "fixed",
            "rdp": epsilons(rdp.RdpAccountant(ORDERS_FIXED, REPLACE), event),
        }


values = {"deltas": DELTAS, "cases": list(cases()), "trees": list(trees())}
print(json.dumps(values, indent=1))
