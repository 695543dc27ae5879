import { readFile } from 'node:fs/promises';

import { transform } from 'esbuild';
import { describe, expect, it } from 'vitest';

import { watchScreens } from '../testing/watch-screens.ts';
import { useTestHost } from '../testing/test-host.ts';

const host = useTestHost();
const sample = new URL('../../../cli/samples/out-of-steps.ts', import.meta.url);

describe('the sample out-of-steps.ts', () => {
  it('leads through three stages and two dialogs, and ends in a record of the screen that it does not know', async () => {
    const { code } = await transform(await readFile(sample, 'utf8'), { loader: 'ts', target: 'es2023' });
    const isOfThen = watchScreens(host.phone);
    const runId = host.launch(code.replaceAll(/^export .*$/gm, ''));
    const end = await host.service.untilEnded(runId);
    expect([end.error, host.service.messages(runId).slice(1)]).toEqual([
      null,
      [
        expect.stringMatching(/^An unknown screen did not go away on the way to "back in the surprise app"/),
        expect.stringMatching(/^The record [0-9a-f-]{36} shows the screens\.$/),
      ],
    ]);
    const { screens } = await host.service.untilRecorded(runId, 'outOfSteps');
    const states = screens.map(({ screen_state }) => screen_state);
    for (const state of [
      'SurpriseApp',
      'RateDialog',
      'CrashApp',
      'CrashDialog',
      'HomeScreen',
      'FormEmpty',
      'FormNamed',
    ])
      expect(states).toContain(state);
    expect(states.slice(-5)).toEqual(Array.from({ length: 5 }, () => 'unknown'));
    expect(screens.at(-1)).toMatchObject({ next_stage: 'back in the surprise app', has_tree: true });
    expect(screens.at(-1)?.max_steps).toBeGreaterThan(0);
    const pictures = screens.filter(({ screenshot }) => screenshot !== null);
    expect(pictures.length).toBeGreaterThan(screens.length * 0.8);
    const wrong: string[] = [];
    for (const { screen_id, screen_state, timestamp } of pictures) {
      const picture = host.service.records.captures.get(`${screen_id}/screenshot`)?.body ?? Buffer.alloc(0);
      if (!(await isOfThen(picture, timestamp))) wrong.push(screen_state);
    }
    expect(wrong).toEqual([]);
  });
});
