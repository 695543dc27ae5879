import type { AssistedMessage } from './process/messages.ts';

/** What is known of a place in code. */
export type Assistance = Omit<AssistedMessage, 'kind' | 'wanted'>;

export const nothingFound: Assistance = {
  symbol: null,
  completions: [],
  references: { definition: null, references: [] },
};
