import type { SelectorTerm } from '@phalanx/protocol';
import { expect, it } from 'vitest';
import { SelectorCache } from './selector-cache.ts';

const stored = {
  id: 'id',
  owner_id: 'me',
  serial: 's',
  identity: 's',
  phone_mark: '',
  boot_mark: '',
  host_id: 'h',
  host_name: 'Room',
  brand: 'google',
  model: 'Pixel 8',
  android_version: '16',
  sdk_version: 36,
  screen_width: 1,
  screen_height: 1,
  last_seen_at: 1,
  epoch: 1,
  state: 'ready' as const,
  reason: '',
  since: 1,
  warnings: '[]',
  battery_percent: null,
};
const facts = {
  device: { serial: 's', stored, state: 'ready' as const },
  own: { name: 'Shelf', labels: { country: 'de' } },
  ofHost: { name: '', labels: {} },
};

/** Wraps terms to count how often they are evaluated. */
function counted(terms: readonly SelectorTerm[]): { terms: readonly SelectorTerm[]; asked: () => number } {
  let asked = 0;
  const counting = new Proxy(terms, {
    get: (target, name) => {
      if (name === 'every') asked += 1;
      const value: unknown = Reflect.get(target, name);
      return value;
    },
  });
  return { terms: counting, asked: () => asked };
}

it('a selector is parsed once', () => {
  const cache = new SelectorCache();
  expect(cache.parse('country=de,model~pixel')).toBe(cache.parse('country=de,model~pixel'));
});

it('a phone is asked once, until it, its state or its labels change', () => {
  const cache = new SelectorCache();
  const { terms, asked } = counted(cache.parse('country=de,model~pixel,state=ready'));
  for (let time = 0; time < 10; time += 1) expect(cache.selects(terms, 'id', facts)).toBe(true);
  // Reading the row again does not change the result.
  const again = { ...facts, device: { ...facts.device, stored: { ...stored, last_seen_at: 2 } } };
  expect(cache.selects(terms, 'id', again)).toBe(true);
  expect(asked()).toBe(1);
  const changes = [
    { ...facts, own: { name: 'Shelf', labels: { country: 'at' } } },
    { ...facts, device: { ...facts.device, state: 'unresponsive' as const } },
    { ...facts, device: { ...facts.device, stored: { ...stored, model: 'Galaxy' } } },
  ];
  for (const changed of changes) expect(cache.selects(terms, 'id', changed)).toBe(false);
  expect(cache.selects(terms, 'id', facts)).toBe(true);
  expect(asked()).toBe(5);
});
