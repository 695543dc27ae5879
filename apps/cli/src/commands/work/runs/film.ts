import { createWriteStream, existsSync } from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type FilmPicture, filmRoutes, type FilmVideo } from '@phalanx/protocol';
import type { Command } from 'commander';

import type { ApiClient, Reply } from '../../../api-client.ts';
import { addConnectionOptions, connect, type ConnectionFlags } from '../../../connection/connection.ts';
import { usageError } from '../../../exit-codes.ts';
import { getRunId } from '../../../follow/find-runs.ts';
import { printableLine } from '../../../output/printable.ts';
import { printTable } from '../../../output/table.ts';
import { makeNamedFolder } from '../../../project/empty-folder.ts';

interface Flags extends ConnectionFlags {
  download?: string;
  force?: true;
  json?: true;
}

/** `phalanx runs film` */
export function addRunFilmCommand(runs: Command): void {
  const command = runs
    .command('film')
    .description('list the pictures and videos of the film of a run, or download them')
    .argument('<run>', 'ID, or how it begins or ends; "phalanx runs" shows the ends')
    .option('--download <folder>', 'write all of them into this folder, which is made if it is missing')
    .option('--force', 'replace files of these names')
    .option('--json', "print the API's pictures and videos, one a line")
    .addHelpText(
      'after',
      `
A run has a film when it was launched with --film.

Examples:
  phalanx run checkout --device SIM0001 --film --follow
  phalanx runs film 83335275374f --download film`,
    )
    .action(async (text: string, flags: Flags) => {
      const { api } = await connect(flags);
      const runId = await getRunId(api, text);
      const parts = await readFilm(api, runId);
      if (flags.download !== undefined) await download(api, runId, { ...flags, parts });
      if (flags.json) for (const part of parts) console.log(JSON.stringify(part));
      else if (flags.download === undefined) printParts(parts);
    });
  addConnectionOptions(command);
}

type Part = FilmPicture | FilmVideo;

const isVideo = (part: Part): part is FilmVideo => 'ended_at' in part;

async function readFilm(api: ApiClient, runId: string): Promise<Part[]> {
  const parts: Part[] = [];
  for (let cursor: string | null = '0'; cursor !== null;) {
    const page: Reply<typeof filmRoutes.list> = await api.call(filmRoutes.list, {
      params: { id: runId },
      query: { cursor },
    });
    parts.push(...page.pictures, ...page.videos);
    cursor = page.next_cursor;
  }
  return parts.toSorted((one, other) => one.number - other.number);
}

const beginOf = (part: Part): number => (isVideo(part) ? part.began_at : part.taken_at);

function printParts(parts: readonly Part[]): void {
  const beganAt = Math.min(...parts.map(beginOf));
  const rows = parts.map((part) => ({
    number: String(part.number),
    at: `${((beginOf(part) - beganAt) / 1000).toFixed(1)} s`,
    video: isVideo(part) ? `${((part.ended_at - part.began_at) / 1000).toFixed(1)} s` : '',
    size: `${part.width} x ${part.height}`,
    bytes: String(part.size_bytes),
  }));
  printTable(
    { flexible: 'size', rows },
    'The run has no film. "phalanx run PROJECT --film" makes one of each run.',
  );
}

interface Wanted extends Flags {
  parts: readonly Part[];
}

/** `0001.jpg`, `0002.mp4` and so on: in the order of their names they are the film. */
async function download(api: ApiClient, runId: string, wanted: Wanted): Promise<void> {
  const { parts, download: folder = '.', force, json } = wanted;
  makeNamedFolder(folder);
  for (const part of parts) {
    const number = String(part.number);
    const target = path.join(folder, `${number.padStart(4, '0')}.${isVideo(part) ? 'mp4' : 'jpg'}`);
    if (!force && existsSync(target)) throw usageError(`${target} is there already: --force replaces it.`);
    const body = await api.stream(filmRoutes.read, { params: { id: runId, number } });
    await pipeline(body, createWriteStream(target));
    if (!json) console.log(printableLine(target));
  }
}
