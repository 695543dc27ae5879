import type { Api } from '../http/api.ts';

/** What an attack is played against: an ordinary user of the service, who has a phone and a project. */
export interface Ground {
  api: Api;
  /** Other rights of the same user. */
  createToken: (fields: object) => Promise<Api>;
  deviceId: string;
  project: { id: string; cloneUrl: string };
  /** An empty folder. */
  folder: string;
}

export interface Attack {
  /** Number in the report of the attack on the first release. */
  finding: string;
  attack: string;
  /** What came of it then; times are how long another user's request waited. */
  before: string;
  /** Returns what comes of it now. */
  play(ground: Ground): Promise<string>;
}

/** Status and, of a refusal, its code. */
export async function send(api: Api, method: string, path: string, body?: string): Promise<string> {
  const headers = { authorization: `Bearer ${api.token}`, 'content-type': 'application/json' };
  const reply = await fetch(new URL(path, api.url), { method, headers, ...(body !== undefined && { body }) });
  const code = /"code":"(\w+)"/.exec(await reply.text())?.[1];
  return code === undefined ? String(reply.status) : `${reply.status} ${code}`;
}

/** `200 (2 times), 429 (3 times)`. */
export function counted(answers: readonly string[]): string {
  const groups = Map.groupBy(answers, (answer) => answer);
  return [...groups].map(([answer, { length }]) => `${answer} (${length} times)`).join(', ');
}
