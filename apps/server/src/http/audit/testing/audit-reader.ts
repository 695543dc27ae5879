import { AuditEntry } from '@phalanx/protocol';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';

import type { ApiCaller } from '../../../testing/api-caller.ts';

const entries = Compile(Type.Array(AuditEntry));

/** Reads the entries of the audit log that one caller sees, the newest first, from all pages. */
export async function readEntries(api: ApiCaller, query: Record<string, string> = {}): Promise<AuditEntry[]> {
  const all: AuditEntry[] = [];
  for (let cursor = ''; ;) {
    const asked = new URLSearchParams({ ...query, ...(cursor === '' ? {} : { cursor }) });
    const { body, text } = await api('GET', `/api/v2/audit?${asked.toString()}`);
    if (!entries.Check(body['entries'])) throw new Error(text);
    all.push(...body['entries']);
    if (typeof body['next_cursor'] !== 'string') return all;
    cursor = body['next_cursor'];
  }
}
