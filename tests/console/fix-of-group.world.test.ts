import { until } from '@phalanx/host/testing/until';
import type { Page } from 'playwright-core';
import { afterAll, expect } from 'vitest';

import { offerCode, startOfferPhones } from '../support/offer-phones.ts';
import { findViolations } from './support/axe.ts';
import { openWindow, signIn } from './support/browser.ts';
import { stage } from './support/stage.ts';
import { story } from './support/story.ts';

const phones = await startOfferPhones();
afterAll(() => phones.stop());
const here = stage(0, phones.settings);

/** Invites a user who may edit the project. Resolves with the user's ID and token. */
async function invite(projectId: string, name: string): Promise<{ id: string; token: string }> {
  const { service } = here;
  const { user } = await service.call('POST', '/api/v2/users', { name });
  const { id } = user as { id: string };
  const scopes = ['read', 'edit', 'review'];
  const { secret } = await service.call('POST', '/api/v2/tokens', { user_id: id, name: 'story', scopes });
  const member = `/api/v2/automation-project/${projectId}/members/${id}`;
  await service.call('PUT', member, { role: 'shared_editor' });
  const { user: owner } = await service.call('GET', '/api/v2/me');
  const accepted = await fetch(`${service.url}/api/v2/shares/accept`, {
    method: 'POST',
    headers: { authorization: `Bearer ${String(secret)}`, 'content-type': 'application/json' },
    body: JSON.stringify({ kind: 'project', id: projectId, owner_id: (owner as { id: string }).id }),
  });
  expect(accepted.status).toBe(200);
  return { id, token: String(secret) };
}

/** Proposes a fix, opens the change as a draft, and leaves the page in the editor. */
async function draftFix(page: Page, name: string): Promise<void> {
  const fix = page.getByRole('region', { name: 'Fix' });
  await fix.getByLabel('What it becomes in the code').selectOption('dialog');
  await fix.getByLabel('Name in the code').fill(name);
  await fix.getByRole('button', { name: 'Propose a fix' }).click();
  await fix.getByRole('radio').first().waitFor();
  await fix
    .getByText(/holds on (\d) of \1, elsewhere on 0 of [1-9]/)
    .first()
    .waitFor();
  await fix
    .getByRole('region', { name: 'Changes of main.ts' })
    .getByText(`+      name: '${name}',`)
    .waitFor();
  expect(await findViolations(page)).toEqual([]);
  await fix.getByRole('button', { name: 'Open in editor as draft' }).click();
  await page.getByRole('region', { name: 'Code' }).getByText(name).first().waitFor();
}

async function commitFix(page: Page, message: string): Promise<void> {
  await page.getByRole('button', { name: 'Commit…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Commit', exact: true });
  await dialog.getByLabel('Commit message').fill(message);
  await dialog.getByRole('checkbox', { name: /^Solves the group/ }).check();
  expect(await findViolations(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Commit' }).click();
  await dialog.waitFor({ state: 'detached' });
}

story(
  'three phones of three languages meet a screen: a proposed fix is drafted, committed and proved, and its assignee sees it fail again',
  async () => {
    const { service } = here;
    const [first = '', second = '', third = ''] = await service.readyDevices(3);
    const projectId = await service.createProject('Offers', { 'main.ts': offerCode });
    const commit = async (message: string): Promise<void> => {
      await service.call('POST', `/api/v2/automation/commit/${projectId}`, { message });
    };
    await commit('the first one');
    for (const device of [first, second, third]) await service.launch(device, projectId);
    const groupsOf = async () => {
      const { groups } = await service.call('GET', `/api/v2/groups?automation_id=${projectId}`);
      return groups as { id: string; status: string; records: number; proved: string | null }[];
    };
    const [group] = await until('one group of three', groupsOf, ([one]) => one?.records === 3);
    const id = group?.id ?? '';
    expect(await groupsOf()).toHaveLength(1);
    const ann = await invite(projectId, 'Ann');
    await service.call('PATCH', `/api/v2/groups/${id}`, { assignee_id: ann.id });
    // A run of the old code waits at the screen until the fix is available.
    phones.setGate(false);
    const launched = { automationId: projectId, command: 'start', device_ids: [first] };
    await service.call('POST', '/api/v2/devices/launchAutomation', launched);

    const { page, problems } = await openWindow(here.browser);
    await signIn(page, service.url, service.token);
    await page.goto(`${service.url}/groups?group=${id}`);
    await draftFix(page, 'HalfPrice');
    await page.getByRole('button', { name: 'Replay draft' }).click();
    const replay = page.getByRole('region', { name: 'Replay of the draft' });
    await replay.getByText(/^This group: recognised (\d)\/\1, handled \1\/\1$/).waitFor();
    expect(await service.readFile(projectId, 'main.ts')).toBe(offerCode);
    // The second draft would replace the first one.
    await page.goBack();
    await page.getByRole('button', { name: 'Propose a fix' }).click();
    await page.getByRole('button', { name: 'Open in editor as draft' }).click();
    await page.getByRole('alert').getByText('main.ts has unsaved changes here').waitFor();
    await page.goForward();
    await page.getByRole('region', { name: 'Code' }).getByText('HalfPrice').first().click();
    await page.keyboard.press('ControlOrMeta+s');
    await until(
      'the fix to be saved',
      () => service.readFile(projectId, 'main.ts'),
      (code) => code.includes("do: (screen) => screen.findById('not_now')?.tap(),"),
    );
    await commitFix(page, 'The offer is refused');
    await until('the proof', groupsOf, ([one]) => one?.status === 'solved' && one.proved === 'yes');

    phones.setGate(true);
    await service.untilRunEnded(projectId, `&device_id=${first}`);
    await page.goto(`${service.url}/groups?status=any&group=${id}`);
    await page.getByText('outdated').waitFor();
    await page.getByText(/solved in [0-9a-f]{8}, proved by its replay/).waitFor();
    expect(await groupsOf()).toMatchObject([{ id, status: 'solved', records: 4 }]);
    const fixed = await service.launch(second, projectId);
    expect(fixed).toMatchObject({ status: 'completed', outcome: 'succeeded' });

    // The assignee watches while another user's next version loses the fix.
    const { page: annsPage, problems: ofAnn } = await openWindow(here.browser);
    await signIn(annsPage, service.url, ann.token);
    await annsPage.goto(`${service.url}/groups?status=any&mine=true`);
    await annsPage.getByText(/solved in [0-9a-f]{8}/).waitFor();
    await service.writeFile(projectId, 'main.ts', offerCode);
    await commit('the fix is lost');
    await service.launch(third, projectId);
    await annsPage.getByText('open again').first().waitFor();
    await annsPage.getByText('5 records · 3 phones').waitFor();
    expect(await findViolations(annsPage)).toEqual([]);
    expect([...problems, ...ofAnn]).toEqual([]);
  },
  600_000,
);
