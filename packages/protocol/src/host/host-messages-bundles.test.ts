import fc from 'fast-check';
import { expect, test } from 'vitest';
import { maxKeptBundleLength, RecentBundles } from './host-messages.ts';

test('the two ends of a connection agree on what is kept, whatever is launched', () => {
  const launches = fc.array(fc.record({ hash: fc.integer({ min: 0, max: 60 }), isLarge: fc.boolean() }));
  fc.assert(
    fc.property(launches, (sequence) => {
      const server = new RecentBundles<true>();
      const host = new RecentBundles<string>();
      for (const { hash: number, isLarge } of sequence) {
        const hash = String(number);
        const length = isLarge ? maxKeptBundleLength + 1 : 10;
        const isKnown = server.find(hash) !== undefined;
        if (!isKnown) server.add(hash, length, true);
        const held = host.find(hash);
        expect(held).toBe(isKnown ? hash : undefined);
        if (!isKnown) host.add(hash, length, hash);
      }
    }),
  );
});

test('the bundle that was not used for longest makes room', () => {
  const bundles = new RecentBundles<number>();
  for (let hash = 0; hash < 32; hash++) bundles.add(String(hash), 1, hash);
  bundles.find('0');
  bundles.add('new', 1, 99);
  expect(bundles.find('0')).toBe(0);
  expect(bundles.find('1')).toBeUndefined();
});
