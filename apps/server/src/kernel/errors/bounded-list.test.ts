import { expect, it } from 'vitest';
import { boundedList } from './bounded-list.ts';

const numbers = (count: number) => Array.from({ length: count }, (_, index) => String(index + 1));

it('names all of a few', () => {
  expect(boundedList([])).toBe('');
  expect(boundedList(numbers(20), ', ')).toBe(numbers(20).join(', '));
});

it('names twenty of many, and counts the others', () => {
  expect(boundedList(numbers(10_020))).toBe(`${numbers(20).join('; ')}; and 10,000 more`);
});
