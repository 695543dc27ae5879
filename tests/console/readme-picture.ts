// npm run picture: the picture of the console at the head of README.md.
import { fileURLToPath } from 'node:url';

import { Service } from '../user-ways/service.ts';
import { openBrowser, openWindow, signIn } from './support/browser.ts';
import { fillService } from './support/fill-service.ts';

const file = fileURLToPath(new URL('../../docs/console.png', import.meta.url));
const service = await Service.start(3);
try {
  const { deviceId } = await fillService(service);
  const browser = await openBrowser();
  try {
    const { page } = await openWindow(browser, { viewport: { width: 1280, height: 760 } });
    await signIn(page, service.url, service.token);
    await page.goto(`${service.url}/devices/${deviceId}`);
    await page.getByRole('treeitem').filter({ hasText: 'Bluetooth' }).click();
    await page.getByText('finds only this node').first().waitFor();
    await page.evaluate(() => document.fonts.ready);
    await page.screenshot({ path: file });
  } finally {
    await browser.close();
  }
} finally {
  await service.stop();
}
console.log(file);
