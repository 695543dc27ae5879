import { expect } from 'vitest';

import { findViolations } from './support/axe.ts';
import { openWindow, signIn } from './support/browser.ts';
import { stage } from './support/stage.ts';
import { story } from './support/story.ts';

const here = stage(2);

const code = `const form = 'dev.phalanx.sample.form';
await agent.actions.launchApp(form);
await agent.actions.waitForText('Registration');
console.log('the form is there');
await (await agent.actions.waitForId('name')).writeText('Ada');
console.log('the name is typed');
await agent.actions.waitForText('Registratoin', { timeoutMs: 400 });`;

story(
  'a failed run opens at its failing step, and one choice moves steps, screen, log and source',
  async () => {
    const devices = await here.service.readyDevices(2);
    const project = await here.service.createProject('Checkout', { 'main.ts': code });
    const run = await here.service.launch(devices[0] ?? '', project);
    expect(run).toMatchObject({ status: 'failed' });
    const runId = String(run['run_id']);
    const { page, problems } = await openWindow(here.browser);
    await signIn(page, here.service.url, here.service.token);
    await page.goto(`${here.service.url}/runs/${runId}`);

    const steps = page.getByRole('listbox', { name: 'Steps' });
    const chosen = steps.locator('[aria-selected="true"]');
    const screen = page.getByRole('region', { name: 'Screen of the step' });
    const source = page.getByRole('region', { name: 'Source' });
    const line = source.locator('[aria-current="step"]');
    await expect.poll(() => chosen.innerText()).toMatch(/waitForText\s+"Registratoin"/);
    await screen.getByText('Nearest on the screen: “Registration”').waitFor();
    await screen.getByRole('img').first().waitFor();
    await expect.poll(() => line.innerText()).toContain('Registratoin');
    for (const width of [1920, 390, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await findViolations(page), `at ${width}`).toEqual([]);
    }

    await steps.focus();
    await page.keyboard.press('ArrowUp');
    await expect.poll(() => chosen.innerText()).toMatch(/writeText\s+EditText #name/);
    await expect.poll(() => line.innerText()).toContain("writeText('Ada')");
    await screen.locator('svg rect').first().waitFor({ state: 'attached' });
    expect(new URL(page.url()).searchParams.get('step')).toBe('4');

    const log = page.getByRole('region', { name: 'Log' });
    await log
      .locator('[data-level]')
      .filter({ hasText: 'the form is there' })
      .getByTitle('Show the step')
      .click();
    await expect.poll(() => chosen.innerText()).toMatch(/waitFor(Text|Id)/);
    await page.getByRole('group', { name: 'Screens' }).getByRole('button').last().click();
    await expect.poll(() => chosen.innerText()).toContain('Registratoin');

    // The address names the step, so that it can be shared.
    await page.goto(`${here.service.url}/runs/${runId}?step=1`);
    await expect.poll(() => chosen.innerText()).toContain('launchApp');
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download log' }).click();
    expect((await download).suggestedFilename()).toBe(`${runId}.log`);
    expect(problems).toEqual([]);
  },
);

story('a run that goes on shows the phone as it is now, as long as its reader sees that phone', async () => {
  const { service } = here;
  const [deviceId = ''] = await service.readyDevices(2);
  const { user } = await service.call('POST', '/api/v2/users', { name: 'Ada' });
  const { id: ada } = user as { id: string };
  const { secret } = await service.call('POST', '/api/v2/tokens', { name: 'laptop', user_id: ada });
  const member = `/api/v2/devices/${deviceId}/members/${ada}`;
  await service.call('PUT', member, { role: 'launch' });
  const launchId = crypto.randomUUID();
  const launched = await fetch(`${service.url}/api/v2/devices/launchDirectAutomation`, {
    method: 'POST',
    headers: { authorization: `Bearer ${String(secret)}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      device_id: deviceId,
      launch_id: launchId,
      command: 'start',
      automationParameters: {},
      code: 'await agent.actions.home();\nawait agent.actions.sleep(120_000);',
      jobVariables: {},
    }),
  });
  const { devices } = (await launched.json()) as { devices: [{ run_id: string }] };
  const [row] = devices;

  const { page, problems } = await openWindow(here.browser);
  await signIn(page, service.url, String(secret));
  await page.goto(`${service.url}/runs/${row.run_id}`);
  const screen = page.getByRole('region', { name: 'Screen of the step' });
  const picture = screen.getByRole('img', { name: 'What the screen shows' });
  await screen.getByRole('heading', { name: 'The phone now' }).waitFor();
  await picture.waitFor();
  for (const width of [1920, 390, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    expect(await findViolations(page), `at ${width}`).toEqual([]);
  }
  // The selected step has no screen yet, so the phone stays visible.
  await page.getByRole('listbox', { name: 'Steps' }).getByText('home').click();
  await screen.getByRole('button', { name: 'Now', pressed: true }).waitFor();
  await picture.waitFor();

  await service.call('DELETE', member, {});
  await screen.getByText('You no longer see this phone, so its picture is not shown here.').waitFor();
  expect(await picture.count()).toBe(0);
  await service.call('POST', `/api/v2/runs/${row.run_id}/stop`, {});
  await screen.getByRole('button', { name: 'Now' }).waitFor({ state: 'detached' });
  expect(problems).toEqual([]);
});

story('a run that succeeds shows its last screen at its last step, also to who has watched it', async () => {
  const [deviceId = ''] = await here.service.readyDevices(2);
  const project = await here.service.createProject('Succeeding', {
    'main.ts': `await agent.actions.launchApp('dev.phalanx.sample.form');
await agent.actions.waitForText('Registration');
await agent.actions.sleep(8000);`,
  });
  // The run lasts until its page is open, which takes a while on a busy machine.
  const { page, problems } = await openWindow(here.browser);
  await signIn(page, here.service.url, here.service.token);
  await here.service.call('POST', '/api/v2/devices/launchAutomation', {
    automationId: project,
    command: 'start',
    device_ids: [deviceId],
  });
  const { runs } = await here.service.call('GET', `/api/v2/runs?automation_id=${project}`);
  const [run] = runs as { run_id: string }[];
  await page.goto(`${here.service.url}/runs/${run?.run_id ?? ''}`);
  const screen = page.getByRole('region', { name: 'Screen of the step' });
  const last = screen.getByRole('img', { name: 'The last screen of the run' });
  await screen.getByRole('heading', { name: 'The phone now' }).waitFor();
  for (const time of ['watched', 'read again']) {
    await last.waitFor();
    await expect
      .poll(() => last.evaluate((image) => (image as HTMLImageElement).naturalWidth), { message: time })
      .toBeGreaterThan(100);
    await screen.getByRole('heading', { name: '3 · sleep' }).waitFor();
    if (time === 'watched') await page.reload();
  }
  for (const width of [1920, 390, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    expect(await findViolations(page), `at ${width}`).toEqual([]);
  }
  // The last screen, which no earlier step has seen.
  await page.getByRole('listbox', { name: 'Steps' }).getByText('launchApp').click();
  await screen.getByText('No screen of this step was stored.').waitFor();
  expect(await last.count()).toBe(0);
  expect(problems).toEqual([]);
});

story('the runs of one launch are a row that opens, and each names the others', async () => {
  const devices = await here.service.readyDevices(2);
  const project = await here.service.createProject('Both', {
    'main.ts': 'await agent.actions.home(); // as it ran',
  });
  await here.service.call('POST', `/api/v2/automation/commit/${project}`, { message: 'It goes home' });
  await here.service.call('POST', '/api/v2/devices/launchAutomation', {
    automationId: project,
    command: 'start',
    device_ids: devices,
  });
  const { page, problems } = await openWindow(here.browser);
  await signIn(page, here.service.url, here.service.token);
  await page.goto(`${here.service.url}/runs`);
  const launch = page.getByRole('row').filter({ hasText: '2 phones' }).first();
  await launch.getByText('2 succeeded', { exact: true }).waitFor();
  await launch.getByRole('button', { name: 'Both' }).click();
  await here.service.writeFile(project, 'main.ts', 'await agent.actions.back(); // as it is now');
  const links = page.getByRole('row').getByRole('link');
  await links.first().click();
  await page.getByRole('heading', { name: 'Same launch' }).waitFor();
  await page.getByRole('region', { name: 'Source' }).getByText('// as it ran').waitFor();
  expect(await findViolations(page)).toEqual([]);
  expect(problems).toEqual([]);
});

story(
  'a run that was never committed keeps the code that ran, and says when the file has changed',
  async () => {
    const [deviceId = ''] = await here.service.readyDevices(2);
    const project = await here.service.createProject('Edited', {
      'main.ts': 'await agent.actions.home(); // as it ran',
    });
    const run = await here.service.launch(deviceId, project);
    const { page, problems } = await openWindow(here.browser);
    await signIn(page, here.service.url, here.service.token);
    await page.goto(`${here.service.url}/runs/${String(run['run_id'])}`);
    const source = page.getByRole('region', { name: 'Source' });
    await source.getByText(/^as it ran at [\d:]+$/).waitFor();
    await here.service.writeFile(project, 'main.ts', '// new\nawait agent.actions.back(); // as it is now');
    // The open page shows the same as after a reload.
    await source.getByText('the file has changed since').waitFor();
    await page.reload();
    await source.getByText('home(); // as it ran').waitFor();
    await source.getByText('the file has changed since').waitFor();
    // The link opens the current file.
    await source.getByRole('link', { name: 'main.ts:1' }).click();
    await page.getByText('as it is now').first().waitFor();
    expect(await findViolations(page)).toEqual([]);
    expect(problems).toEqual([]);
  },
);

story('direct code keeps its source beside its trace, marks where it failed, and runs again', async () => {
  const [deviceId = ''] = await here.service.readyDevices(2);
  const direct =
    'await agent.actions.home();\nconst { tries } = agent.arguments.automationParameters;\nthrow new Error(`try ${tries}`);\n';
  await here.service.call('POST', '/api/v2/devices/launchDirectAutomation', {
    device_id: deviceId,
    launch_id: crypto.randomUUID(),
    command: 'start',
    code: direct,
    name: 'check.ts',
    automationParameters: { tries: 3 },
  });
  const { page, problems } = await openWindow(here.browser);
  await signIn(page, here.service.url, here.service.token);
  await page.goto(`${here.service.url}/runs`);
  await page.getByRole('link', { name: 'check.ts' }).first().click();

  const source = page.getByRole('region', { name: 'Source' });
  const failed = source.getByTitle('The run ended here.');
  await expect.poll(() => failed.innerText()).toContain('throw new Error');
  await expect.poll(() => source.locator('[aria-current="step"]').innerText()).toContain('actions.home');
  const first = page.url();
  await page.getByRole('button', { name: 'Run again' }).click();
  await expect.poll(() => page.url()).not.toBe(first);
  await page.getByRole('heading', { name: 'check.ts' }).waitFor();
  await page.getByText('try 3').first().waitFor();
  await expect.poll(() => failed.innerText()).toContain('throw new Error');
  expect(await findViolations(page)).toEqual([]);
  expect(problems).toEqual([]);
});

const filmed = `await agent.actions.launchApp('dev.phalanx.sample.form');
const field = await agent.actions.waitForId('name');
await agent.actions.sleep(2500);
console.log('the form is there');
await field.writeText('Ada');
await agent.actions.sleep(2500);
await agent.actions.home();
await agent.actions.sleep(2500);`;

story('a run that is launched with a film plays it beside its steps, by mouse and keys', async () => {
  await here.service.readyDevices(2);
  const project = await here.service.createProject('Filmed', { 'main.ts': filmed });
  const { page, problems } = await openWindow(here.browser);
  await signIn(page, here.service.url, here.service.token);
  await page
    .getByRole('navigation', { name: 'Pages' })
    .getByRole('link', { name: 'Fleet', exact: true })
    .click();
  await page.getByLabel(/^Select .*SIM0001/).click();
  await page.getByRole('button', { name: 'Launch…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Project').selectOption(project);
  await dialog.getByLabel('Record video').check();
  await dialog.getByText('Phone settings').click();
  await dialog.getByLabel('Location').fill('52.52');
  await dialog.getByText('This must be latitude and longitude').waitFor();
  await dialog.getByLabel('Location').fill('52.52, 13.4');
  await dialog.getByLabel('Brightness').fill('0');
  await dialog.getByRole('button', { name: 'Launch', exact: true }).click();
  await dialog.getByRole('link', { name: 'Open run' }).click();

  // The film grows while the run is active.
  const film = page.getByRole('region', { name: 'Film' });
  const place = film.getByRole('slider', { name: 'Place in the film' });
  const shown = film.getByRole('img');
  await page.getByRole('navigation', { name: 'Breadcrumb' }).waitFor();
  await page.getByText('"latitude": 52.52').waitFor();
  await here.service.untilRunEnded(project);
  await expect.poll(async () => Number(await place.getAttribute('max'))).toBeGreaterThanOrEqual(2);
  await expect
    .poll(() => shown.evaluate((image) => (image as HTMLImageElement).naturalWidth))
    .toBeGreaterThan(100);

  const steps = page.getByRole('listbox', { name: 'Steps' });
  const chosen = steps.locator('[aria-selected="true"]');
  await place.focus();
  await page.keyboard.press('End');
  await expect
    .poll(() => shown.getAttribute('alt'))
    .toMatch(/^The screen [1-9][\d.]* s after .*, at step \d+/);
  await expect.poll(() => chosen.innerText()).toMatch(/home|sleep/);
  const end = await shown.getAttribute('src');
  await page.keyboard.press('Home');
  await expect.poll(() => place.inputValue()).toBe('0');
  // The first picture is taken when the screen first comes to rest.
  await expect.poll(() => chosen.innerText()).toMatch(/launchApp|waitForId|sleep/);
  expect(await shown.getAttribute('src')).not.toBe(end);
  for (const width of [390, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    expect(await findViolations(page), `at ${width}`).toEqual([]);
  }

  await film.getByRole('button', { name: 'Play' }).click();
  await film.getByRole('button', { name: 'Pause' }).waitFor();
  await film.getByRole('button', { name: 'Play' }).waitFor({ timeout: 60_000 });
  expect(await shown.getAttribute('src')).toBe(end);
  await expect.poll(() => chosen.innerText()).toMatch(/home|sleep/);

  // A choice made elsewhere is shown here.
  await steps.focus();
  await page.keyboard.press('Home');
  await expect.poll(() => shown.getAttribute('src')).not.toBe(end);
  expect(problems).toEqual([]);
});
