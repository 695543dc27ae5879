import { expect, test } from 'vitest';

import { scaleEnd } from './day-chart.tsx';

test('the scale of a chart ends at a number whose half is whole', () => {
  expect([1, 2, 3, 5, 10, 11, 40, 41, 1200].map(scaleEnd)).toEqual([2, 2, 4, 10, 10, 20, 40, 100, 2000]);
});
