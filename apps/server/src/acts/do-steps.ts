import {
  HostActAnswer,
  numbered,
  type ActOutcome,
  type HostActStep,
  type ActStep,
  type ActTarget,
  type HostActTarget,
  type LaunchSecrets,
  type NumberedScreen,
} from '@phalanx/protocol';
import { Compile } from 'typebox/compile';

import type { Touch } from '../hosts/linked-hosts.ts';
import { type Asked, askHost } from '../devices/ask-host.ts';
import {
  compactView,
  type Telling,
  type ReadScreen,
  type ScreenReader,
} from '../devices/screens/read-screen.ts';
import type { Turns } from '../limits/turns.ts';
import { identityOf } from '../devices/screens/screen-cache.ts';
import { ApiError } from '../errors/api-error.ts';

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
export async function doSteps(
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
export async function resolveSteps(
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
