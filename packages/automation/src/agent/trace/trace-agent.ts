import type { StepEnd } from '@phalanx/protocol';

import { aimOfCall } from './aim-of-call.ts';
import type { RunStep } from './run-step.ts';

type Member = (...args: unknown[]) => Promise<unknown>;

/**
 * The same `agent`, whose every call that may reach the phone is told as a step. Calls that the agent makes of itself,
 * such as the readings of a wait, go to the functions below, and are part of the step.
 */
export function traceAgent(agent: Agent, run: RunStep): Agent {
  const { actions, apps, files, info, messages, run: ofRun, secrets, utils } = agent;
  return {
    ...agent,
    actions: traced(actions, '', run),
    apps: traced(apps, 'apps.', run),
    files: traced(files, 'files.', run),
    info: traced(info, 'info.', run),
    messages: traced(messages, 'messages.', run),
    run: traced(ofRun, 'run.', run),
    secrets: traced(secrets, 'secrets.', run),
    utils: {
      ...utils,
      job: traced(utils.job, 'job.', run),
      outOfSteps: traced(utils.outOfSteps, 'outOfSteps.', run),
      ...traced({ debug: (...args: Parameters<typeof utils.debug>) => utils.debug(...args) }, '', run),
    },
    ...traced({ shell: (...args: Parameters<Agent['shell']>) => agent.shell(...args) }, '', run),
  };
}

function traced<Group extends object>(group: Group, prefix: string, run: RunStep): Group {
  const members = Object.entries(group).map(([name, member]) => [
    name,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all of them give promises
    tracedCall(prefix + name, member as Member, run),
  ]);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every name has the function of that name
  return Object.fromEntries(members) as Group;
}

function tracedCall(name: string, member: Member, run: RunStep): Member {
  const call: Member = (...args) =>
    run({ name, aim: () => aimOfCall(name, args), work: () => member(...args), endOf: nodeFound });
  return Object.defineProperty(call, 'name', { value: member.name });
}

/** A node below the root is one that was looked for. */
function nodeFound(result: unknown): Partial<StepEnd> {
  if (typeof result !== 'object' || result === null || !('boundsInScreen' in result)) return {};
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nothing else has such bounds
  const { boundsInScreen, parent } = result as AndroidNode;
  const { left, top, right, bottom } = boundsInScreen;
  return parent === null ? {} : { node: [left, top, right, bottom] };
}
