import { Type, type Static } from 'typebox';

/** The states of a run that has not ended. */
export const activeRunStatuses = ['starting', 'running'] as const;
/** The states in which a run ends. `lost`: its host did not come back, so nobody knows. */
export const endedRunStatuses = ['completed', 'failed', 'stopped', 'timed_out', 'lost'] as const;

export const RunStatus = Type.Enum([...activeRunStatuses, ...endedRunStatuses], { title: 'RunStatus' });
export type RunStatus = Static<typeof RunStatus>;

export function isEnded(status: RunStatus): boolean {
  return (endedRunStatuses as readonly RunStatus[]).includes(status);
}

/** Why a run did not complete: a stable word, a sentence for people, and where. */
/** Length of a message, and of a stack. */
export const maxRunErrorLength = 20_000;

export const RunError = Type.Object({
  code: Type.String({ pattern: '^[a-z][a-z0-9_]{0,63}$' }),
  message: Type.String({ maxLength: maxRunErrorLength }),
  stack: Type.Optional(
    Type.Union([Type.String({ maxLength: maxRunErrorLength }), Type.Null()], {
      description: 'Stack trace with the files and lines of the source code; null if there is none',
    }),
  ),
});
export type RunError = Static<typeof RunError>;

/**
 * Outcome of an ended run, for scripts to act on. `out_of_steps` and `timed_out` also of runs whose code ended
 * by itself (`completed`), when the last that it said of its way was a record of that type.
 */
export const RunOutcome = Type.Enum([
  'succeeded',
  'out_of_steps',
  'failed',
  'stopped',
  'timed_out',
  'lost',
] as const);
export type RunOutcome = Static<typeof RunOutcome>;
