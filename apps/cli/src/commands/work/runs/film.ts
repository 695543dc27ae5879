import { createWriteStream, existsSync } from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type FilmPicture, filmRoutes } from '@phalanx/protocol';
import type { Command } from 'commander';

import type { ApiClient, Reply } from '../../../api-client.ts';
import { addConnectionOptions, connect, type ConnectionFlags } from '../../../connection/connection.ts';
import { usageError } from '../../../exit-codes.ts';
import { getRunId } from '../../../follow/get-run-id.ts';
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
    .description('list the pictures of the film of a run, or download them')
    .argument('<run>', 'ID, or how it begins or ends; "phalanx runs" shows the ends')
    .option('--download <folder>', 'write all of them into this folder, which is made if it is missing')
    .option('--force', 'replace files of these names')
    .option('--json', "print the API's pictures, one a line")
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
      const pictures = await readFilm(api, runId);
      if (flags.download !== undefined) await download(api, runId, { ...flags, pictures });
      if (flags.json) for (const picture of pictures) console.log(JSON.stringify(picture));
      else if (flags.download === undefined) printPictures(pictures);
    });
  addConnectionOptions(command);
}

async function readFilm(api: ApiClient, runId: string): Promise<FilmPicture[]> {
  const pictures: FilmPicture[] = [];
  for (let cursor: string | null = '0'; cursor !== null;) {
    const page: Reply<typeof filmRoutes.list> = await api.call(filmRoutes.list, {
      params: { id: runId },
      query: { cursor },
    });
    pictures.push(...page.pictures);
    cursor = page.next_cursor;
  }
  return pictures;
}

function printPictures(pictures: readonly FilmPicture[]): void {
  const beganAt = pictures[0]?.taken_at ?? 0;
  const rows = pictures.map(({ number, taken_at, width, height, size_bytes }) => ({
    number: String(number),
    at: `${((taken_at - beganAt) / 1000).toFixed(1)} s`,
    size: `${width} x ${height}`,
    bytes: String(size_bytes),
  }));
  printTable(
    { flexible: 'size', rows },
    'The run has no film. "phalanx run PROJECT --film" makes one of each run.',
  );
}

interface Wanted extends Flags {
  pictures: readonly FilmPicture[];
}

/** `0001.jpg` and so on: in the order of their names they are the film. */
async function download(api: ApiClient, runId: string, wanted: Wanted): Promise<void> {
  const { pictures, download: folder = '.', force, json } = wanted;
  makeNamedFolder(folder);
  for (const { number } of pictures) {
    const target = path.join(folder, `${String(number).padStart(4, '0')}.jpg`);
    if (!force && existsSync(target)) throw usageError(`${target} is there already: --force replaces it.`);
    const body = await api.stream(filmRoutes.read, { params: { id: runId, number: String(number) } });
    await pipeline(body, createWriteStream(target));
    if (!json) console.log(printableLine(target));
  }
}
