import { expect, it } from 'vitest';
import { fisher } from './fisher.ts';

it.each([
  // Computed with exact integers by Python's math.comb.
  [{ bad: 3, all: 4 }, { bad: 1, all: 4 }, 0.242857142857],
  [{ bad: 4, all: 5 }, { bad: 1, all: 20 }, 0.0019009975531714663],
  [{ bad: 7, all: 9 }, { bad: 12, all: 200 }, 5.220161711240127e-7],
  [{ bad: 0, all: 5 }, { bad: 3, all: 5 }, 1],
  [{ bad: 5, all: 5 }, { bad: 0, all: 5 }, 1 / 252],
])('%j against %j has the p-value that other programs give', (one, other, expected) => {
  expect(fisher(one, other) / expected).toBeCloseTo(1, 3);
});

it('sums to one with its other side, and stays quick with large numbers', () => {
  const [one, other] = [
    { bad: 120, all: 3000 },
    { bad: 5000, all: 200_000 },
  ];
  const turned = { bad: one.all - one.bad + 1, all: one.all };
  const rest = { bad: other.all - other.bad - 1, all: other.all };
  expect(fisher(one, other) + fisher(turned, rest)).toBeCloseTo(1, 6);
  const started = performance.now();
  expect(fisher({ bad: 300_000, all: 1e6 }, { bad: 250_000, all: 1e6 })).toBeLessThan(1e-9);
  expect(performance.now() - started).toBeLessThan(1000);
});
