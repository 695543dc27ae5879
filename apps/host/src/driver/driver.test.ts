import { hasAdb } from '../phones/testing/adb-server-fixture.ts';
import { describeDriver } from './testing/driver-suite.ts';

describeDriver({
  'direct TCP': async (_bed, phone) => ({ addresses: [phone] }),
  ...((await hasAdb()) && {
    'adb server': async (bed, phone) => {
      const adb = await bed.startAdb();
      await adb.connect(phone);
      return { adbServer: adb.address };
    },
  }),
});
