/**
 * Prelude, which runs once in each isolate before any user code and installs the globals. Returns the functions by
 * which the child enters the isolate afterwards.
 */
import { TextDecoder, TextEncoder } from '@exodus/bytes/encoding-lite.js';
import { type AgentBridge, AgentError } from '../agent/agent-parts.ts';
import { createAgent } from '../agent/create-agent.ts';
import { screenshotRecord } from '../agent/screenshot-record.ts';
import { WaitTimeoutError } from '../agent/waits/wait-timeout-error.ts';
import { userPosition, hidePreludeFrames } from '../caller-stack.ts';
import { createRunStages, type StageParts } from '../stages/run-stages.ts';
import { createSteps, traceAgent } from '../agent/trace/steps.ts';
import { createConsole } from './console.ts';
import { connectEngine, type LookEnds } from './node/engine-look.ts';
import { inspect } from './node/node-library.ts';
import { takeNewestFeatures } from './node/primordials.ts';
import { rememberProxies } from './node/util-binding.ts';
import { parse, createPort, type Port, type PortFunctions } from './port.ts';
import { createTimers } from './timers.ts';
import { PlainBlob, PlainFile } from './web/blobs.ts';
import {
  connectEvents,
  createAbortGlobals,
  PlainCustomEvent,
  PlainEvent,
  PlainEventTarget,
  renamed,
} from './web/events.ts';
import { createFetch } from './web/fetch.ts';
import { PlainFormData } from './web/form-data.ts';
import { PlainHeaders } from './web/headers.ts';
import { PlainRequest, PlainResponse } from './web/http-messages.ts';
import { showWebValues } from './web/inspection.ts';
import { hidePolyfillState } from './web/polyfills.ts';
import { createCrypto } from './web/random.ts';

interface Waiting {
  resolve: (value: never) => void;
  reject: (reason: unknown) => void;
  error: AgentError;
}

type CallResult = { ok: true; value?: unknown } | { ok: false; error: { code: string; message: string } };

type Entry = 'begin' | 'timer' | 'result' | 'fetched';
type EnterIsolate = (entry: Entry, id: number, json: string, extra?: unknown) => void;
type Script = () => Promise<void>;

/** Functions that a replay of saved screens replaces. */
export type InstallOptions = Pick<StageParts, 'findStage'>;

/** Installs the globals. `look` connects the child's debugger, which lets the console print what the language hides. */
export function install(
  functions: PortFunctions,
  options: InstallOptions = {},
): { enter: EnterIsolate; look: LookEnds } {
  takeNewestFeatures();
  const port = createPort(functions);
  const look = connectEngine(port);
  const timers = createTimers(port);
  const calls = createSandboxBridge(port);
  const fetches = createFetch(port);
  removeUnlimited();
  rememberProxies();
  hidePolyfillState();
  hidePreludeFrames();
  const now = (): number => Number(port.ask('now', {}));
  connectEvents({ report: (error) => reportUncaught(port, error), now });
  define({
    ...timers.globals,
    ...webGlobals(port),
    ...createAbortGlobals(timers.later),
    fetch: fetches.fetch,
    console: createConsole(port),
  });
  showWebValues();

  const begin = (argumentsJson: string, script: Script): void => {
    const stop = (): never => {
      for (;;) port.block('stop');
    };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the host wrote it
    const args = parse(argumentsJson) as AgentArguments;
    const setResult = (text: string): void => {
      const refused = port.ask('result', { json: text });
      if (refused !== undefined) throw new RangeError(String(refused));
    };
    const steps = createSteps({
      began: (step, at) => port.ask('stepBegan', { step, at }) === undefined,
      ended: (end) => void port.ask('stepEnded', end),
    });
    const agent = createAgent(args, { ...calls, stop, setResult, sleep: timers.sleep, now, steps });
    const clock = { sleep: timers.sleep, later: timers.later, now };
    define({
      agent: traceAgent(agent, steps.run),
      runStages: stagesOf(agent, calls, { ...options, ...clock, runStep: steps.runGroup }),
      stopCurrentAutomation: stop,
      AgentError,
      WaitTimeoutError,
      ScreenshotRecord: screenshotRecord,
    });
    define({ performance: { now, timeOrigin: Date.now() } });
    void runMain(port, script);
  };
  const enter: EnterIsolate = (entry, id, json, extra) =>
    guarded(port, () => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the child gives the compiled script
      if (entry === 'begin') begin(json, extra as Script);
      else if (entry === 'timer') timers.fire(id);
      else if (entry === 'result') calls.settle(id, json);
      else fetches.settle(id, json, typeof extra === 'string' ? extra : '');
    });
  return { enter, look };
}

function stagesOf(
  agent: Agent,
  { bridge }: ReturnType<typeof createSandboxBridge>,
  own: Pick<StageParts, 'sleep' | 'later' | 'now' | 'findStage' | 'runStep'>,
): ReturnType<typeof createRunStages> {
  const { actions, utils } = agent;
  return createRunStages({
    ...own,
    readScreen: () => actions.screenContent(),
    outOfSteps: utils.outOfSteps,
    reportArrival: () => bridge.call('run.arrived', {}),
  });
}

function webGlobals(port: Port): Record<string, unknown> {
  return {
    TextEncoder,
    TextDecoder,
    crypto: createCrypto(port),
    Blob: renamed(PlainBlob, 'Blob'),
    CustomEvent: renamed(PlainCustomEvent, 'CustomEvent'),
    Event: renamed(PlainEvent, 'Event'),
    EventTarget: renamed(PlainEventTarget, 'EventTarget'),
    File: renamed(PlainFile, 'File'),
    FormData: renamed(PlainFormData, 'FormData'),
    Headers: renamed(PlainHeaders, 'Headers'),
    Request: renamed(PlainRequest, 'Request'),
    Response: renamed(PlainResponse, 'Response'),
    queueMicrotask: createQueueMicrotask(port),
  };
}

function createQueueMicrotask(port: Port) {
  return (callback: () => void): void => {
    if (typeof callback !== 'function')
      throw new TypeError('The callback of queueMicrotask must be a function.');
    void Promise.resolve().then(() => guarded(port, callback));
  };
}

/** Removes globals that allocate memory outside of the isolate's limit. */
function removeUnlimited(): void {
  for (const name of ['WebAssembly', 'SharedArrayBuffer', 'Atomics'])
    Reflect.deleteProperty(globalThis, name);
}

/** Defines globals as non-enumerable and replaceable, like built-in ones. */
function define(globals: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(globals))
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
}

/** Calls `code`; an error ends the run. */
function guarded(port: Port, code: () => void): void {
  try {
    code();
  } catch (error) {
    reportUncaught(port, error);
  }
}

/** Runs the user's script until its promise settles. */
async function runMain(port: Port, script: () => Promise<void>): Promise<void> {
  try {
    await script();
    port.ask('mainSettled', {});
  } catch (error) {
    reportUncaught(port, error);
  }
}

function reportUncaught(port: Port, error: unknown): void {
  const stack = stackOf(error);
  port.ask('uncaught', {
    message: messageOf(error),
    text: `Uncaught ${textOf(error)}`,
    at: userPosition(stack),
  });
}

/** Reads a property of a thrown value, whose getters are user code and may throw again. */
function safely(read: () => string, fallback: string): string {
  try {
    return read();
  } catch {
    return fallback;
  }
}

const stackOf = (error: unknown): string =>
  safely(() => (error instanceof Error ? String(error.stack) : ''), '');

const textOf = (error: unknown): string =>
  safely(() => inspect(error).slice(0, 64 * 1024), 'a value that cannot be shown');

const messageOf = (error: unknown): string =>
  safely(
    () => (error instanceof Error ? `${error.name}: ${error.message}` : inspect(error)).slice(0, 4000),
    'a value that cannot be shown',
  );

/** Creates the bridge of `agent` over the port. The error is created at the call, so that its stack is the caller's. */
function createSandboxBridge(port: Port) {
  const waiting = new Map<number, Waiting>();
  let lastId = 0;
  const bridge: AgentBridge = {
    // Avoids an executor function, which would appear in the stack.
    async call(name, params, signal) {
      signal?.throwIfAborted();
      const id = ++lastId;
      const refused = port.ask('call', { id, name, params });
      if (refused !== undefined) throw new RangeError(String(refused));
      const { promise, resolve, reject } = Promise.withResolvers<never>();
      waiting.set(id, { resolve, reject, error: new AgentError() });
      if (signal === undefined || signal === null) return promise;
      const cancel = (): void => {
        waiting.delete(id);
        port.ask('cancelCall', { id });
        reject(signal.reason);
      };
      signal.addEventListener('abort', cancel);
      return promise.finally(() => signal.removeEventListener('abort', cancel));
    },
  };

  /** Called by the child with the result of a call. */
  function settle(id: number, json: string): void {
    const call = waiting.get(id);
    if (call === undefined) return;
    waiting.delete(id);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the child wrote it
    const result = parse(json) as CallResult;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the host answers as the table of calls says
    if (result.ok) call.resolve(result.value as never);
    else call.reject(call.error.because(result.error));
  }
  return { bridge, settle };
}
