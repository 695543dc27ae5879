// npm run appium-conformance: what the real Appium driver finds on the simulated phone.
import { startSimulatedPhone } from '@phalanx/simulated-phone';

import { startAdbServer } from '../../apps/host/src/phones/testing/adb-server-fixture.ts';
import { startAppium } from './appium-server.ts';
import { commands } from './commands.ts';
import { installAppium } from './install-appium.ts';
import { WebDriver } from './web-driver.ts';

const neededPasses = 50;

const folder = await installAppium();
const phone = await startSimulatedPhone({ serial: 'SIM-APPIUM' });
const adbServer = await startAdbServer();
const address = { host: phone.host, port: phone.port };
await adbServer.connect(address);
const appium = await startAppium(folder, adbServer.address.port);
let passed = 0;
try {
  const startedAt = performance.now();
  const driver = await WebDriver.open(appium.url, {
    platformName: 'Android',
    'appium:automationName': 'UiAutomator2',
    'appium:udid': `${address.host}:${address.port}`,
    'appium:adbPort': adbServer.address.port,
    'appium:appPackage': 'dev.phalanx.sample.form',
    'appium:appActivity': '.FormActivity',
  });
  console.log(`session in Appium's default flow: ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  for (const [area, rows] of Object.entries(commands)) {
    for (const [name, run] of Object.entries(rows)) {
      phone.android.inputs.clear();
      phone.android.forceStop('dev.phalanx.sample.form');
      phone.android.startActivity('dev.phalanx.sample.form');
      const problem = await run(driver, phone).then(
        () => undefined,
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      );
      if (problem === undefined) passed += 1;
      const mark = problem === undefined ? '✓' : '✗';
      console.log(`${mark} ${area.padEnd(11)} ${name.padEnd(28)} ${problem?.slice(0, 140) ?? ''}`.trimEnd());
    }
  }
  await driver.close();
} finally {
  await appium.stop();
  await adbServer.stop();
  await phone.stop();
}
const count = Object.values(commands).reduce((sum, rows) => sum + Object.keys(rows).length, 0);
console.log(`${passed} of ${count} commands pass; ${neededPasses} have to`);
process.exitCode = passed >= neededPasses ? 0 : 1;
