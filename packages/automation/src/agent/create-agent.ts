import { createActions } from './actions.ts';
import type { AgentParts } from './agent-parts.ts';
import { createApps } from './apps.ts';
import { createFiles } from './files.ts';
import { createOutOfSteps } from './out-of-steps.ts';
import { resultJson } from './result-json.ts';
import { createWaits } from './waits.ts';

const defaultShellMs = 30_000;

export function createAgent(args: AgentArguments, parts: AgentParts): Agent {
  const { bridge } = parts;
  const actions = createActions(parts);
  const files = createFiles(bridge);
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
        swipe: actions.swipe,
        sleep: parts.sleep,
        now: parts.now,
      }),
    },
    apps: createApps(bridge, files),
    files,
    shell: (command, { timeoutMs = defaultShellMs, signal } = {}) =>
      bridge.call('phone.shell', { command: String(command), timeoutMs }, signal),
    info: { device: () => bridge.call('device.info', {}) },
    utils: { outOfSteps, debug },
  };
}
