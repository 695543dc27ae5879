/** Waits of a run, by all three ways of reading the screen, with a real sandbox and driver. */
import { expect, it } from 'vitest';

import { serial, useTestHost } from '../testing/test-host.ts';

const host = useTestHost();

const code = `
  const { actions } = agent;
  await actions.launchApp('com.android.settings');
  console.log((await actions.waitForText('Bluetooth')).text);
  console.log((await actions.waitForApp('com.android.settings')).packageName);
  await actions.home();
  await actions.waitForTextGone('Bluetooth');
  const opening = new Promise((resolve) => setTimeout(resolve, 700)).then(() => actions.launchApp('dev.phalanx.sample.form'));
  console.log((await actions.waitForId('name')).className);
  await opening;
  console.log((await actions.waitForNode((f) => f.hasText('Registration'))).text);
  console.log(await actions.waitFor((screen) => screen.findTextOne('Registration')?.text));
  await actions.waitForIdle({ quietMs: 300 });
  const late = await actions.waitForText('never', { timeoutMs: 1500 }).catch((error) => error);
  console.log(late.constructor.name, late.waitedMs >= 1500, late.nearest.length > 0);
  const signal = AbortSignal.timeout(500);
  console.log(await actions.waitForText('never', { signal }).catch((error) => error.constructor.name));`;

function reasonOf(phone: string): string | undefined {
  const reports = host.service.arrivals.flatMap((arrival) =>
    arrival.kind === 'hello' || arrival.kind === 'devices' ? arrival.devices : [],
  );
  return reports.findLast((report) => report.serial === phone)?.reason;
}

it.each([
  { way: 'uiautomator2', reason: /is ready\.$/ },
  { way: 'resident', reason: /is ready\.$/ },
  { way: 'dump', reason: /slow way/ },
])('by $way they end when, and with what, they are to', async ({ way, reason }) => {
  await host.stop();
  if (way === 'dump') {
    host.phone.faults.verifyAppsOverUsb = true;
    host.phone.android.packages.remove('io.appium.uiautomator2.server');
  }
  await host.reopen({ PHALANX_HELPER: way === 'resident' ? 'resident' : 'uiautomator2' });
  expect(reasonOf(serial)).toMatch(reason);
  const runId = host.launch(code);
  const end = await host.service.untilEnded(runId);
  expect(end.error).toBeNull();
  expect(host.service.messages(runId)).toEqual([
    'Bluetooth',
    'com.android.settings',
    'android.widget.EditText',
    'Registration',
    'Registration',
    'WaitTimeoutError true true',
    'WaitTimeoutError',
  ]);
});
