import { Type, type Static } from 'typebox';

/** The states of a run that has not ended. */
export const activeRunStatuses = ['starting', 'running'] as const;
/** The states in which a run ends. `lost`: its host did not come back, so nobody knows. */
export const endedRunStatuses = ['completed', 'failed', 'stopped', 'timed_out', 'lost'] as const;

export const RunStatus = Type.Enum([...activeRunStatuses, ...endedRunStatuses]);
export type RunStatus = Static<typeof RunStatus>;

export function isEnded(status: RunStatus): boolean {
  return (endedRunStatuses as readonly RunStatus[]).includes(status);
}

/** Why a run did not complete: a stable word and a sentence for people. */
export const RunError = Type.Object({
  code: Type.String({ pattern: '^[a-z][a-z0-9_]{0,63}$' }),
  message: Type.String({ maxLength: 20_000 }),
});
export type RunError = Static<typeof RunError>;
