import { preludeScriptName, userScriptName, type LookAt, type PortAnswer } from '@phalanx/automation';
import type { SandboxStart } from '@phalanx/protocol';
import type ivm from 'isolated-vm';

/** ID of the user code's context. The engine creates its default context first. */
const contextId = 2;
const group = 'look';
/** Global that holds the functions of a look until the child has found them, before any user code runs. */
const lookEndsName = '__phalanxLook';

/** Functions that the isolate gets. They never throw, because an error would contain paths of this machine. */
interface IsolatePort {
  ask(name: string, json: string, body: string | undefined): PortAnswer;
  block(name: string, ...texts: string[]): Promise<void>;
}

export interface IsolateEntry {
  /** Runs in the isolate's own thread. Rejects with the first unhandled rejection of the code that ran. */
  enter(entry: 'timer' | 'result' | 'fetched', id: number, json?: string, body?: string): Promise<void>;
  /** Compiles the user's script without running it. Rejects with the SyntaxError. */
  load(code: string): Promise<void>;
  /** Runs the loaded script to its first await. */
  begin(argumentsJson: string): Promise<void>;
  /** Executes one step of a look into the value that the isolate prints. */
  look(at: LookAt): Promise<void>;
}

const entryCode = `(ask, block) => {
  const install = globalThis.installPrelude;
  delete globalThis.installPrelude;
  return install({ ask, block });
}`;
const wrapperHead = `(async () => {'use strict';`;

export async function createIsolateEntry(
  lib: typeof ivm,
  boot: SandboxStart,
  port: IsolatePort,
): Promise<IsolateEntry> {
  const isolate = new lib.Isolate({
    snapshot: new lib.ExternalCopy(boot.snapshot),
    memoryLimit: boot.memoryMb,
    inspector: true,
    onCatastrophicError: () => process.abort(),
  });
  const context = await isolate.createContext({ inspector: true });
  const entry = await isolate.compileScript(entryCode, { filename: preludeScriptName });
  const install = await entry.run(context, { reference: true });
  const installed: ivm.Reference = await install.apply(
    undefined,
    [
      new lib.Callback((name: string, json: string, body?: string) => port.ask(name, json, body), {
        sync: true,
      }),
      new lib.Reference((name: string, ...texts: string[]) => port.block(name, ...texts)),
    ],
    { result: { reference: true } },
  );
  const enterIsolate: ivm.Reference = await installed.get('enter', { reference: true });
  const lookEnds: ivm.Reference = await installed.get('look', { reference: true });
  await context.global.set(lookEndsName, lookEnds.derefInto());
  const view = await EngineView.connect(isolate);
  await context.global.delete(lookEndsName);
  let script: ivm.Reference | undefined;

  return {
    enter: (name, id, json = '', body = '') => call(enterIsolate, [name, id, json, body]),
    async load(code) {
      // The wrapper's head is on the user's first line; the column offset removes it from positions.
      const compiled = await isolate.compileScript(`${wrapperHead}${code}\n})`, {
        filename: userScriptName,
        columnOffset: -wrapperHead.length,
      });
      script = await compiled.run(context, { reference: true });
    },
    begin: (argumentsJson) => call(enterIsolate, ['begin', 0, argumentsJson, script?.derefInto()]),
    look: (at) => view.step(at),
  };
}

async function call(entry: ivm.Reference, args: unknown[]): Promise<void> {
  // oxlint-disable-next-line no-useless-call -- a method of isolated-vm, not of functions
  await entry.apply(undefined, args);
}

/** Value of the isolate in the protocol of V8's inspector: primitives by value, all others by ID. */
interface RemoteValue {
  type: string;
  objectId?: string;
  value?: unknown;
  unserializableValue?: string;
}

/** Parts of the `Runtime` domain's answers that are used here. */
interface Answer {
  result?: RemoteValue;
  properties?: Properties;
  internalProperties?: { name: string; value?: RemoteValue }[];
}

interface Debugger {
  /** Resolves with the answer once the isolate has processed the request. */
  send(method: string, params: object): Promise<Answer>;
}

type Properties = { name: string; symbol?: RemoteValue }[];

/**
 * Inspects values of the isolate as a debugger does, for its console. The debugger can only answer while the isolate
 * runs, so a look consists of steps, and the isolate runs briefly after each of them.
 */
class EngineView {
  readonly #debugger: Debugger;
  readonly #ends: { show: string; take: string };
  #looking = false;

  private constructor(debugger_: Debugger, ends: { show: string; take: string }) {
    this.#debugger = debugger_;
    this.#ends = ends;
  }

  static async connect(isolate: ivm.Isolate): Promise<EngineView> {
    const debugger_ = createDebugger(isolate.createInspectorSession());
    const find = async (end: 'show' | 'take'): Promise<string> => {
      const found = await debugger_.send('Runtime.evaluate', {
        expression: `${lookEndsName}.${end}`,
        contextId,
      });
      if (found.result?.objectId === undefined) throw new Error('The debugger does not see the isolate.');
      return found.result.objectId;
    };
    return new EngineView(debugger_, { show: await find('show'), take: await find('take') });
  }

  /** Executes one step of a look. */
  async step(at: LookAt): Promise<void> {
    if (!this.#looking) {
      this.#looking = true;
      void this.#look(at).finally(() => (this.#looking = false));
    }
    // Lets the isolate's pending answers arrive first.
    await new Promise((resolve) => setImmediate(resolve));
  }

  async #look(at: LookAt): Promise<void> {
    const shown = await this.#call(this.#ends.show, []);
    const parts = shown?.objectId === undefined ? [] : await this.#partsOf(shown.objectId, at);
    await this.#call(this.#ends.take, parts);
    void this.#debugger.send('Runtime.releaseObjectGroup', { objectGroup: group });
  }

  /** Calls the function directly, without anything in between that user code could have patched. */
  async #call(objectId: string, parts: RemoteValue[]): Promise<RemoteValue | undefined> {
    const names = parts.map((_, index) => `p${index}`).join();
    const { result } = await this.#debugger.send('Runtime.callFunctionOn', {
      objectId,
      functionDeclaration: `function (${names}) { return this(${names}) }`,
      arguments: parts.map(argumentOf),
      objectGroup: group,
    });
    return result;
  }

  async #partsOf(objectId: string, at: LookAt): Promise<RemoteValue[]> {
    const found = await this.#debugger.send('Runtime.getProperties', {
      objectId,
      ownProperties: true,
      nonIndexedPropertiesOnly: true,
    });
    if (at === 'keys')
      return found.properties?.map(({ name, symbol }) => symbol ?? { type: 'string', value: name }) ?? [];
    const inner = (name: string) =>
      found.internalProperties?.find((one) => one.name === `[[${name}]]`)?.value;
    const [kind, content] =
      at === 'promise'
        ? [inner('PromiseState'), inner('PromiseResult')]
        : [inner('IteratorKind') ?? { type: 'string' as const, value: 'all' }, inner('Entries')];
    return kind === undefined || content === undefined ? [] : [kind, content];
  }
}

function argumentOf({ objectId, unserializableValue, value }: RemoteValue): object {
  if (objectId !== undefined) return { objectId };
  return unserializableValue === undefined ? { value } : { unserializableValue };
}

function createDebugger(session: ivm.InspectorSession): Debugger {
  const waiting = new Map<number, (answer: Answer) => void>();
  let lastId = 0;
  session.onResponse = (id, text) => {
    waiting.get(id)?.(answerIn(text));
    waiting.delete(id);
  };
  return {
    send: (method, params) =>
      new Promise((resolve) => {
        const id = ++lastId;
        waiting.set(id, resolve);
        session.dispatchProtocolMessage(JSON.stringify({ id, method, params }));
      }),
  };
}

/** Parses an answer. `Runtime.getProperties` has a list where the other methods have a value. */
function answerIn(text: string): Answer {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by V8
  const { result = {} } = JSON.parse(text) as {
    result?: Pick<Answer, 'internalProperties'> & { result?: RemoteValue | Properties };
  };
  const { result: found, internalProperties } = result;
  return Array.isArray(found)
    ? { properties: found, ...(internalProperties && { internalProperties }) }
    : { ...(found && { result: found }) };
}
