import { expect } from 'vitest';

import { findViolations } from './support/axe.ts';
import { openWindow, signIn } from './support/browser.ts';
import { stage } from './support/stage.ts';
import { story } from './support/story.ts';

const here = stage(1);
const widthOf = (element: Element): number => element.getBoundingClientRect().width;
const heightOf = (element: Element): number => element.getBoundingClientRect().height;

story('log, problems and the phone have their places beside the code, of remembered sizes', async () => {
  const projectId = await here.service.createProject('Checkout', {
    'main.ts': `console.log('${'a line that is long '.repeat(6)}');\nawait agent.actions.sleep(1000);\nconsole.log('done');\n`,
  });
  const { page, problems } = await openWindow(here.browser);
  await signIn(page, here.service.url, here.service.token);
  await page.goto(`${here.service.url}/projects/${projectId}?file=main.ts`);
  const [code, output, run] = ['Code', 'Output', 'Run'].map((name) =>
    page.getByRole('region', { name, exact: true }),
  );
  const phone = page.getByRole('region', { name: 'Phone', exact: true });
  // The only phone is preselected and shows its screen.
  await phone.getByRole('img', { name: 'What the screen shows' }).waitFor();
  await page.getByRole('button', { name: 'Run', exact: true }).last().click();
  await page.getByRole('log').getByText('done', { exact: true }).waitFor();
  expect(await page.getByRole('log').evaluate(widthOf)).toBeGreaterThan(800);
  expect(await output?.evaluate(widthOf)).toBeGreaterThan(Number(await code?.evaluate(widthOf)));
  expect(await findViolations(page)).toEqual([]);

  // Resizes panes by pointer and by keyboard.
  const before = Number(await run?.evaluate(widthOf));
  const edge = page.getByRole('separator', { name: 'Width of the run pane' });
  const box = (await edge.boundingBox()) ?? { x: 0, y: 0 };
  await page.mouse.move(box.x + 3, box.y + 200);
  await page.mouse.down();
  await page.mouse.move(box.x - 57, box.y + 200, { steps: 4 });
  await page.mouse.up();
  expect(await run?.evaluate(widthOf)).toBe(before + 60);
  await page.getByRole('separator', { name: 'Height of the output' }).press('ArrowUp');
  const height = await output?.evaluate(heightOf);
  await phone.getByRole('button', { name: 'Hide' }).click();

  // After a reload, the window restores its last run and the browser restores the panes.
  await page.reload();
  await phone.getByRole('button', { name: 'Show' }).waitFor();
  await page
    .getByRole('group', { name: 'What the output shows' })
    .getByRole('button', { name: 'Log' })
    .click();
  await page.getByRole('log').getByText('done', { exact: true }).waitFor();
  expect(await run?.evaluate(widthOf)).toBe(before + 60);
  expect(await output?.evaluate(heightOf)).toBe(height);
  expect(problems).toEqual([]);
});

story('the caret stays in view when the problems appear below it', async () => {
  const lines = Array.from({ length: 120 }, (_, index) => `console.log(${index});`).join('\n');
  const projectId = await here.service.createProject('Long', { 'main.ts': lines });
  const { page, problems } = await openWindow(here.browser);
  await signIn(page, here.service.url, here.service.token);
  await page.goto(`${here.service.url}/projects/${projectId}?file=main.ts`);
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+End');
  await page.keyboard.type('\nconst wrong: number = true');
  await page.getByRole('list', { name: 'Problems' }).getByText('TS2322').waitFor();
  const isInView = (): Promise<boolean> =>
    page.evaluate(() => {
      const caret = document.querySelector('.cm-activeLine')?.getBoundingClientRect();
      const editor = document.querySelector('.cm-scroller')?.getBoundingClientRect();
      return (
        caret !== undefined &&
        editor !== undefined &&
        caret.bottom <= editor.bottom &&
        caret.top >= editor.top
      );
    });
  await expect.poll(isInView).toBe(true);
  // The line stays in view while the output is enlarged manually.
  for (let step = 0; step < 6; step += 1)
    await page.getByRole('separator', { name: 'Height of the output' }).press('ArrowUp');
  await expect.poll(isInView).toBe(true);
  expect(await findViolations(page)).toEqual([]);
  expect(problems).toEqual([]);
});

story(
  'names are followed and renamed, files are found by name and by text, and code is formatted',
  async () => {
    const projectId = await here.service.createProject('Names', {
      'main.ts': "import { pay } from './lib/pay.ts';\nconsole.log(pay(1));\n",
      'lib/pay.ts': 'export const pay = (amount: number): number => amount;\n',
      'notes/todo.md': 'remember the milk\n',
    });
    const { page, problems } = await openWindow(here.browser);
    await signIn(page, here.service.url, here.service.token);
    await page.goto(`${here.service.url}/projects/${projectId}?file=main.ts`);
    const editor = page.locator('.cm-content');
    await editor.getByText('pay(1)').waitFor();

    await editor.getByText('pay', { exact: true }).last().click();
    await page.keyboard.press('F12');
    await editor.getByText('export const').waitFor();
    await page
      .getByRole('group', { name: 'Open files' })
      .getByRole('button', { name: 'main.ts', exact: true })
      .click();
    await editor.getByText('import').first().waitFor();

    await editor.getByText('pay', { exact: true }).last().click();
    await page.keyboard.press('F2');
    const dialog = page.getByRole('dialog', { name: 'Rename pay' });
    await dialog.getByLabel('New name').fill('charge');
    await dialog.getByRole('button', { name: 'Rename' }).click();
    await editor.getByText('charge').first().waitFor();
    expect(await here.service.readFile(projectId, 'main.ts')).toBe(
      "import { charge } from './lib/pay.ts';\nconsole.log(charge(1));\n",
    );
    expect(await here.service.readFile(projectId, 'lib/pay.ts')).toContain('export const charge');

    await editor.click();
    await page.keyboard.press('Control+a');
    await page.keyboard.press('Delete');
    await page.keyboard.insertText("const   x=  'a'\nconsole.log( x )");
    await page.keyboard.press('Shift+Alt+F');
    await expect.poll(() => editor.innerText()).toContain("const x = 'a';\nconsole.log(x);");

    await page.keyboard.press('Control+f');
    await page.locator('.cm-search').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.keyboard.press('Escape');

    await page.keyboard.press('Control+p');
    await page.getByRole('combobox', { name: 'Open a file' }).fill('tdmd');
    await page.getByRole('option', { name: 'notes/todo.md' }).waitFor();
    await page.keyboard.press('Enter');
    await editor.getByText('remember the milk').waitFor();

    await page.keyboard.press('Control+Shift+F');
    await page.getByRole('searchbox', { name: 'Search in files' }).fill('CHARGE =');
    await page.getByRole('list', { name: 'Found lines' }).getByRole('button').click();
    await editor.getByText('export const').waitFor();
    expect(await findViolations(page)).toEqual([]);
    expect(problems).toEqual([]);
  },
);

story('a secret is stored, replaced and deleted, and its value is shown nowhere', async () => {
  const main = "console.log((await agent.secrets.get('SHOP_PASSWORD')).length);\n";
  const projectId = await here.service.createProject('Secretive', { 'main.ts': main });
  const { page, problems } = await openWindow(here.browser);
  await signIn(page, here.service.url, here.service.token);
  await page.goto(`${here.service.url}/projects/${projectId}?file=main.ts`);
  await page.getByRole('button', { name: 'Secrets' }).click();
  const dialog = page.getByRole('dialog', { name: 'Secrets' });
  await dialog.getByText('This project has no secrets yet.').waitFor();
  for (const [version, action] of ['Add', 'Replace'].entries()) {
    await dialog.getByLabel('Name').fill('SHOP_PASSWORD');
    await dialog.getByLabel('Value').fill('planted-value');
    await dialog.getByRole('button', { name: action, exact: true }).click();
    await dialog.getByRole('cell', { name: String(version + 1), exact: true }).waitFor();
  }
  expect(await findViolations(page)).toEqual([]);
  await dialog.getByLabel('Name').fill('no name');
  await dialog.getByLabel('Value').fill('planted-value');
  await page.keyboard.press('Enter');
  await dialog.getByRole('alert').waitFor();
  await dialog.getByLabel('Value').fill('');
  expect(await page.content()).not.toContain('planted-value');
  await dialog.getByRole('button', { name: 'Close', exact: true }).last().click();
  await page.getByRole('button', { name: 'Run', exact: true }).last().click();
  await page.getByRole('log').getByText('13', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Secrets' }).click();
  await dialog.getByRole('button', { name: 'Delete SHOP_PASSWORD' }).click();
  const question = page.getByRole('dialog', { name: 'Delete the secret SHOP_PASSWORD?' });
  await question.getByRole('button', { name: 'Cancel' }).click();
  await dialog.getByRole('button', { name: 'Delete SHOP_PASSWORD' }).click();
  await question.getByRole('button', { name: 'Delete', exact: true }).click();
  await dialog.getByText('This project has no secrets yet.').waitFor();
  expect(problems).toEqual([]);
});

story('five thousand files are a list of folders that stays small', async () => {
  const projectId = await here.service.createProject('Many');
  const files = Array.from({ length: 5000 }, (_, index) => ({
    path: `area${index % 40}/part${index % 400}/f${index}.txt`,
    content: `${index}\n`,
  }));
  const { etag } = await here.service.call('GET', `/api/v2/automation/files/${projectId}?limit=1`);
  await here.service.call('PUT', `/api/v2/automation/files/${projectId}`, {
    files,
    deleted: [],
    expected_etag: etag,
  });
  const { page, problems } = await openWindow(here.browser);
  await signIn(page, here.service.url, here.service.token);
  await page.goto(`${here.service.url}/projects/${projectId}?file=area7/part7/f407.txt`);
  const list = page.getByRole('region', { name: 'Files' });
  await list.getByTitle('area7/part7/f407.txt', { exact: true }).waitFor();
  expect(await list.getByRole('listitem').count()).toBeLessThan(100);
  await list.getByRole('button', { name: 'area1', exact: true }).click();
  await list.getByRole('button', { name: 'part1', exact: true }).waitFor();
  expect(await findViolations(page)).toEqual([]);
  expect(problems).toEqual([]);
});
