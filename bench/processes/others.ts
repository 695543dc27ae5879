import { setTimeout as sleep } from 'node:timers/promises';
import { Type } from 'typebox';

import { answerParent, command } from '../harness/answer-parent.ts';
import { percentile } from '../harness/percentile.ts';
import { ask, directLaunch, launchPath, type Api } from '../http/api.ts';
import { createProject } from '../projects/push-project.ts';

/**
 * Kinds of requests of an ordinary user. Requests of the same kind are sent one by one, and their latencies are
 * measured.
 */
type Kind = 'control' | 'read' | 'write' | 'launch' | 'stop';

const everyMs: Record<Kind, number> = { control: 5, read: 10, write: 200, launch: 200, stop: 0 };
const giveUpMs = 30_000;
const waits = new Map<Kind, number[]>();
const refusals = new Map<string, number>();
const watching = { isOn: false };
let loops: Promise<unknown> = Promise.resolve();
let start: (() => Promise<unknown>) | undefined;

async function request({ url, token }: Api, method: string, path: string, body?: object): Promise<string> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const signal = AbortSignal.timeout(giveUpMs);
  const init = { method, headers, signal, ...(body !== undefined && { body: JSON.stringify(body) }) };
  const reply = await fetch(new URL(path, url), init).catch(() => undefined);
  const text = await reply?.text().catch(() => undefined);
  if (reply?.ok === true && text !== undefined) return text;
  const code = /"code":"(\w+)"/.exec(text ?? '')?.[1] ?? 'no answer';
  return `refused: ${reply?.status ?? ''} ${code}`;
}

/** Measures a request. A refusal is counted by its code, with its latency. */
async function measure(kind: Kind, act: () => Promise<string>): Promise<void> {
  const begunAt = performance.now();
  const answer = await act();
  waits.set(kind, [...(waits.get(kind) ?? []), performance.now() - begunAt]);
  if (!answer.startsWith('refused: ')) return;
  const said = `${kind} ${answer.slice('refused: '.length)}`;
  refusals.set(said, (refusals.get(said) ?? 0) + 1);
}

async function again(kind: Kind, act: () => Promise<unknown>): Promise<void> {
  while (watching.isOn) {
    await act();
    await sleep(everyMs[kind]);
  }
}

interface Plan {
  api: Api;
  control: string;
  deviceId: string;
  projectId: string;
}

function watch({ api, control, deviceId, projectId }: Plan): Promise<unknown> {
  let turn = 0;
  const ids = { device_id: deviceId, automation_ids: [projectId] };
  const reads = [
    () => request(api, 'GET', '/api/v2/me'),
    () => request(api, 'POST', '/api/v2/devices/automationLogs', ids),
    () => request(api, 'GET', '/api/v2/runs?limit=10'),
    () => request(api, 'GET', '/api/v2/automation-project/out-of-steps?limit=10'),
    () => request(api, 'GET', '/docs'),
  ];
  const file = `/api/v2/automation/file/${projectId}`;
  return Promise.all([
    again('control', () => measure('control', () => request({ url: control, token: '' }, 'GET', '/'))),
    again('read', () => measure('read', reads[(turn += 1) % reads.length] ?? (async () => ''))),
    again('write', () => {
      const content = `console.log(${(turn += 1)});\n`;
      return measure('write', () => request(api, 'PUT', file, { path: 'main.ts', content }));
    }),
    again('launch', async () => {
      const launch = { ...directLaunch(deviceId), code: 'await new Promise((r) => setTimeout(r, 60_000));' };
      await measure('launch', () => request(api, 'POST', launchPath, launch));
      const stop = { device_id: deviceId };
      await measure('stop', () => request(api, 'POST', '/api/v2/devices/stopAllAutomations', stop));
    }),
  ]);
}

answerParent({
  prepare: command(
    Type.Object({
      url: Type.String(),
      token: Type.String(),
      control: Type.String(),
      deviceId: Type.String(),
    }),
    async ({ url, token, control, deviceId }) => {
      const api = { url, token };
      const { id: projectId } = await createProject(api);
      await ask(api, '/api/v2/me', Type.Unknown());
      start = () => watch({ api, control, deviceId, projectId });
    },
  ),
  begin: () => {
    waits.clear();
    refusals.clear();
    watching.isOn = true;
    loops = start?.() ?? Promise.resolve();
  },
  /** Returns count and latencies in ms by kind. */
  end: async () => {
    watching.isOn = false;
    await loops;
    const kinds = [...waits].map(([kind, all]) => ({
      kind,
      count: all.length,
      p50: percentile(all, 0.5),
      p99: percentile(all, 0.99),
      longest: Math.max(...all),
    }));
    return { kinds, refused: [...refusals].map(([said, count]) => `${said} (${count} times)`) };
  },
});
