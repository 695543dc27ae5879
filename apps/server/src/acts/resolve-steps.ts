import type {
  ActStep,
  ActTarget,
  HostActStep,
  HostActTarget,
  LaunchSecrets,
  NumberedScreen,
} from '@phalanx/protocol';

import { identityOf } from '../devices/screens/screen-cache.ts';
import { ApiError } from '../errors/api-error.ts';

const usualWaitMs = 10_000;

interface Ground {
  /** The screen that numbers are of. */
  readonly before: NumberedScreen | undefined;
  /** Asked once, when a step types one. */
  readonly secrets: () => Promise<LaunchSecrets>;
  readonly projectId: string;
}

/** The steps as a host is asked for them. Throws what is wrong with them before anything is done. */
export async function resolveSteps(
  steps: readonly ActStep[],
  { before, secrets, projectId }: Ground,
): Promise<HostActStep[]> {
  const values = steps.some((step) => 'secret' in step) ? await secrets() : {};
  return steps.map((step) => {
    const { on, within } = targetsOf(step, before);
    const aimed = {
      ...step,
      ...(on === undefined ? {} : { on }),
      ...(within === undefined ? {} : { within }),
    };
    const more =
      step.type === 'type'
        ? typedBy(step, values, projectId)
        : step.type === 'wait_for'
          ? { timeout_ms: step.timeout_ms ?? usualWaitMs }
          : {};
    // Each of its targets has taken the place of the one that was given.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return { ...aimed, ...more } as HostActStep;
  });
}

function targetsOf(
  step: ActStep,
  before: NumberedScreen | undefined,
): { on: HostActTarget | undefined; within: HostActTarget | undefined } {
  const resolve = (target: ActTarget | undefined): HostActTarget | undefined =>
    typeof target === 'number' ? lineOf(target, before) : target;
  return {
    on: 'on' in step ? resolve(step.on) : undefined,
    within: 'within' in step ? resolve(step.within) : undefined,
  };
}

function lineOf(number: number, before: NumberedScreen | undefined): HostActTarget {
  if (before === undefined)
    throw invalid(`Field screen_id is missing: ${number} is the number of a line of a screen`);
  return { identity: identityOf(before, number) };
}

function typedBy(
  { text, secret }: Extract<ActStep, { type: 'type' }>,
  values: LaunchSecrets,
  projectId: string,
): { text: string } {
  if ((text === undefined) === (secret === undefined))
    throw invalid('A step of type "type" needs either text or secret');
  const value = secret === undefined ? text : values[secret];
  if (value === undefined)
    throw ApiError.of('secret_not_found', { project_id: projectId, name: secret ?? '' });
  return { text: value };
}

const invalid = (problem: string): ApiError => ApiError.of('invalid_request', { problem });
