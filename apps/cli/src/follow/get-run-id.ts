import type { ApiClient } from '../api-client.ts';
import { CommandError, exitCodes, usageError } from '../exit-codes.ts';
import { isUuid } from '../launch/find-project.ts';
import { listRuns } from './find-runs.ts';

/** A part of an ID is looked for among so many, the newest. */
const searched = 1000;

/** The random end of an ID: runs that were launched together begin alike. */
export const shortRunId = (id: string): string => id.split('-').at(-1) ?? id;

/** The run whose ID `text` is, begins or ends. */
export async function getRunId(api: ApiClient, text: string): Promise<string> {
  const part = text.toLowerCase();
  if (isUuid(part)) return part;
  if (!/^[0-9a-f-]{4,36}$/.test(part)) throw usageError(`"${text}" is no run: "phalanx runs" lists them.`);
  const found: string[] = [];
  let count = 0;
  for await (const { run_id: id } of listRuns(api, {})) {
    if (id.startsWith(part) || id.endsWith(part)) found.push(id);
    if (++count === searched) break;
  }
  const [only] = found;
  if (only === undefined)
    throw new CommandError(
      exitCodes.refused,
      `None of your newest ${searched} runs has an ID that begins or ends with ${text}: "phalanx runs" lists them.`,
    );
  if (found.length === 1) return only;
  throw usageError(`Several runs begin or end with ${text}: ${found.join(', ')}.`);
}
