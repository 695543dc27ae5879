import {
  deviceControlRoutes,
  type LaunchSecrets,
  HostActAnswer,
  numbered,
  type ActOutcome,
  type HostActStep,
  type ActStep,
  type ActTarget,
  type HostActTarget,
  type NumberedScreen,
} from '@phalanx/protocol';
import { Compile } from 'typebox/compile';
import type { Context } from '../context.ts';
import { type DeviceAccess, getTouchable } from '../devices/device-access.ts';
import type { DeviceScreens } from '../devices/feature.ts';
import { ApiError } from '../errors/api-error.ts';
import type { Hosts } from '../hosts/feature.ts';
import { requireScope } from '../http/policy.ts';
import { appLimitOf, type Principal } from '../http/principal.ts';
import { addRoute } from '../http/route.ts';
import type { Projects } from '../projects/feature.ts';
import { editors } from '../projects/project-access.ts';
import type { Runs } from '../runs/feature.ts';
import type { Touch } from '../hosts/connected-hosts.ts';
import { type Asked, askHost } from '../devices/ask-host.ts';
import {
  compactView,
  type Telling,
  type ReadScreen,
  type ScreenReader,
  identityOf,
} from '../devices/screens/read-screen.ts';
import type { Turns } from '../limits/turns.ts';

interface ActDependencies {
  devices: DeviceAccess;
  hosts: Hosts;
  runs: Pick<Runs, 'activeRunRows'>;
  screens: DeviceScreens;
  projects: Pick<Projects, 'access'>;
  secretsOf: (projectId: string) => Promise<LaunchSecrets>;
}

/** `POST /devices/:id/act` */
export function serveActs(
  { app, faults, limits }: Context,
  {
    devices,
    hosts: { connected: hosts },
    runs,
    screens: { screens, reader },
    projects,
    secretsOf,
  }: ActDependencies,
): void {
  const requireIdle = async (deviceId: string): Promise<void> => {
    const running = (await runs.activeRunRows.mapByDevice([deviceId])).get(deviceId) ?? [];
    if (running.length > 0) throw ApiError.of('device_in_use', { device_id: deviceId });
  };
  /** Whoever has them typed can have them shown. */
  const secretsFor = async (principal: Principal, projectId: string): Promise<LaunchSecrets> => {
    requireScope(principal, 'edit');
    return secretsOf((await projects.access.getProject(principal, projectId, editors)).id);
  };

  addRoute(app, deviceControlRoutes.act, async ({ principal, params, body, auditEvent }) => {
    const { userId } = principal;
    const { device } = await getTouchable(devices, params.id, principal);
    const owner = { userId, deviceId: device.id };
    auditEvent.on({ type: 'device', id: device.id, name: device.serial }, [device.ownerId]);
    auditEvent.isFrequent = true;
    const toucher = { userId, leaseId: body.lease_id };
    await devices.leases.use(device, toucher);
    await requireIdle(device.id);
    const before = body.screen_id === undefined ? undefined : await screens.get(body.screen_id, owner);
    const { project_id: projectId } = body;
    const secrets = (): Promise<LaunchSecrets> => {
      if (projectId !== undefined) return secretsFor(principal, projectId);
      throw ApiError.of('invalid_request', {
        problem: 'Field project_id is missing: a secret is of a project',
      });
    };
    const steps = await resolveSteps(body.steps, { before, secrets, projectId: projectId ?? '' });
    const telling = { screens, owner, before };
    const touch = { deviceId: device.id, ...toucher };
    const order = { steps, timeoutMs: body.timeout_ms ?? usualTimeoutMs, touch, telling };
    const asked = { hosts, device, appLimit: appLimitOf(principal) };
    const outcome = await doSteps(asked, order, { turns: limits.turns.screens, reader }).catch(
      async (error: unknown) => {
        await devices.leases.requireFreeNow(device, toucher);
        throw error;
      },
    );
    await devices.leases.addCode(device, toucher, outcome.code).catch((error: unknown) => {
      // The steps are done.
      faults.report(error, 'the code of an act was not stored');
    });
    return { success: true, ...outcome };
  });
}

const usualTimeoutMs = 30_000;

const validator = Compile(HostActAnswer);

const usualWaitMs = 10_000;

interface Order {
  readonly steps: readonly HostActStep[];
  readonly timeoutMs: number;
  readonly touch: Touch;
  readonly telling: Telling;
}

/** What reads the screens of answers, and when. */
interface Reading {
  readonly turns: Turns;
  readonly reader: ScreenReader;
}

type StepOutcome = ActOutcome['steps'][number];
type Result = HostActAnswer['results'][number];

/** What a host did of the steps that it was asked for. */
interface Part extends HostActAnswer {
  readonly screen: ReadScreen;
}

/** A host answers within 15 seconds; what takes longer is asked for again. */
const budgetMs = 6000;
const maxHeadBytes = 64 * 1024;

/** Has a phone do the steps, in as many questions as their time needs. */
async function doSteps(
  asked: Asked,
  { steps, timeoutMs, touch, telling }: Order,
  reading: Reading,
): Promise<ActOutcome> {
  const until = performance.now() + timeoutMs;
  const results: Result[] = [];
  const code: string[] = [];
  let captures = 0;
  for (let left = [...steps]; ;) {
    const askedAt = performance.now();
    const part = await askFor(asked, { steps: left, until, touch, ...reading });
    captures += part.captures;
    code.push(...(part.code ?? []));
    const ended = part.results.filter(({ state }) => state !== 'unfinished');
    results.push(...ended);
    left = continued(left.slice(ended.length), performance.now() - askedAt);
    const isOver = left.length === 0 || results.at(-1)?.state === 'failed';
    if (!isOver && performance.now() < until) continue;
    if (!isOver) results.push(timedOut);
    return {
      ...outcomeOf(steps, results, compactView(part.screen, telling)),
      settled: part.settled,
      ...{ captures, code },
    };
  }
}

type Told = ReturnType<typeof compactView>;

function outcomeOf(
  steps: readonly HostActStep[],
  results: readonly Result[],
  { view, told }: Told,
): Pick<ActOutcome, 'done' | 'steps' | 'screen'> {
  const lineAt = (place: number): string[] => {
    const line = told.lines[place];
    return line === undefined ? [] : [numbered(line.number, { ...line, depth: 0 })];
  };
  const outcomes = steps.map(({ type }, at): StepOutcome => {
    const { state, candidates = [], ...why } = results[at] ?? { state: 'skipped' as const };
    const lines = candidates.flatMap(lineAt);
    return {
      ...{ type, state: state === 'unfinished' ? 'failed' : state, ...why },
      ...(lines.length === 0 ? {} : { candidates: lines }),
    };
  });
  return { done: outcomes.every(({ state }) => state === 'done'), steps: outcomes, screen: view };
}

const timedOut: Result = {
  ...{ state: 'failed', refusal: 'timeout' },
  message: 'The time of the request, timeout_ms, was over before this step was done',
};

/** What waits has waited already. */
function continued(steps: readonly HostActStep[], afterMs: number): HostActStep[] {
  const [first, ...others] = steps;
  if (first?.type !== 'wait_for' || first.timeout_ms === undefined) return [...steps];
  return [{ ...first, timeout_ms: Math.max(0, Math.round(first.timeout_ms - afterMs)) }, ...others];
}

interface Asking extends Pick<Order, 'steps' | 'touch'>, Reading {
  readonly until: number;
}

async function askFor(asked: Asked, { steps, until, touch, turns, reader }: Asking): Promise<Part> {
  const budget_ms = Math.round(Math.max(0, Math.min(budgetMs, until - performance.now())));
  const { serial } = asked.device;
  const answer = await askHost(asked, 'host_request_failed', (ask) =>
    ask({ type: 'act', serial, steps: [...steps], budget_ms }, touch),
  );
  return turns.run(touch.userId, () =>
    askHost(asked, 'host_request_failed', async () => {
      const end = answer.subarray(0, maxHeadBytes).indexOf('\n');
      const head: unknown = JSON.parse(answer.toString('utf8', 0, Math.max(0, end)));
      if (!validator.Check(head) || head.results.length === 0 || head.results.length > steps.length)
        throw new Error('its host answered with something else');
      return { ...head, screen: await reader.readCompact(answer.subarray(end + 1)) };
    }),
  );
}

interface Ground {
  /** The screen that numbers are of. */
  readonly before: NumberedScreen | undefined;
  /** Asked once, when a step types one. */
  readonly secrets: () => Promise<LaunchSecrets>;
  readonly projectId: string;
}

/** The steps as a host is asked for them. Throws what is wrong with them before anything is done. */
async function resolveSteps(
  steps: readonly ActStep[],
  { before, secrets, projectId }: Ground,
): Promise<HostActStep[]> {
  const values = steps.some((step) => 'secret' in step) ? await secrets() : {};
  return steps.map((step) => {
    const { on, within } = targetsOf(step, before);
    const aimed = {
      ...step,
      ...(on === undefined ? {} : { on }),
      ...(within === undefined ? {} : { within }),
    };
    const more =
      step.type === 'type'
        ? typedBy(step, values, projectId)
        : step.type === 'wait_for'
          ? { timeout_ms: step.timeout_ms ?? usualWaitMs }
          : {};
    // Each of its targets has taken the place of the one that was given.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return { ...aimed, ...more } as HostActStep;
  });
}

function targetsOf(
  step: ActStep,
  before: NumberedScreen | undefined,
): { on: HostActTarget | undefined; within: HostActTarget | undefined } {
  const resolve = (target: ActTarget | undefined): HostActTarget | undefined =>
    typeof target === 'number' ? lineOf(target, before) : target;
  return {
    on: 'on' in step ? resolve(step.on) : undefined,
    within: 'within' in step ? resolve(step.within) : undefined,
  };
}

function lineOf(number: number, before: NumberedScreen | undefined): HostActTarget {
  if (before === undefined)
    throw invalid(`Field screen_id is missing: ${number} is the number of a line of a screen`);
  return { identity: identityOf(before, number) };
}

function typedBy(
  { text, secret }: Extract<ActStep, { type: 'type' }>,
  values: LaunchSecrets,
  projectId: string,
): { text: string } {
  if ((text === undefined) === (secret === undefined))
    throw invalid('A step of type "type" needs either text or secret');
  const value = secret === undefined ? text : values[secret];
  if (value === undefined)
    throw ApiError.of('secret_not_found', { project_id: projectId, name: secret ?? '' });
  return { text: value };
}

const invalid = (problem: string): ApiError => ApiError.of('invalid_request', { problem });
