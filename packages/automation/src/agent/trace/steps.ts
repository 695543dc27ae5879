import type { StepBegin, StepEnd } from '@phalanx/protocol';

import { WaitTimeoutError } from '../waits/wait-timeout-error.ts';
import { stackAbove, userPosition } from '../../caller-stack.ts';
import type { RunStep, StepCall } from './run-step.ts';

/** Where steps are told. `began` answers whether the end is wanted too. */
export interface StepListener {
  began(step: StepBegin, at: string): boolean;
  ended(end: StepEnd): void;
}

export interface Steps {
  readonly run: RunStep;
  /** The same; steps that begin meanwhile are told as parts of it. */
  readonly runGroup: RunStep;
}

/** As the host takes them. */
const maxNearest = 5;
const maxMessageLength = 300;

export function createSteps(listener: StepListener): Steps {
  let count = 0;
  let group: number | undefined;

  const begin = ({ name, aim }: Pick<StepCall<unknown>, 'name' | 'aim'>): StepBegin & { isTold: boolean } => {
    const parent = group === undefined ? {} : { parent: group };
    const step = { step: (count += 1), ...parent, name, ...safely(aim) };
    return { ...step, isTold: listener.began(step, userPosition(stackAbove(begin))) };
  };
  // Without `await`, so that the stack of an error of the work begins at the caller's line.
  const run: RunStep = ({ name, aim, work, endOf }) => {
    const { step, isTold } = begin({ name, aim });
    if (!isTold) return work();
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

/** User code may have patched what is read. */
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

/** The first line. */
export const messageOf = (text: string): string => cut(text.split('\n', 1)[0] ?? '');

const cut = (text: string): string =>
  text.length > maxMessageLength ? `${text.slice(0, maxMessageLength - 1)}…` : text;

/** `TypeError` is `type_error`; what makes no word is `failed`. */
function wordOf(code: string): string {
  const word = code.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, '_').toLowerCase();
  return /^[a-z][a-z0-9_]{0,63}$/.test(word) ? word : 'failed';
}
