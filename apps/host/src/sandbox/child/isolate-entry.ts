import { preludeScriptName, userScriptName, type LookAt, type PortAnswer } from '@phalanx/automation';
import type { SandboxBoot } from '@phalanx/protocol';
import type ivm from 'isolated-vm';

import { EngineView, lookEndsName } from './engine-view.ts';

/** The two functions that the isolate gets. They never throw: a thrown error would carry paths of this machine. */
export interface IsolatePort {
  ask(name: string, json: string, body: string | undefined): PortAnswer;
  block(name: string, ...texts: string[]): Promise<void>;
}

export interface IsolateEntry {
  /** Runs in the isolate's own thread. Rejects with the first unhandled rejection of what ran. */
  enter(entry: 'timer' | 'result' | 'fetched', id: number, json?: string, body?: string): Promise<void>;
  /** Compiles the user's script without running it. Rejects with the SyntaxError. */
  load(code: string): Promise<void>;
  /** Runs the loaded script to its first await. */
  begin(argumentsJson: string): Promise<void>;
  /** One step of a look into the value that the isolate shows. */
  look(at: LookAt): Promise<void>;
}

const wrapperHead = `(async () => {'use strict';`;

export async function createIsolateEntry(
  lib: typeof ivm,
  boot: SandboxBoot,
  port: IsolatePort,
): Promise<IsolateEntry> {
  const isolate = new lib.Isolate({
    memoryLimit: boot.memoryMb,
    inspector: true,
    onCatastrophicError: () => process.abort(),
  });
  const context = await isolate.createContext({ inspector: true });
  const prelude = await isolate.compileScript(boot.prelude, { filename: preludeScriptName });
  const install = await prelude.run(context, { reference: true });
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
      // The head stands on the user's first line, and the column offset takes it away again in positions.
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
  // oxlint-disable-next-line no-useless-call -- a method of isolated-vm, not that of functions
  await entry.apply(undefined, args);
}
