import {
  agentCalls,
  type AgentCallName,
  type SandboxCallResult,
  type SandboxReport,
} from '@phalanx/protocol';
import { Compile, type Validator } from 'typebox/compile';

import { follow } from '../../time/time-limit.ts';
import type { SandboxHooks } from '../sandbox-job.ts';

type Call = Extract<SandboxReport, { type: 'call' }>;

/** As many calls of one run may wait at a time; the child keeps the same limit, unless it was taken over. */
const maxCalls = 64;

const validators = new Map<string, Validator>(
  Object.entries(agentCalls).map(([name, { params }]) => [name, Compile(params)]),
);

/** Checks the calls of one child and brings them to `onCall`, each with a signal of its own. Every call is answered. */
export function createAgentCallGate(
  hooks: Pick<SandboxHooks, 'onCall'>,
  answer: (id: number, result: SandboxCallResult) => void,
) {
  const ended = new AbortController();
  const running = new Map<number, AbortController>();
  let waiting = 0;

  const run = async ({ id, name, params }: Call): Promise<SandboxCallResult> => {
    const call = new AbortController();
    const unfollow = follow(ended.signal, call);
    running.set(id, call);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- both were checked against the table
    const result = await resultOf(() => hooks.onCall(name as AgentCallName, params as never, call.signal));
    running.delete(id);
    unfollow();
    return result;
  };

  return {
    async take(call: Call): Promise<void> {
      const { id, name, params } = call;
      const problem =
        problemOf(name, params) ?? (waiting >= maxCalls ? 'Too many calls at a time.' : undefined);
      if (problem !== undefined) return answer(id, refusal('invalid_call', problem));
      waiting += 1;
      answer(id, await run(call));
      waiting -= 1;
    },
    cancel: (id: number) => running.get(id)?.abort(new Error('The automation has given it up.')),
    end: () => ended.abort(new Error('The run has ended.')),
  };
}

function problemOf(name: string, params: unknown): string | undefined {
  const validator = validators.get(name);
  if (validator === undefined) return `The phone knows no call ${name}.`;
  if (validator.Check(params)) return undefined;
  const [first] = validator.Errors(params);
  return `${name}: ${(first?.instancePath ?? '').slice(1) || 'the parameters'} ${first?.message ?? 'are not valid'}.`;
}

async function resultOf(call: () => Promise<unknown>): Promise<SandboxCallResult> {
  try {
    return { ok: true, value: await call() };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return refusal(codeOf(error), message);
  }
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : 'call_failed';
}

function refusal(code: string, message: string): SandboxCallResult {
  return { ok: false, error: { code, message } };
}
