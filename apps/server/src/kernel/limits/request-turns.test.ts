import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { RequestTurns } from './request-turns.ts';

const begun: string[] = [];
const ask = (turns: RequestTurns, user: string, count: number): void => {
  for (let number = 0; number < count; number += 1) turns.pass(user, () => begun.push(user));
};
const count = (user: string): number => begun.filter((one) => one === user).length;

it('of who asks alone all requests begin at once', () => {
  begun.length = 0;
  ask(new RequestTurns(), 'ann', 100);
  expect(count('ann')).toBe(100);
});

it('beside others a few of each begin in a turn, in their order, and none is forgotten', async () => {
  begun.length = 0;
  const turns = new RequestTurns();
  ask(turns, 'modest', 1);
  ask(turns, 'greedy', 100);
  expect(count('greedy')).toBeLessThan(10);
  const order: number[] = [];
  for (let number = 0; number < 10; number += 1) turns.pass('busy', () => order.push(number));
  ask(turns, 'modest', 1);
  expect(count('modest')).toBe(2);
  await nextTurn();
  expect(count('greedy')).toBeLessThan(20);
  ask(turns, 'modest', 1);
  expect(count('modest')).toBe(3);
  for (let turn = 0; turn < 100; turn += 1) await nextTurn();
  expect(count('greedy')).toBe(100);
  expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});
