import { readFile } from 'node:fs/promises';
import { expect } from 'vitest';

import { findViolations } from './support/axe.ts';
import { openConsole, openWindow, signIn } from './support/browser.ts';
import { paste } from './support/paste.ts';
import { stage } from './support/stage.ts';
import { story } from './support/story.ts';

const sample = new URL('../../apps/cli/samples/out-of-steps.ts', import.meta.url);
const here = stage(2);

story('from the first sign-in to a record that is solved for everybody', async () => {
  const author = await openWindow(here.browser);
  const { page } = author;
  await openConsole(page, here.service.url);
  await page.getByLabel('API token').fill('phx_wrong');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('alert').getByText('This token').waitFor();
  await signIn(page, here.service.url, here.service.token);

  // Until the first run, signing in leads to the first steps, where a sample creates a project that runs.
  await page.waitForURL(/\/start$/);
  await page.getByText('2 phones are ready').waitFor();
  await page.getByRole('button', { name: 'Create the sample' }).click();
  const editor = page.locator('.cm-content');
  await editor.getByText('home screen').waitFor();
  expect(await findViolations(page)).toEqual([]);

  // A mistake is marked at its position, before and after the save is refused.
  await editor.click();
  await page.keyboard.press('Control+Home');
  await paste(page, "const wrong: number = 'text';\n");
  await page.getByText('TS2322').first().waitFor();
  await page.keyboard.press('Control+s');
  await page.getByText('Refused: 1 error').waitFor();
  expect(await page.locator('.cm-lintRange-error').count()).toBeGreaterThan(0);

  // Unsaved text survives a reload.
  await page.reload();
  await editor.getByText('const wrong').waitFor();
  await page.getByText('Unsaved, kept in this browser').waitFor();

  // The service's checker provides completions, signatures and types.
  await editor.click();
  await page.keyboard.press('Control+End');
  await page.keyboard.type('await agent.actions.waitForT');
  await page.locator('.cm-tooltip-autocomplete').getByText('waitForText', { exact: true }).waitFor();
  await page.keyboard.type('ext(');
  await page.locator('.cm-symbol b', { hasText: 'text: string | RegExp' }).waitFor();
  expect(await findViolations(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await editor.getByText('waitForIdle').hover();
  await page.locator('.cm-tooltip-hover').getByText('Promise<AndroidNode>').waitFor();

  // The mistake is fixed, saved and committed.
  await editor.click();
  await page.keyboard.press('Control+a');
  await paste(page, await readFile(sample, 'utf8'));
  await page.keyboard.press('Control+s');
  await page.getByText(/^Saved at/).waitFor();
  await page.getByRole('listitem').getByRole('button', { name: 'AGENTS.md' }).click();
  await page.getByRole('button', { name: 'Rename AGENTS.md' }).click();
  await page.getByLabel('Path').fill('docs/notes.md');
  await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click();
  await page.getByRole('button', { name: 'Delete docs/notes.md' }).waitFor();
  await page.getByRole('listitem').getByRole('button', { name: 'main.ts' }).click();
  await page.getByRole('button', { name: 'Commit…' }).click();
  await page.getByLabel('Commit message').fill('A sample that meets an unknown screen');
  await page.getByRole('dialog').getByText('main.ts · added').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Commit', exact: true }).click();
  await page.getByText('all committed').waitFor();
  await page.getByRole('button', { name: 'History' }).click();
  const history = page.getByRole('dialog');
  await history.getByRole('button', { name: 'Files' }).first().click();
  await history.getByLabel(/^Files of/).selectOption('docs/notes.md');
  await history
    .getByRole('region', { name: /^docs\/notes\.md of/ })
    .getByText('agent')
    .first()
    .waitFor();
  await history.getByRole('button', { name: 'Changes' }).first().click();
  await history.getByText('main.ts · added').waitFor();
  expect(await findViolations(page)).toEqual([]);
  await page.keyboard.press('Escape');

  // Runs on two phones, with the log below the code.
  const phones = page.getByRole('group', { name: 'Phones to run on' });
  await phones.getByRole('checkbox').first().check();
  await phones.getByRole('checkbox').nth(1).check();
  await page.getByRole('button', { name: 'Run on 2' }).click();
  await page.getByRole('tab').nth(1).click();
  const line = page
    .getByRole('log')
    .getByRole('button', { name: /main\.ts:\d+/ })
    .first();
  await line.waitFor();
  // Long lines in a narrow log never overlap other content.
  await page.getByRole('button', { name: 'Wrap', exact: true }).click();
  await page.getByRole('button', { name: 'Unwrap' }).click();
  await line.waitFor();
  const isApart = line.evaluate((button) => {
    const [end, start] = [button.parentElement, button.parentElement?.nextElementSibling].map((part) =>
      part?.getBoundingClientRect(),
    );
    return end !== undefined && start !== undefined && end.right <= start.left;
  });
  expect(await isApart).toBe(true);
  const place = Number((await line.textContent())?.split(':')[1]);
  await line.click();
  await page.locator('.cm-activeLineGutter', { hasText: new RegExp(`^${place}$`) }).waitFor();

  // Two users review the resulting records.
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Review' }).click();
  await page.getByRole('link', { name: 'Records', exact: true }).click();
  await page.getByText('2 of 2').or(page.getByText('1 of 2')).waitFor();
  // The address contains the filters of the review desk and the screen on display.
  await page.getByLabel('Phone').selectOption({ index: 1 });
  await page.getByText('1 of 1').waitFor();
  await page.getByLabel('Time').selectOption('1h');
  await page.keyboard.press('h');
  await page.waitForURL(/screen=\d/);
  await page.reload();
  await page.getByText('1 of 1').waitFor();
  expect(await page.getByLabel('Time').inputValue()).toBe('1h');
  await page.getByLabel('Time').selectOption('');
  await page.getByLabel('Phone').selectOption('');
  await page.getByText('of 2').waitFor();
  const { page: colleague, problems } = await openWindow(here.browser);
  await signIn(colleague, here.service.url, here.service.token);
  await colleague.waitForURL(/\/devices$/);
  await colleague.getByText('Select phones to launch on them').waitFor();
  await colleague.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Review' }).click();
  await colleague.getByRole('link', { name: 'Records', exact: true }).click();
  await colleague.getByText('1 of 2').waitFor();
  // A used button keeps the focus; the next record has no selected node, and the address names it.
  await colleague.getByRole('treeitem').first().click();
  await colleague.getByRole('region', { name: 'Node' }).waitFor();
  const older = colleague.getByRole('button', { name: /^Older/ });
  await older.click();
  await colleague.getByText('2 of 2').waitFor();
  expect(await older.evaluate((button) => button === document.activeElement)).toBe(true);
  expect(await colleague.getByRole('region', { name: 'Node' }).count()).toBe(0);
  await colleague.waitForURL(/record=/);
  await colleague.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Review' }).click();
  await colleague.getByRole('link', { name: 'Records', exact: true }).click();
  await colleague.getByText('1 of 2').waitFor();
  await page.getByRole('treeitem').first().waitFor();
  expect(await findViolations(page)).toEqual([]);
  // A record that has just appeared takes no verdict.
  await page.waitForTimeout(500);
  await page.keyboard.press('e');
  await page.getByText('1 of 1').waitFor();
  await colleague.getByText('1 of 1').waitFor();
  await page.waitForTimeout(500);
  await page.keyboard.press('s');
  await page.getByText('Nothing to review').waitFor();
  await colleague.getByText('Nothing to review').waitFor();
  // The audit log links to the record, which has no name.
  await page.goto(`${here.service.url}/settings/audit`);
  await page
    .getByRole('link', { name: /^record …[0-9a-f]{12}$/ })
    .first()
    .click();
  await page.getByText('It is already skipped').waitFor();
  expect([...author.problems, ...problems]).toEqual([]);
});

story('a user without phones is told what phones are there for, and whom to ask', async () => {
  const { user } = await here.service.call('POST', '/api/v2/users', { name: 'newcomer', role: 'user' });
  const { secret } = await here.service.call('POST', '/api/v2/tokens', {
    name: 'first',
    user_id: (user as { id: string }).id,
  });
  const { page, problems } = await openWindow(here.browser);
  await signIn(page, here.service.url, String(secret));
  const ask = page.getByText(/Ask the owner of a phone.*newcomer/);
  await page.waitForURL(/\/start$/);
  await ask.waitFor();
  expect(await findViolations(page)).toEqual([]);
  await page.goto(`${here.service.url}/devices`);
  await page.getByText('No phones are shared with you').waitFor();
  await ask.waitFor();
  expect(await findViolations(page)).toEqual([]);
  expect(problems).toEqual([]);
});

story('parameters are checked at their fields, and what is wrong is said once for all phones', async () => {
  const schema = {
    type: 'object',
    required: ['mail', 'code'],
    properties: {
      mail: { type: 'string', format: 'email', title: 'E-mail' },
      code: { type: 'string', pattern: '^x', title: 'Code' },
      tries: { type: 'integer', title: 'Tries', minimum: 1 },
      cities: { type: 'array', items: { type: 'string' }, title: 'Cities' },
    },
  };
  const project = await here.service.createProject('Fields', {
    'main.ts': 'agent.control.setResult(agent.arguments.automationParameters);',
    'parameters.schema.json': JSON.stringify(schema),
  });
  const { page, problems } = await openWindow(here.browser);
  await signIn(page, here.service.url, here.service.token);
  const launches: string[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/launchAutomation')) launches.push(request.url());
  });
  await page.goto(`${here.service.url}/devices`);
  for (const serial of ['SIM0001', 'SIM0002'])
    await page.getByLabel(new RegExp(`^Select .*${serial}`)).click();
  await page.getByRole('button', { name: 'Launch…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Project').selectOption(project);
  const mail = dialog.getByLabel('E-mail (required)');
  const launch = dialog.getByRole('button', { name: 'Launch', exact: true });
  await mail.waitFor();
  await launch.click();
  await expect.poll(() => dialog.getByText('This is required.').count()).toBe(2);
  expect(await mail.evaluate((input) => input === document.activeElement)).toBe(true);
  await mail.fill('ada');
  await dialog.getByText('This must be an e-mail address').waitFor();
  await mail.fill('ada@example.com');
  const tries = dialog.getByLabel('Tries (optional)');
  expect(await tries.getAttribute('type')).toBe('number');
  await tries.fill('0');
  await dialog.getByText('This must be at least 1.').waitFor();
  await tries.fill('2');
  await dialog.getByLabel('Cities (optional, one per line)').fill('Bern\nParis\n');
  await dialog.getByLabel('Code (required)').fill('y');
  expect(await findViolations(page)).toEqual([]);
  expect(launches).toEqual([]);

  // Problems that only the service can find are shown once, at their field.
  await launch.click();
  await dialog.getByText('This must match pattern "^x".').waitFor();
  await expect.poll(() => dialog.getByText('The parameters do not fit').count()).toBe(1);
  await dialog.getByLabel('Code (required)').fill('x1');
  await dialog.getByText('The parameters do not fit').waitFor({ state: 'detached' });
  await launch.click();
  await dialog.getByRole('link', { name: 'Open run' }).first().click();
  const result = page.getByRole('region', { name: 'Result' });
  await result.getByText('"Paris"').waitFor();
  expect(JSON.parse(await result.innerText())).toEqual({
    mail: 'ada@example.com',
    code: 'x1',
    tries: 2,
    cities: ['Bern', 'Paris'],
  });
  await page.getByText('Same launch').waitFor();
  expect(launches).toHaveLength(2);
  expect(problems).toEqual([]);
});
