import { readFile } from 'node:fs/promises';
import { expect } from 'vitest';

import { findViolations } from './support/axe.ts';
import { openWindow, signIn } from './support/browser.ts';
import { stage } from './support/stage.ts';
import { story } from './support/story.ts';

const here = stage(3);
const sample = new URL('../../apps/cli/samples/out-of-steps.ts', import.meta.url);

story(
  'three phones meet a screen: one group, assigned, solved in a commit, undone, and open again',
  async () => {
    const { service } = here;
    const devices = await service.readyDevices(3);
    const projectId = await service.createProject('Unknown screens', {
      'main.ts': await readFile(sample, 'utf8'),
    });
    const commit = async (message: string): Promise<string> => {
      const reply = await service.call('POST', `/api/v2/automation/commit/${projectId}`, { message });
      return (reply['commit'] as { hash: string }).hash;
    };
    await commit('the first one');
    for (const device of devices) await service.launch(device, projectId);
    const { page, problems } = await openWindow(here.browser);
    await signIn(page, service.url, service.token);
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Review' }).click();
    const list = page.getByRole('list', { name: 'Groups' });
    await list.getByText('3 records · 3 phones').waitFor();
    const group = page.getByRole('region', { name: 'Group', exact: true });
    await group.getByRole('figure').nth(2).waitFor();
    expect(await group.getByRole('figure').count()).toBe(3);
    expect(await findViolations(page)).toEqual([]);

    // A second reviewer sees the changes without a reload.
    const { page: colleague, problems: others } = await openWindow(here.browser);
    await signIn(colleague, service.url, service.token);
    await colleague.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Review' }).click();
    await colleague.getByText('3 records · 3 phones').waitFor();
    await page.keyboard.press('a');
    await colleague.getByText(/assigned to/).waitFor();
    await page.keyboard.press('e');
    await page.getByText('No open groups').waitFor();
    await colleague.getByText('No open groups').waitFor();
    await page.keyboard.press('z');
    await page.getByRole('cell', { name: 'pending' }).nth(2).waitFor();
    await colleague.getByText('3 records · 3 phones').waitFor();

    await service.writeFile(projectId, 'fix.ts', 'export const fixed = true;\n');
    const fix = await commit('the fix');
    await group.getByLabel('Commit that solves it').fill(fix.slice(0, 9));
    await group.getByRole('button', { name: /^Solved/ }).click();
    await colleague.getByText('No open groups').waitFor();
    await service.launch(devices[0] ?? '', projectId);
    await colleague.getByText('open again').first().waitFor();
    await colleague.getByText(`solved in ${fix.slice(0, 8)}`).waitFor();
    await colleague.getByText('4 records · 3 phones').waitFor();

    // A record is moved to its own group and back.
    await colleague
      .getByRole('checkbox', { name: /^Select record/ })
      .first()
      .check();
    await colleague.getByRole('button', { name: 'Move 1 to a new group' }).click();
    await colleague.getByText('1 record · 1 phone').waitFor();
    expect(await findViolations(colleague)).toEqual([]);
    await colleague.getByRole('button', { name: /^Undo split/ }).click();
    await colleague.getByText('4 records · 3 phones').waitFor();
    // The copy for replays is deleted without its records.
    await colleague.getByText(/kept for replays/).click();
    await colleague
      .getByRole('button', { name: /^Delete screen/ })
      .first()
      .click();
    await colleague.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await colleague.getByText('The screen was deleted').waitFor();
    await colleague.getByText('4 records · 3 phones').waitFor();
    await colleague.getByRole('link', { name: 'The record that reopened it' }).click();
    await colleague.getByRole('treeitem').first().waitFor();

    // A reader sees why no decisions are possible here.
    const { secret } = await service.call('POST', '/api/v2/tokens', { name: 'reader', scopes: ['read'] });
    const { page: reader, problems: ofReader } = await openWindow(here.browser);
    await signIn(reader, service.url, String(secret));
    await reader.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Review' }).click();
    await reader.getByText('does not have the scope “review”').waitFor();
    expect(await findViolations(reader)).toEqual([]);
    expect([...problems, ...others, ...ofReader]).toEqual([]);
  },
);

story('crashes are groups by their error, which the list, the group and the program show', async () => {
  const { service } = here;
  const [one = '', other = ''] = await service.readyDevices(3);
  const project = await service.createProject('Crashing', {
    'main.ts': `await agent.actions.launchApp(String(agent.arguments.automationParameters.app));
await agent.actions.waitForText('Never there', { timeoutMs: 500 });`,
  });
  await service.launch(one, project, { app: 'dev.phalanx.sample.form' });
  await service.launch(other, project, { app: 'com.android.settings' });
  const { page, problems } = await openWindow(here.browser);
  await signIn(page, service.url, service.token);
  await page.goto(`${service.url}/groups?automation=${project}`);
  const list = page.getByRole('list', { name: 'Groups' });
  await list.getByText('2 records · 2 phones').waitFor();
  await list.getByText('WaitTimeoutError at main.ts:2').waitFor();
  const group = page.getByRole('region', { name: 'Group', exact: true });
  const error = group.getByRole('region', { name: 'Error' });
  await error.getByText(/Waited .* for .*Never there/).waitFor();
  expect(await group.getByRole('button', { name: 'Propose a fix' }).count()).toBe(0);
  for (const width of [1920, 390, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    expect(await findViolations(page), `at ${width}`).toEqual([]);
  }
  await error.getByRole('link', { name: 'main.ts:2' }).click();
  await page.getByText('Never there').first().waitFor();
  const printed = await service.run('phalanx', ['groups', '--automation', project]);
  expect(printed).toContain('WaitTimeoutError at main.ts:2: Waited');
  expect(printed).not.toContain(', at ');
  expect(problems).toEqual([]);
});
