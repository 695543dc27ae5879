import type { StepBegin, StepEnd } from '@phalanx/protocol';

import { WaitTimeoutError } from '../waits/wait-timeout-error.ts';
import { stackAbove, userPosition } from '../../caller-stack.ts';
import type { RunStep, StepCall } from './run-step.ts';
import { aimOfCall } from './aim-of-call.ts';

/** Receives steps. `began` returns whether to report the end too. */
export interface StepListener {
  began(step: StepBegin, at: string): boolean;
  ended(end: StepEnd): void;
}

export interface Steps {
  readonly run: RunStep;
  /** Runs a step whose nested steps are reported as its parts. */
  readonly runGroup: RunStep;
}

/** Limits of the host: number of nearest texts of a failed wait, and length of a message in characters. */
const maxNearest = 5;
const maxMessageLength = 300;

export function createSteps(listener: StepListener): Steps {
  let count = 0;
  let group: number | undefined;

  const begin = ({
    name,
    aim,
  }: Pick<StepCall<unknown>, 'name' | 'aim'>): StepBegin & { isReported: boolean } => {
    const parent = group === undefined ? {} : { parent: group };
    const step = { step: (count += 1), ...parent, name, ...safely(aim) };
    return { ...step, isReported: listener.began(step, userPosition(stackAbove(begin))) };
  };
  // Calls without `await`, so that the stack of an error begins at the caller's line.
  const run: RunStep = ({ name, aim, work, endOf }) => {
    const { step, isReported } = begin({ name, aim });
    if (!isReported) return work();
    const fail = (error: unknown): never => {
      listener.ended({ step, ...failureOf(error) });
      throw error;
    };
    try {
      return work().then((result) => {
        listener.ended({ step, outcome: 'ok', ...safely(() => endOf?.(result) ?? {}) });
        return result;
      }, fail);
    } catch (error) {
      return fail(error);
    }
  };
  const runGroup: RunStep = (call) => {
    const outer = group;
    return run({
      ...call,
      work: () => {
        group = count;
        return call.work().finally(() => (group = outer));
      },
    });
  };
  return { run, runGroup };
}

/** Catches errors of patched user code in the values that are read. */
function safely<Told extends object>(read: () => Told): Told | Record<string, never> {
  try {
    return read();
  } catch {
    return {};
  }
}

function failureOf(error: unknown): Omit<StepEnd, 'step'> {
  return { outcome: 'failed', ...safely(() => failureIn(error)) };
}

function failureIn(error: unknown): Omit<StepEnd, 'step'> {
  if (!(error instanceof Error)) return { outcome: 'failed', message: messageOf(String(error)) };
  if (error instanceof WaitTimeoutError) return timeoutOf(error);
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  return { outcome: wordOf(code), message: messageOf(error.message) };
}

function timeoutOf({ message, nearest }: WaitTimeoutError): Omit<StepEnd, 'step'> {
  return {
    outcome: 'wait_timeout',
    message: messageOf(message),
    ...(nearest.length > 0 && { nearest: nearest.slice(0, maxNearest).map((text) => cut(String(text))) }),
  };
}

/** Returns the first line. If it announces the next ones, it ends as a sentence. */
export const messageOf = (text: string): string => cut((text.split('\n', 1)[0] ?? '').replace(/:\s*$/, '.'));

const cut = (text: string): string =>
  text.length > maxMessageLength ? `${text.slice(0, maxMessageLength - 1)}…` : text;

/** Converts an error code to snake case: `TypeError` becomes `type_error`. Returns `failed` if no word is left. */
function wordOf(code: string): string {
  const word = code.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, '_').toLowerCase();
  return /^[a-z][a-z0-9_]{0,63}$/.test(word) ? word : 'failed';
}

type Member = (...args: unknown[]) => Promise<unknown>;

/**
 * Wraps the `agent` so that every call that may reach the phone is reported as a step. Calls that the agent makes
 * internally, such as the readings of a wait, use the original functions and belong to that step.
 */
export function traceAgent(agent: Agent, run: RunStep): Agent {
  const { actions, apps, files, info, messages, run: ofRun, secrets, utils } = agent;
  return {
    ...agent,
    actions: traced(actions, '', run),
    apps: traced(apps, 'apps.', run),
    files: traced(files, 'files.', run),
    info: traced(info, 'info.', run),
    messages: traced(messages, 'messages.', run),
    run: traced(ofRun, 'run.', run),
    secrets: traced(secrets, 'secrets.', run),
    utils: {
      ...utils,
      job: traced(utils.job, 'job.', run),
      outOfSteps: traced(utils.outOfSteps, 'outOfSteps.', run),
      ...traced({ debug: (...args: Parameters<typeof utils.debug>) => utils.debug(...args) }, '', run),
    },
    ...traced({ shell: (...args: Parameters<Agent['shell']>) => agent.shell(...args) }, '', run),
  };
}

function traced<Group extends object>(group: Group, prefix: string, run: RunStep): Group {
  const members = Object.entries(group).map(([name, member]) => [
    name,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all of them give promises
    tracedCall(prefix + name, member as Member, run),
  ]);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every name has the function of that name
  return Object.fromEntries(members) as Group;
}

function tracedCall(name: string, member: Member, run: RunStep): Member {
  const call: Member = (...args) =>
    run({ name, aim: () => aimOfCall(name, args), work: () => member(...args), endOf: nodeFound });
  return Object.defineProperty(call, 'name', { value: member.name });
}

/** Reports the bounds of a found node. A node with a parent is the result of a search. */
function nodeFound(result: unknown): Partial<StepEnd> {
  if (typeof result !== 'object' || result === null || !('boundsInScreen' in result)) return {};
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nothing else has such bounds
  const { boundsInScreen, parent } = result as AndroidNode;
  const { left, top, right, bottom } = boundsInScreen;
  return parent === null ? {} : { node: [left, top, right, bottom] };
}
