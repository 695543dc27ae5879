import { Type, type Static } from 'typebox';

/** Statuses of a run that has not ended. */
export const activeRunStatuses = ['starting', 'running'] as const;
/** Statuses of an ended run. `lost`: its host did not come back, so its real end is unknown. */
export const endedRunStatuses = ['completed', 'failed', 'stopped', 'timed_out', 'lost'] as const;

export const RunStatus = Type.Enum([...activeRunStatuses, ...endedRunStatuses], { title: 'RunStatus' });
export type RunStatus = Static<typeof RunStatus>;

export function isEnded(status: RunStatus): boolean {
  return (endedRunStatuses as readonly RunStatus[]).includes(status);
}

/** Maximum length of a message, and of a stack, in characters. */
export const maxRunErrorLength = 20_000;

/** Reason why a run did not complete: a stable code, a sentence for people, and the stack. */
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
 * Outcome of an ended run, for use by scripts. Runs whose code ended by itself (`completed`) can also have
 * `out_of_steps` and `timed_out`: when the last result that the run reported was a record of that type.
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
