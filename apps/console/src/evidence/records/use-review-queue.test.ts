import { expect, it } from 'vitest';

import { firstPosition, moveReview, type ReviewEvent, type ReviewPosition } from './use-review-queue.ts';

const after = (...events: ReviewEvent[]): ReviewPosition => events.reduce(moveReview, firstPosition);
const show = (id: string, addressed?: string): ReviewEvent => ({ type: 'show', id, addressed });
const addressed = (id: string | undefined): ReviewEvent => ({ type: 'addressed', id });

it('shows a record before the address names it, and leaves it to the address then', () => {
  expect(after(show('b', 'a')).ahead).toBe('b');
  expect(after(show('b', 'a'), addressed('b'))).toEqual(firstPosition);
});

it('stays at the last of several quick keys while the addresses of the earlier ones come', () => {
  const quick = [show('b', 'a'), show('c', 'a'), show('d', 'a')];
  expect(after(...quick, addressed('b')).ahead).toBe('d');
  expect(after(...quick, addressed('b'), addressed('c')).ahead).toBe('d');
  expect(after(...quick, addressed('d'))).toEqual(firstPosition);
});

it('follows an address that somebody else has written, such as a link or Back', () => {
  expect(after(show('b', 'a'), addressed('x'))).toEqual(firstPosition);
  expect(after(show('b', 'a'), addressed(undefined))).toEqual(firstPosition);
});

it('does nothing for the record that the address names already', () => {
  expect(after(show('a', 'a'))).toBe(firstPosition);
  expect(after(show('b', 'a'), show('a', 'a')).ahead).toBe('a');
});
