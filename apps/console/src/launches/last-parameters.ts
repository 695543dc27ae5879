import { parseObject } from './parameter-fields.ts';

const keyOf = (automationId: string): string => `phalanx.parameters.${automationId}`;

/** The parameters of the last launch of this browser. */
export const lastParameters = (automationId: string): Record<string, unknown> =>
  parseObject(localStorage.getItem(keyOf(automationId)) ?? '') ?? {};

export const keepParameters = (automationId: string, values: Record<string, unknown>): void =>
  localStorage.setItem(keyOf(automationId), JSON.stringify(values));
