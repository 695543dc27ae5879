import { readFile } from 'node:fs/promises';
import { expect } from 'vitest';

import { findViolations } from './support/axe.ts';
import { openWindow, signIn } from './support/browser.ts';
import { stage } from './support/stage.ts';
import { story } from './support/story.ts';

const here = stage(3);
const sample = new URL('../../apps/cli/samples/out-of-steps.ts', import.meta.url);

/** Returns code that recognizes the settings and leaves them. */
const fixed = (code: string): string =>
  code
    .replace("  FormNamed = 'FormNamed',\n", "  FormNamed = 'FormNamed',\n  Settings = 'Settings',\n")
    .replace(
      '  return ScreenState.Unknown;\n',
      "  if (screen.packageName === 'com.android.settings') return ScreenState.Settings;\n  return ScreenState.Unknown;\n",
    )
    .replace(
      "launchApp('com.android.settings') },",
      "launchApp('com.android.settings'), [ScreenState.Settings]: () => agent.actions.launchApp(apps.surprise) },",
    );

story(
  'an unknown screen is a group, the saved fix knows it, and the commit that says so solves it, proved by its replay',
  async () => {
    const { service } = here;
    const code = await readFile(sample, 'utf8');
    const devices = await service.readyDevices(3);
    const projectId = await service.createProject('Unknown screens', { 'main.ts': code });
    const params = `/api/v2/automation/commit/${projectId}`;
    await service.call('POST', params, { message: 'the first one' });
    for (const device of devices) await service.launch(device, projectId);
    const { page, problems } = await openWindow(here.browser);
    await signIn(page, service.url, service.token);
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Review' }).click();
    await page.getByRole('list', { name: 'Groups' }).getByText('3 records · 3 phones').waitFor();
    const { groups } = await service.call('GET', `/api/v2/groups?automation_id=${projectId}`);
    const [{ id }] = groups as [{ id: string }];

    // Tries the fix as a draft first, starting from the group's link to the code.
    await page.goto(`${service.url}/groups?group=${id}`);
    await page
      .getByRole('region', { name: 'Group', exact: true })
      .getByRole('link', { name: 'Code' })
      .click();
    const replay = page.getByRole('region', { name: 'Replay of the draft' });
    await page.locator('.cm-content').click();
    await page.keyboard.press('Control+a');
    await page.keyboard.press('Delete');
    await page.keyboard.insertText('let a = ;');
    await page.getByRole('button', { name: 'Replay draft' }).click();
    await replay
      .getByRole('alert')
      .getByText(/main\.ts\(1,9\)/)
      .waitFor();
    await page.locator('.cm-content').click();
    await page.keyboard.press('Control+a');
    await page.keyboard.press('Delete');
    await page.keyboard.insertText(fixed(code));
    await replay.getByRole('button', { name: 'Replay' }).focus();
    await page.keyboard.press('Enter');
    await replay.getByText(/^This group: recognised (\d)\/\1, handled \1\/\1$/).waitFor();
    await replay
      .getByRole('status')
      .getByText(/^\d now recognised$/)
      .waitFor();
    await replay
      .getByRole('region', { name: 'What is new' })
      .locator('img')
      .first()
      .waitFor({ state: 'attached' });
    expect(await findViolations(page)).toEqual([]);
    const { files } = await service.call('GET', `/api/v2/automation/files/${projectId}`);
    expect(files).toMatchObject([{ path: 'main.ts', change: 'unchanged' }]);
    await page.getByRole('button', { name: 'Discard' }).click();

    await page.goto(`${service.url}/projects/${projectId}`);
    await service.writeFile(projectId, 'main.ts', fixed(code));
    await page.getByRole('link', { name: /^Saved screens: \d now recognised$/ }).waitFor();
    await page.getByRole('button', { name: 'Commit…' }).click();
    await page.getByLabel('Commit message').fill(`The settings are left\n\nSolves ${id}`);
    await page.getByRole('dialog').getByRole('button', { name: 'Commit' }).click();
    await page.getByRole('button', { name: 'History' }).click();
    await page
      .getByRole('link', { name: /\d now recognised/ })
      .first()
      .waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page
      .getByRole('dialog')
      .getByRole('link', { name: /\d now recognised/ })
      .click();
    await page.getByRole('cell', { name: 'recognised, and the code acts' }).first().waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole('region', { name: 'What is new' }).getByRole('link').first().click();
    await page.getByText(/solved in [0-9a-f]{8}, proved by its replay/).waitFor();
    await page.getByText(/^Commit [0-9a-f]{8} knows (\d) of \1 kept screens/).waitFor();

    // The record's run would now go differently; its own commit still goes the same way.
    await page.goto(`${service.url}/records?automation=${projectId}&status=any`);
    const record = page.getByRole('region', { name: 'Replay of the record' });
    await record.getByRole('button', { name: 'Replay with the current code' }).click();
    await record
      .getByRole('status')
      .getByText(
        /^The run would go differently\. screen \d+: unknown on the way to .* → Settings on the way to [^.]*\.$/,
      )
      .waitFor();
    await record
      .getByRole('img', { name: /^Screen \d+$/ })
      .first()
      .waitFor();
    expect(await findViolations(page)).toEqual([]);
    expect(problems).toEqual([]);
  },
);
