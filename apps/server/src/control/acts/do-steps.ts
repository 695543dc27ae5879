import { HostActAnswer, type HostActStep, type ActOutcome, numbered } from '@phalanx/protocol';
import { Compile } from 'typebox/compile';
import { type Asked, askHost } from '../../fleet/devices/ask-host.ts';
import { compactView, type ViewOptions } from '../../fleet/devices/screens/read-screen.ts';
import type { ReadScreen, ScreenReader } from '../../fleet/devices/screens/screen-reader.ts';
import type { Touch } from '../../fleet/hosts/connected-hosts.ts';
import type { Turns } from '../../kernel/limits/turns.ts';
import { KeptCode } from './kept-code.ts';

const validator = Compile(HostActAnswer);

interface Order {
  readonly steps: readonly HostActStep[];
  readonly timeoutMs: number;
  readonly touch: Touch;
  readonly viewOptions: ViewOptions;
}

/** Parser of the screens in answers, and its turns. */
interface Reading {
  readonly turns: Turns;
  readonly reader: ScreenReader;
}

type StepOutcome = ActOutcome['steps'][number];
type Result = HostActAnswer['results'][number];

/** Answer of a host for the part of the steps that it has done. */
interface Part extends HostActAnswer {
  readonly screen: ReadScreen;
}

/**
 * Time budget of one question, in ms: a host must answer within 15 s, and the remaining steps go into another question.
 */
const budgetMs = 6000;
const maxHeadBytes = 64 * 1024;

/**
 * Minimum share of the budget that must have passed when a host reports that its time is over. It is below 1, because
 * hosts measure with their own clocks.
 */
const minShareOfBudget = 0.9;

/**
 * Runs the steps on a phone, with as many questions as their time requires. Each question must finish a step or use up
 * its time budget. Rejects with `host_request_failed` when the answer of a host shows neither.
 */
export async function doSteps(
  asked: Asked,
  { steps, timeoutMs, touch, viewOptions }: Order,
  reading: Reading,
): Promise<ActOutcome> {
  const until = performance.now() + timeoutMs;
  const results: Result[] = [];
  const code = new KeptCode();
  let captures = 0;
  for (let left = [...steps]; ;) {
    const askedAt = performance.now();
    const part = await askFor(asked, { steps: left, until, touch, ...reading });
    captures += part.captures;
    const ended = part.results.filter(({ state }) => state !== 'unfinished');
    code.add(part.code ?? [], ended.length);
    results.push(...ended);
    left = continued(left.slice(ended.length), performance.now() - askedAt);
    const isOver = left.length === 0 || results.at(-1)?.state === 'failed';
    if (!isOver && performance.now() < until) continue;
    if (!isOver) results.push(timedOut);
    return {
      ...outcomeOf(steps, results, compactView(part.screen, viewOptions)),
      settled: part.settled,
      captures,
      code: code.list(),
    };
  }
}

type NumberedView = ReturnType<typeof compactView>;

function outcomeOf(
  steps: readonly HostActStep[],
  results: readonly Result[],
  { view, numberedScreen }: NumberedView,
): Pick<ActOutcome, 'done' | 'steps' | 'screen'> {
  const lineAt = (place: number): string[] => {
    const line = numberedScreen.lines[place];
    return line === undefined ? [] : [numbered(line.number, { ...line, depth: 0 })];
  };
  const outcomes = steps.map(({ type }, at): StepOutcome => {
    const { state, candidates = [], ...why } = results[at] ?? { state: 'skipped' as const };
    const lines = candidates.flatMap(lineAt);
    return {
      type,
      state: state === 'unfinished' ? 'failed' : state,
      ...why,
      ...(lines.length === 0 ? {} : { candidates: lines }),
    };
  });
  return { done: outcomes.every(({ state }) => state === 'done'), steps: outcomes, screen: view };
}

const timedOut: Result = {
  state: 'failed',
  refusal: 'timeout',
  message: 'The time limit of the request, timeout_ms, passed before this step was done',
};

/** Returns the remaining steps. A `wait_for` step loses the time that it has already waited. */
function continued(steps: readonly HostActStep[], afterMs: number): HostActStep[] {
  const [first, ...others] = steps;
  if (first?.type !== 'wait_for' || first.timeout_ms === undefined) return [...steps];
  return [{ ...first, timeout_ms: Math.max(0, Math.round(first.timeout_ms - afterMs)) }, ...others];
}

interface StepsRequest extends Pick<Order, 'steps' | 'touch'>, Reading {
  readonly until: number;
}

async function askFor(asked: Asked, { steps, until, touch, turns, reader }: StepsRequest): Promise<Part> {
  const budget_ms = Math.round(Math.max(0, Math.min(budgetMs, until - performance.now())));
  const { serial } = asked.device;
  const askedAt = performance.now();
  const answer = await askHost(asked, 'host_request_failed', (ask) =>
    ask({ type: 'act', serial, steps: [...steps], budget_ms }, touch),
  );
  const isTimeOver = performance.now() - askedAt >= minShareOfBudget * budget_ms;
  return turns.run(touch.userId, () =>
    askHost(asked, 'host_request_failed', async () => {
      const end = answer.subarray(0, maxHeadBytes).indexOf('\n');
      const head: unknown = JSON.parse(answer.toString('utf8', 0, Math.max(0, end)));
      if (!validator.Check(head) || !isPossible(head.results, { steps, isTimeOver }))
        throw new Error('its host gave an unexpected answer');
      return { ...head, screen: await reader.readCompact(answer.subarray(end + 1)) };
    }),
  );
}

/**
 * Whether an answer is possible: steps are done in order up to the first that is not, and a host may report that time
 * is over only once it has passed.
 */
function isPossible(
  results: readonly Result[],
  { steps, isTimeOver }: { steps: readonly HostActStep[]; isTimeOver: boolean },
): boolean {
  const [first] = results;
  if (first === undefined || results.length > steps.length) return false;
  if (results.slice(0, -1).some(({ state }) => state !== 'done')) return false;
  return first.state !== 'unfinished' || isTimeOver;
}
