import {
  groupRoutes,
  type HostQuestionOf,
  type RecordReport,
  recordRoutes,
  replayRoutes,
  type ReplayVerdict,
  type ScreenReport,
  type SequenceResult,
  type ScreenTree,
} from '@phalanx/protocol';
import { expect } from 'vitest';

import type { ApiReply } from '../api-caller.ts';
import { labelledScreens } from './labelled-screens.ts';
import { recordReport, screenReport, sendReport } from './record-reports.ts';
import { stringAt } from '../string-at.ts';
import { TestHost } from '../test-host.ts';
import { adminToken, TestServer } from '../test-server.ts';

const madeScreens = labelledScreens({ hasIds: true, languages: ['en'], versions: [1], seed: 7 });

/** A made-up screen. */
export function madeScreen(number: number): ScreenTree {
  const tree = madeScreens.find(({ label }) => label === `screen ${number}`)?.tree;
  if (tree === undefined) throw new Error('there is no such screen');
  return tree;
}

/** Verdict of a host that takes every screen for what the code has in quotes. */
export const verdictOf = (code: string): ReplayVerdict => ({
  kind: 'state',
  state: /"(\w+)"/.exec(code)?.[1] ?? 'unknown',
  stage: 'checkout',
  next: 'acts',
  did: ['tap'],
  message: null,
});

export type ReplayAnswer = (
  question: HostQuestionOf<'replay'>,
) => (ReplayVerdict | null)[] | SequenceResult | 'silent';

/** A server with a phone, a project whose runs meet screens, and hosts that replay them. */
export class ReplayScene {
  readonly server: TestServer;
  readonly #host: TestHost;
  readonly #deviceId: string;
  readonly #replayers: TestHost[] = [];
  readonly #projectIds: string[] = [];
  projectId = '';

  private constructor(server: TestServer, { host, deviceId }: { host: TestHost; deviceId: string }) {
    this.server = server;
    this.#host = host;
    this.#deviceId = deviceId;
  }

  static async start(more: Record<string, string> = {}): Promise<ReplayScene> {
    const settings = { PHALANX_RECORDS_KEPT: '1', ...more };
    const server = await TestServer.start({ sweepMs: 50, settings });
    return new ReplayScene(server, await server.connectHost());
  }

  async dispose(): Promise<void> {
    await this.#host.cut();
    await this.server.dispose();
  }

  /** Resolves with the first commit of a new project, whose code knows no screen. */
  async createProject(): Promise<string> {
    this.projectId = await this.server.createProject();
    this.#projectIds.push(this.projectId);
    return this.commit('console.log("unknown");');
  }

  /** A host without phones that replays. */
  async connectReplayHost(
    answer: ReplayAnswer = ({ code, screens: asked }) => asked.map(() => verdictOf(code)),
    token = adminToken,
  ): Promise<TestHost> {
    const replayer = new TestHost({ url: this.server.url, token, serials: [] });
    this.#replayers.push(replayer);
    await replayer.open();
    replayer.answerWith = (question) => {
      if (question.type !== 'replay') return undefined;
      const given = answer(question);
      if (given === 'silent') return undefined;
      const body = Array.isArray(given) ? { verdicts: given } : { verdicts: [], sequence: given };
      const header = JSON.stringify({ type: 'replay', request_id: question.request_id });
      return Buffer.from(`${header}\n${JSON.stringify(body)}`);
    };
    replayer.sendHello({ replays: true });
    await replayer.heartbeat();
    return replayer;
  }

  async cutReplayHosts(): Promise<void> {
    for (const one of this.#replayers.splice(0)) await one.cut();
  }

  /**
   * Waits until the replays that saves and commits have caused, in all projects, have ended; it needs a host that
   * replays.
   */
  async untilReplaysEnded(): Promise<void> {
    const unended = async (): Promise<number> => {
      const lists = await Promise.all(
        this.#projectIds.map((id) => this.server.api('GET', replayRoutes.list.path.replace(':id', id))),
      );
      const replays = lists.flatMap(({ body }) => (body['replays'] ?? []) as { ended_at: number | null }[]);
      return replays.filter(({ ended_at: endedAt }) => endedAt === null).length;
    };
    await expect.poll(unended, { timeout: 60_000 }).toBe(0);
  }

  async save(path: string, content: string): Promise<void> {
    const body = { path, content };
    const { status, text } = await this.server.api('PUT', `/api/v2/automation/file/${this.projectId}`, {
      body,
    });
    if (status >= 300) throw new Error(text);
  }

  async commit(content: string, message = content): Promise<string> {
    await this.save('main.ts', content);
    const reply = await this.server.api('POST', `/api/v2/automation/commit/${this.projectId}`, {
      body: { message },
    });
    return stringAt(reply.body['commit'], 'hash');
  }

  /**
   * A record of a run of the project whose last screen shows this; resolves with its group. The one before it goes.
   * `before`: what the run has recognised.
   */
  async meet(tree: ScreenTree, before: Readonly<Record<string, ScreenTree>> = {}): Promise<string> {
    const recognised = Object.entries(before).map(([state, one]) => ({ tree: one, screen_state: state }));
    const recordId = await this.record([...recognised, { tree }]);
    const place = (): Promise<ApiReply> =>
      this.server.api('GET', groupRoutes.ofRecord.path.replace(':id', recordId));
    await expect
      .poll(async () => (await place()).body, { timeout: 60_000 })
      .toMatchObject({ group_id: expect.any(String) });
    return stringAt((await place()).body, 'group_id');
  }

  /** A record of a run of the project; a tree that is null has not arrived. */
  async record(
    shown: readonly ({ tree: ScreenTree | null } & Partial<ScreenReport>)[],
    more: Partial<RecordReport> = {},
  ): Promise<string> {
    // The clock may have been moved. Other servers know it after the next sweep.
    await this.#host.heartbeat();
    await this.server.seenEverywhere(this.#deviceId, 'ready');
    const body = { device_ids: [this.#deviceId], automationId: this.projectId, command: 'start' };
    const launched = await this.server.api('POST', '/api/v2/devices/launchAutomation', { body });
    if (launched.status !== 200) throw new Error(launched.text);
    const launch = this.#host
      .messages('launch')
      .findLast(({ automation_id: automationId }) => automationId === this.projectId);
    const runId = launch?.runs[0]?.run_id ?? '';
    const screens = shown.map(({ tree: _tree, ...screen }) => screenReport({ screenshot: null, ...screen }));
    const report = recordReport(runId, { screens, ...more });
    await sendReport(this.#host, report);
    for (const [at, { tree }] of shown.entries()) {
      const path = recordRoutes.putCapture.path
        .replace(':record_id', report.record_id)
        .replace(':screen_id', screens[at]?.screen_id ?? '')
        .replace(':kind', 'tree');
      if (tree !== null)
        await this.server.api('PUT', path, { raw: JSON.stringify(tree), contentType: 'application/json' });
    }
    await this.#host.end(runId, 'completed');
    return report.record_id;
  }

  start(body: object = {}, api = this.server.api): Promise<ApiReply> {
    return api('POST', replayRoutes.start.path.replace(':id', this.projectId), { body: { ...body } });
  }

  read(id: string, api = this.server.api): Promise<ApiReply> {
    return api('GET', replayRoutes.get.path.replace(':id', id));
  }

  /** Lists the newest replays first. */
  async list(): Promise<unknown[]> {
    const path = replayRoutes.list.path.replace(':id', this.projectId);
    const { replays } = (await this.server.api('GET', path)).body;
    return Array.isArray(replays) ? replays : [];
  }

  async verdictsOf(id: string, query = ''): Promise<unknown> {
    const path = replayRoutes.listVerdicts.path.replace(':id', id);
    return (await this.server.api('GET', `${path}${query}`)).body['verdicts'];
  }

  /** Resolves with the replay when it has ended. */
  async replay(body: object = {}): Promise<unknown> {
    const started = await this.start(body);
    expect(started.status, started.text).toBe(202);
    const id = stringAt(started.body['replay'], 'id');
    await expect
      .poll(async () => (await this.read(id)).body['replay'], { timeout: 60_000 })
      .toMatchObject({ ended_at: expect.any(Number) });
    return (await this.read(id)).body['replay'];
  }
}
