import { createActions } from './actions.ts';
import type { AgentParts } from './agent-parts.ts';
import { createWaits } from './waits.ts';

export function createAgent(args: AgentArguments, parts: AgentParts): Agent {
  const actions = createActions(parts);
  return {
    arguments: args,
    control: { stopCurrentAutomation: parts.stop },
    actions: {
      ...actions,
      ...createWaits({ read: actions.screenContent, sleep: parts.sleep, now: parts.now }),
    },
    info: { device: () => parts.bridge.call('device.info', {}) },
  };
}
