import { describe, expect, it } from 'vitest';

import { isPublicAddress } from './public-address.ts';

const closed = [
  '127.0.0.1',
  '127.255.255.254',
  '0.0.0.0',
  '0.1.2.3',
  '10.1.2.3',
  '172.31.0.1',
  '192.168.0.1',
  '169.254.169.254',
  '168.63.129.16',
  '::ffff:168.63.129.16',
  '100.64.0.1',
  '100.127.255.255',
  '192.0.0.1',
  '192.0.2.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '192.88.99.1',
  '::',
  '::1',
  '::127.0.0.1',
  '::ffff:127.0.0.1',
  '::ffff:10.0.0.1',
  '::ffff:0:127.0.0.1',
  '64:ff9b::10.0.0.1',
  '64:ff9b:1::1',
  '2002:7f00:1::',
  '2002:a00:1::1',
  '2001::1',
  '2001:db8::1',
  'fc00::1',
  'fdff::1',
  'fe80::1',
  'fec0::1',
  'ff02::1',
  '100::1',
  '4000::1',
  'fe80::1%eth0',
  '',
  'localhost',
  'x',
];
const open = [
  '1.1.1.1',
  '8.8.8.8',
  '172.32.0.1',
  '100.128.0.1',
  '2606:4700::1111',
  '::ffff:8.8.8.8',
  '64:ff9b::8.8.8.8',
  '2002:808:808::1',
];

describe('public addresses', () => {
  it.each(closed)('are not %s', (address) => expect(isPublicAddress(address)).toBe(false));
  it.each(['8.8.8.8', '::ffff:8.8.8.8', '64:ff9b::8.8.8.8', '2606:4700:0::1111'])(
    'are not %s when it is the address of this machine',
    (address) => {
      expect(isPublicAddress(address, ['127.0.0.1', '8.8.8.8', '2606:4700::1111', 'fe80::1%eth0'])).toBe(
        false,
      );
    },
  );
  it.each(open)('are such as %s', (address) => expect(isPublicAddress(address)).toBe(true));
});
