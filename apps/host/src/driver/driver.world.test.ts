import { test } from 'vitest';
import { describeDriver } from './testing/driver-suite.ts';

const adbdRoot = process.env['TEST_ADBD_ROOT'] ?? '';

if (adbdRoot === '') test.skip('real adbd');
else
  describeDriver({
    'real adbd': async (bed, phone) => ({ addresses: [await bed.startRealAdbd(phone, adbdRoot)] }),
  });
