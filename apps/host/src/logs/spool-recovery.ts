import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { WireLogEntry } from '@phalanx/protocol';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';

import type { Segment } from './spool-file.ts';

/** What an earlier life of the host left of a run's log. */
export interface RecoveredLog {
  runId: string;
  /** Number of the first entry in `entries`; those before it are stored. */
  firstSeq: number;
  entries: string[];
  segments: Segment[];
}

interface Line {
  firstSeq: number;
  entries: string[];
}

const uuid = '[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}';
const segmentPattern = new RegExp(`^(${uuid})\\.(\\d{1,15})\\.ndjson$`);
const isLine = Compile(Type.Array(Type.Unknown(), { minItems: 2 }));
const isFirstSeq = Compile(Type.Integer({ minimum: 1 }));
const isEntry = Compile(WireLogEntry);

export async function listSpooledRuns(dir: string): Promise<string[]> {
  const names = await readdir(dir);
  return [...new Set(names.flatMap((name) => segmentPattern.exec(name)?.[1] ?? []))];
}

/** Reads until the end or the first thing that does not fit, such as the torn last line of a killed host. */
export async function recoverLog(dir: string, runId: string): Promise<RecoveredLog> {
  const recovered: RecoveredLog = { runId, firstSeq: 1, entries: [], segments: [] };
  let isWhole = true;
  for (const { path, firstSeq } of await listSegments(dir, runId)) {
    if (recovered.segments.length === 0) recovered.firstSeq = firstSeq;
    if (isWhole) isWhole = takeLines(recovered, await readFile(path, 'utf8'));
    recovered.segments.push({ path, lastSeq: recovered.firstSeq + recovered.entries.length - 1 });
  }
  return recovered;
}

async function listSegments(dir: string, runId: string): Promise<{ path: string; firstSeq: number }[]> {
  const matches = (await readdir(dir)).map((name) => segmentPattern.exec(name));
  return matches
    .flatMap((match) =>
      match?.[1] === runId ? { path: join(dir, match[0]), firstSeq: Number(match[2]) } : [],
    )
    .sort((one, other) => one.firstSeq - other.firstSeq);
}

/** False when the file breaks off before its end. */
function takeLines(recovered: RecoveredLog, text: string): boolean {
  const lines = text.split('\n');
  // What follows the last line feed is a line that was not written to its end.
  const rest = lines.pop();
  for (const line of lines) {
    const parsed = parseLine(line);
    if (parsed?.firstSeq !== recovered.firstSeq + recovered.entries.length) return false;
    for (const entry of parsed.entries) recovered.entries.push(entry);
  }
  return rest === '';
}

function parseLine(text: string): Line | undefined {
  const line = parseJson(text);
  if (!isLine.Check(line)) return undefined;
  const [firstSeq, ...entries] = line;
  if (!isFirstSeq.Check(firstSeq) || !entries.every((entry) => isEntry.Check(entry))) return undefined;
  return { firstSeq, entries: entries.map((entry) => JSON.stringify(entry)) };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
