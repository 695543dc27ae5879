/**
 * The prelude: runs once in each isolate, before any user code, and puts the globals in place.
 * Returns the functions by which the child enters the isolate from then on.
 */
import { TextDecoder, TextEncoder } from '@exodus/bytes/encoding-lite.js';

import { AgentError } from '../agent/agent-error.ts';
import { createAgent } from '../agent/create-agent.ts';
import { screenshotRecord } from '../agent/screenshot-record.ts';
import { WaitTimeoutError } from '../agent/wait-timeout-error.ts';
import { createConsole } from './console.ts';
import { guarded, reportUncaught, runMain } from './main-run.ts';
import { connectEngine, type LookEnds } from './node/engine-look.ts';
import { rememberProxies } from './node/proxies.ts';
import { parse } from './order-json.ts';
import { createRunStages, type StageParts } from '../stages/run-stages.ts';
import { createPort, type Port, type PortFunctions } from './port.ts';
import { createSandboxBridge } from './sandbox-bridge.ts';
import { hidePreludeFrames } from './stack-traces.ts';
import { createTimers } from './timers.ts';
import { createAbortGlobals, renamed } from './web/abort.ts';
import { onListenerError, PlainEvent, PlainEventTarget } from './web/event-target.ts';
import { createFetch } from './web/fetch.ts';
import { PlainHeaders } from './web/headers.ts';
import { showWebValues } from './web/inspection.ts';
import { hidePolyfillState } from './web/polyfills.ts';
import { createCrypto } from './web/random.ts';
import { PlainRequest } from './web/request.ts';
import { PlainResponse } from './web/response.ts';

type Entry = 'begin' | 'timer' | 'result' | 'fetched';
type EnterIsolate = (entry: Entry, id: number, json: string, extra?: unknown) => void;
type Script = () => Promise<void>;

/** `look`: the ends by which the child's debugger shows the console what the language hides. */
export function install(functions: PortFunctions): { enter: EnterIsolate; look: LookEnds } {
  const port = createPort(functions);
  const look = connectEngine(port);
  const timers = createTimers(port);
  const calls = createSandboxBridge(port);
  const fetches = createFetch(port);
  removeUnlimited();
  rememberProxies();
  hidePolyfillState();
  hidePreludeFrames();
  onListenerError((error) => reportUncaught(port, error));
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
    const now = (): number => Number(port.ask('now', {}));
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the host wrote it
    const args = parse(argumentsJson) as AgentArguments;
    const setResult = (text: string): void => {
      const refused = port.ask('result', { json: text });
      if (refused !== undefined) throw new RangeError(String(refused));
    };
    const agent = createAgent(args, { ...calls, stop, setResult, sleep: timers.sleep, now });
    define({
      agent,
      runStages: stagesOf(agent, calls, { sleep: timers.sleep, later: timers.later, now }),
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
  clock: Pick<StageParts, 'sleep' | 'later' | 'now'>,
): ReturnType<typeof createRunStages> {
  const { actions, utils } = agent;
  return createRunStages({
    ...clock,
    readScreen: () => actions.screenContent(),
    outOfSteps: utils.outOfSteps,
    tellArrived: () => bridge.call('run.arrived', {}),
  });
}

function webGlobals(port: Port): Record<string, unknown> {
  return {
    TextEncoder,
    TextDecoder,
    crypto: createCrypto(port),
    Event: renamed(PlainEvent, 'Event'),
    EventTarget: renamed(PlainEventTarget, 'EventTarget'),
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

/** These allocate memory that the isolate's limit does not see. */
function removeUnlimited(): void {
  for (const name of ['WebAssembly', 'SharedArrayBuffer', 'Atomics'])
    Reflect.deleteProperty(globalThis, name);
}

/** Not enumerable and replaceable, as globals are. */
function define(globals: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(globals))
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
}
