/** What the address says of the replays of a project. Without a replay, the newest one is shown. */
export interface ReplaysSearch {
  replay?: string;
}

export const replaysSearch = ({ replay }: Record<string, unknown>): ReplaysSearch =>
  typeof replay === 'string' && replay !== '' ? { replay } : {};
