import { pino } from 'pino';
import { expect, it } from 'vitest';
import { FaultMonitor, folderMissing, PartFailed } from './fault-monitor.ts';

function startMonitor(): { faults: FaultMonitor; disk: { works: boolean } } {
  const disk = { works: true };
  const faults = new FaultMonitor({ log: pino({ enabled: false }), recheckMs: 5 });
  faults.addProbe('disk', async () => {
    if (!disk.works) throw new PartFailed(folderMissing);
  });
  return { faults, disk };
}

it('work that a fault prevents is done again when the fault has passed', async () => {
  const { faults, disk } = startMonitor();
  let attempts = 0;
  const work = (): void => {
    attempts += 1;
    if (attempts < 3) throw new PartFailed(folderMissing);
  };
  expect(await faults.untilDone(work)).toBe(true);
  expect(attempts).toBe(3);
  disk.works = false;
  const kept = faults.untilDone(() => {
    if (!disk.works) throw new PartFailed(folderMissing);
  });
  await expect.poll(() => faults.active.length).toBe(1);
  disk.works = true;
  expect(await kept).toBe(true);
  faults.close();
});

it('work ends with an error that is no fault, and when the service stops', async () => {
  const { faults, disk } = startMonitor();
  const mistake = new Error('a mistake');
  await expect(faults.untilDone(() => Promise.reject(mistake))).rejects.toBe(mistake);
  disk.works = false;
  const kept = faults.untilDone(() => Promise.reject(new PartFailed(folderMissing)));
  faults.close();
  expect(await kept).toBe(false);
});
