import { userScriptName, type PortAnswer } from '@phalanx/automation';
import type { SandboxStart } from '@phalanx/protocol';
import type ivm from 'isolated-vm';

/**
 * Functions of this process that the isolate may call. None may throw, because an error would contain paths of this
 * machine.
 */
export interface ReplayFunctions {
  ask: (name: string, json: string, body?: string) => PortAnswer;
  hold: (name: string, ...texts: string[]) => boolean;
  capturedAt: () => number;
  stage: () => string | null;
  missed: ((by: string, wanted: string) => void) | undefined;
}

/** Context with the globals, in which the code has not started. */
export interface ReplayContext {
  /** Runs the code to its first wait. Throws when that exceeds `timeoutMs`. */
  begin(argumentsJson: string, timeoutMs: number): void;
  enter(
    entry: 'timer' | 'result' | 'fetched',
    given: { id: number; json: string; body: string },
    timeoutMs: number,
  ): void;
  close(): void;
}

/** Maximum number of contexts per isolate, because their memory accumulates; a new isolate takes 8 ms. */
const maxContexts = 200;
const wrapperHead = `(async () => {'use strict';`;
const entryCode = `(ask, hold, capturedAt, stage, missed) => {
  const install = globalThis.installPrelude;
  delete globalThis.installPrelude;
  return install({ ask, hold, capturedAt, stage, missed });
}`;

interface Loaded {
  isolate: ivm.Isolate;
  entry: ivm.Script;
  user: ivm.Script;
}

/** Creates contexts from one snapshot of the prelude. The isolate runs in the thread of this process. */
export class ReplayIsolate {
  readonly #lib: typeof ivm;
  readonly #memoryMb: number;
  readonly #snapshot: ivm.ExternalCopy<ArrayBuffer>;
  #code = '';
  #loaded: Loaded | undefined;
  #contexts = 0;

  constructor(lib: typeof ivm, boot: SandboxStart) {
    this.#lib = lib;
    this.#memoryMb = boot.memoryMb;
    this.#snapshot = new lib.ExternalCopy(boot.snapshot);
  }

  /** Loads a script. Throws its SyntaxError when it does not compile. */
  load(code: string): void {
    this.#code = code;
    this.renew();
    this.#load();
  }

  /** Disposes of the isolate, so that the next context gets a new one. */
  renew(): void {
    if (this.#loaded?.isolate.isDisposed === false) this.#loaded.isolate.dispose();
    this.#loaded = undefined;
  }

  open(functions: ReplayFunctions): ReplayContext {
    if (this.#contexts >= maxContexts || this.#loaded?.isolate.isDisposed === true) this.renew();
    const { isolate, entry, user } = this.#loaded ?? this.#load();
    this.#contexts += 1;
    const context = isolate.createContextSync();
    const install: ivm.Reference = entry.runSync(context, { reference: true });
    const enter: ivm.Reference = install.applySync(undefined, this.#callbacks(functions), {
      result: { reference: true },
    });
    const call = (args: unknown[], timeoutMs: number): void => {
      // oxlint-disable-next-line no-useless-call -- a method of isolated-vm, not of functions
      enter.applySync(undefined, args, { timeout: timeoutMs });
    };
    return {
      begin(argumentsJson, timeoutMs) {
        const script: ivm.Reference = user.runSync(context, { reference: true });
        call(['begin', 0, argumentsJson, script.derefInto({ release: true })], timeoutMs);
      },
      enter: (name, { id, json, body }, timeoutMs) => call([name, id, json, body], timeoutMs),
      close: () => {
        if (!isolate.isDisposed) for (const held of [install, enter, context]) held.release();
      },
    };
  }

  #load(): Loaded {
    const isolate = new this.#lib.Isolate({
      memoryLimit: this.#memoryMb,
      snapshot: this.#snapshot,
      onCatastrophicError: () => process.abort(),
    });
    const user = isolate.compileScriptSync(`${wrapperHead}${this.#code}\n})`, {
      filename: userScriptName,
      columnOffset: -wrapperHead.length,
    });
    this.#contexts = 0;
    return (this.#loaded = { isolate, entry: isolate.compileScriptSync(entryCode), user });
  }

  #callbacks({ ask, hold, capturedAt, stage, missed }: ReplayFunctions): unknown[] {
    const callback = (of: (...args: never[]) => unknown): ivm.Callback =>
      new this.#lib.Callback(of, { sync: true });
    return [ask, hold, capturedAt, stage].map(callback).concat(missed === undefined ? [] : callback(missed));
  }
}
