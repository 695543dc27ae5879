import { expect, it } from 'vitest';
import { readNetworks } from './address-rule.ts';

it('an address belongs to a network, also as IPv4 within IPv6, and a single address to itself', () => {
  const isWithin = readNetworks(['10.1.0.0/16', '192.168.1.7', 'fd00::/8']);
  for (const inside of ['10.1.2.3', '::ffff:10.1.2.3', '192.168.1.7', 'fd12::1'])
    expect(isWithin(inside), inside).toBe(true);
  for (const outside of ['10.2.0.1', '192.168.1.8', '127.0.0.1', '::1', 'fe80::1', 'localhost', ''])
    expect(isWithin(outside), outside).toBe(false);
});

it.each(['10.0.0.0/33', 'ten', '', '10.0.0.0/', '::1/129'])('%j is no network', (text) => {
  expect(() => readNetworks([text])).toThrow();
});
