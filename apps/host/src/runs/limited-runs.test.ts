/** Runs and questions of a token that is limited to some apps, with a real sandbox and driver. */
import { randomUUID } from 'node:crypto';
import type { HostQuestionType, ServerMessage } from '@phalanx/protocol';
import { expect, it } from 'vitest';

import { launchOf } from '../testing/launch-of.ts';
import { serial, useTestHost } from '../testing/test-host.ts';

const host = useTestHost();
const app_limit = { apps: ['dev.phalanx.sample.form'], token: 'agent' };
const refusal = 'The token "agent" is limited to dev.phalanx.sample.form: ';

async function run(code: string): Promise<string[]> {
  const run_id = randomUUID();
  host.service.send({ ...launchOf(code, [{ run_id, device_id: 'device-1', serial }]), app_limit });
  expect((await host.service.untilEnded(run_id)).error).toBeNull();
  return host.service.messages(run_id);
}

it('a run uses the apps of its token, and is told of each other one by which name it is refused', async () => {
  const printed = await run(`
    const { actions } = agent;
    const say = (work) => work.then((value) => console.log('done', value ?? ''), (error) => console.log(error.code, error.message));
    await say(actions.launchApp('com.android.settings'));
    await actions.launchApp('dev.phalanx.sample.form');
    await say(actions.screenContent().then((screen) => screen.packageName));
    await say(actions.tap(500, 2000));
    await actions.home();
    await say(actions.tap(500, 900));
    await say(actions.screenshot());
  `);
  expect(printed[0]).toContain(`app_not_allowed`);
  expect(printed[0]).toContain(`${refusal}com.android.settings is another app.`);
  expect(printed.slice(1, 3)).toEqual(['done dev.phalanx.sample.form', 'done ']);
  for (const line of printed.slice(3, 5))
    expect(line).toContain(`${refusal}dev.phalanx.sample.launcher is in front.`);
  expect(host.phone.android.currentPackage).toBe('dev.phalanx.sample.launcher');
});

const settings = { package_name: 'com.android.settings' };
const questions: (Record<string, unknown> & { type: HostQuestionType })[] = [
  { type: 'input', input: { type: 'tap', x: 500, y: 900 } },
  { type: 'input', input: { type: 'launch_app', ...settings } },
  { type: 'act', steps: [{ type: 'launch', ...settings }], budget_ms: 6000 },
  { type: 'screen', width: null, picture: false },
  { type: 'screenshot' },
  { type: 'live', known: null },
];

it('a question of such a token is answered with what the token is limited to', async () => {
  host.phone.android.startActivity('com.android.settings');
  for (const question of questions) {
    const request_id = randomUUID();
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the table has the fields of each question
    host.service.send({ ...question, request_id, serial, app_limit } as ServerMessage);
    const failure = (): string | undefined =>
      host.service.arrivals.flatMap((arrival) =>
        arrival.kind === 'request_failed' && arrival.requestId === request_id ? [arrival.message] : [],
      )[0];
    await host.service.until(() => failure() !== undefined);
    expect(failure()).toMatch(/^app_not_allowed: .*The token "agent" is limited to/);
  }
});
