// npm run lab -- picture: takes the pictures of README.md, which show a phone in the console and the run of the first
// sample.
import { fileURLToPath } from 'node:url';

import { Service } from '../user-ways/service.ts';
import { openBrowser, openWindow, signIn } from './support/browser.ts';
import { fillService } from './support/fill-service.ts';

const docs = fileURLToPath(new URL('../../docs/', import.meta.url));
const service = await Service.start(3);
try {
  const { deviceId, runId } = await fillService(service);
  const browser = await openBrowser();
  try {
    const { page } = await openWindow(browser, { viewport: { width: 1280, height: 760 } });
    await signIn(page, service.url, service.token);
    await page.goto(`${service.url}/devices/${deviceId}`);
    await page.getByRole('treeitem').filter({ hasText: 'Bluetooth' }).click();
    await page.getByText('finds only this node').first().waitFor();
    await page.evaluate(() => document.fonts.ready);
    await page.screenshot({ path: `${docs}console.png` });
    await page.goto(`${service.url}/runs/${runId}`);
    await page.getByRole('region', { name: 'Screen of the step' }).getByRole('img').first().waitFor();
    await page.evaluate(() => document.fonts.ready);
    await page.screenshot({ path: `${docs}run.png` });
  } finally {
    await browser.close();
  }
} finally {
  await service.stop();
}
console.log(docs);
