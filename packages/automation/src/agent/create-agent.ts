import { createActions, ofUser } from './actions.ts';
import type { AgentBridge, AgentParts } from './agent-parts.ts';
import { bytesOf, createFiles, sendInParts, writeFile } from './files.ts';
import { createJob } from './job.ts';
import { createMessages } from './messages.ts';
import { createOutOfSteps } from './out-of-steps.ts';
import { touchedNode } from './nodes/touched-node.ts';
import { findCaptureTime } from './nodes/tree-ids.ts';
import { createUuid } from './uuid.ts';
import type { WaitParts } from './waits/wait-until.ts';
import { createWaits } from './waits/waits.ts';

const defaultShellMs = 30_000;

export function createAgent(args: AgentArguments, parts: AgentParts): Agent {
  const { bridge } = parts;
  const actions = createActions(parts);
  const files = createFiles(bridge);
  const run = createRun(bridge);
  const { outOfSteps, debug } = createOutOfSteps(bridge, actions.screenContent);
  return {
    arguments: args,
    control: {
      stopCurrentAutomation: parts.stop,
      setResult: (value) => parts.setResult(resultJson(value)),
    },
    actions: {
      ...actions,
      ...createWaits({
        read: actions.screenContent,
        untilChange: changesOf(bridge),
        swipe: actions.swipe,
        reach: (node, signal) => bridge.call('screen.reach', { on: touchedNode(node) }, signal),
        sleep: parts.sleep,
        now: parts.now,
      }),
    },
    apps: createApps(bridge, files),
    files,
    shell: (command, { timeoutMs = defaultShellMs, signal } = {}) =>
      bridge.call('phone.shell', { command: String(command), timeoutMs }, signal),
    run,
    secrets: {
      get: (name) => bridge.call('secret.get', { name: String(name) }),
      type: (name, { signal } = {}) => bridge.call('secret.type', { name: String(name) }, signal),
    },
    messages: createMessages(parts),
    info: { device: () => bridge.call('device.info', {}) },
    utils: { outOfSteps, debug, job: createJob({ ...parts, attach: (...given) => run.attach(...given) }) },
  };
}

/**
 * Returns the function that waits for a screen change. A failure counts as unsupported: the wait then reads the
 * screen itself and gets the error.
 */
function changesOf(bridge: AgentBridge): WaitParts['untilChange'] {
  return async (screen, { restMs, timeoutMs, signal }) => {
    const capturedAt = findCaptureTime(screen);
    if (capturedAt === undefined) return 'untold';
    return bridge.call('screen.change', { capturedAt, restMs, timeoutMs }, signal).catch(() => 'untold');
  };
}

function createApps(bridge: AgentBridge, files: Pick<AgentFiles, 'delete'>): AgentApps {
  const install = (
    path: string,
    { grantPermissions = false, signal, ...of }: InstallOptions,
  ): Promise<InstalledParts> => bridge.call('app.install', { path, grantPermissions, ...ofUser(of) }, signal);
  const setPermission =
    (isGranted: boolean): AgentApps['grantPermission'] =>
    async (packageName, permission, { signal, ...of } = {}) =>
      bridge.call('app.setPermission', { packageName, permission, isGranted, ...ofUser(of) }, signal);
  return {
    list: ({ signal, ...of } = {}) => bridge.call('app.list', ofUser(of), signal),
    users: () => bridge.call('user.list', {}),
    async install(apk, options = {}) {
      if (typeof apk === 'string') return install(apk, options);
      const path = `/sdcard/Download/phalanx-${createUuid()}.apk`;
      // Writes without a media scan, because only the installer needs the file.
      await writeFile(bridge, path, bytesOf(apk));
      try {
        return await install(path, options);
      } finally {
        await files.delete(path);
      }
    },
    uninstall: (packageName, { signal, ...of } = {}) =>
      bridge.call('app.uninstall', { packageName, ...ofUser(of) }, signal),
    clearData: (packageName, { signal, ...of } = {}) =>
      bridge.call('app.clearData', { packageName, ...ofUser(of) }, signal),
    grantPermission: setPermission(true),
    revokePermission: setPermission(false),
  };
}

/** Returns the run's result as JSON text. Throws a `TypeError` for values that JSON can't represent. */
function resultJson(value: unknown): string {
  // Undefined for functions, symbols and undefined, contrary to its declared type.
  const json: string | undefined = JSON.stringify(value);
  if (json !== undefined) return json;
  throw new TypeError(
    `agent.control.setResult takes what JSON can hold (null for nothing), but this is ${typeof value}.`,
  );
}

interface Content {
  readonly bytes: Uint8Array;
  readonly isText: boolean;
  /** Content type. Default: derived from the name. */
  readonly contentType?: string;
}

function createRun(bridge: AgentBridge): AgentRun {
  return {
    attach: async (name, data, options = {}) => {
      const { bytes, isText, ...content } = contentOf(data);
      const contentType = options.contentType ?? content.contentType;
      const about = { name: String(name), isText, ...(contentType !== undefined && { contentType }) };
      await sendInParts(bytes, (part) => bridge.call('run.attach', { ...about, ...part }, options.signal));
    },
  };
}

function contentOf(data: unknown): Content {
  if (data instanceof Uint8Array) return { bytes: data, isText: false };
  if (data instanceof ArrayBuffer) return { bytes: new Uint8Array(data), isText: false };
  const encoder = new TextEncoder();
  if (typeof data === 'string') return { bytes: encoder.encode(data), isText: true };
  // Undefined for functions, symbols and undefined, contrary to its declared type.
  const json: string | undefined = JSON.stringify(data, null, 2);
  if (json !== undefined)
    return { bytes: encoder.encode(json), isText: true, contentType: 'application/json' };
  throw new TypeError(`A file holds text, bytes, or what JSON can hold, but this is ${typeof data}.`);
}
