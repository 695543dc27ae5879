import { createActions } from './actions.ts';
import type { AgentParts } from './agent-parts.ts';
import { createOutOfSteps } from './out-of-steps.ts';
import { resultJson } from './result-json.ts';
import { createWaits } from './waits.ts';

export function createAgent(args: AgentArguments, parts: AgentParts): Agent {
  const { bridge } = parts;
  const actions = createActions(parts);
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
    info: { device: () => bridge.call('device.info', {}) },
    utils: { outOfSteps, debug },
  };
}
