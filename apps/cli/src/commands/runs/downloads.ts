import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream, existsSync } from 'node:fs';
import { access, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Command } from '@commander-js/extra-typings';
import type { ApiClient } from '@phalanx/client/api-client';
import { readPages } from '@phalanx/client/read-all';
import {
  problemWithFileName,
  type RunFile,
  runRoutes,
  type FilmPicture,
  filmRoutes,
  type FilmVideo,
} from '@phalanx/protocol';
import type { Command as PlainCommand } from 'commander';

import { type OptionsOf, serverCommand, type ServerFlags } from '../../connection/server-command.ts';
import { CommandError, exitCodes, usageError } from '../../exit-codes.ts';
import { getRunId } from '../../follow/find-runs.ts';
import { makeNamedFolder } from '../../project/project-folder.ts';
import { printableLine } from '../../output/terminal.ts';
import { printJson, printTable } from '../../output/table.ts';

type Flags = OptionsOf<typeof downloadOptions> & ServerFlags;

/** `phalanx runs files` */
export function addRunFilesCommand(runs: PlainCommand): void {
  serverCommand(runs, 'files', {
    about: "list a run's attached files, or download them",
    build: downloadOptions,
    async run({ api }, flags, text) {
      const runId = await getRunId(api, text);
      const reply = await api.call(runRoutes.files, { params: { id: runId } });
      if (flags.download !== undefined) await download(api, runId, { ...flags, files: reply.files });
      if (flags.json) printJson(reply);
      else if (flags.download === undefined) printFiles(reply.files);
    },
  });
}

export const withRun = (command: Command) =>
  command.argument(
    '<run>',
    'run ID, or its beginning or end (at least 4 characters); "phalanx runs" shows the ends',
  );

const downloadOptions = (command: Command) =>
  withRun(command)
    .option('--download <folder>', 'write all of them into this folder, which is created if it is missing')
    .option('--force', 'replace existing files');

function printFiles(files: readonly RunFile[]): void {
  const rows = files.map(({ name, size_bytes, content_type, sha256 }) => ({
    name,
    bytes: String(size_bytes),
    type: content_type,
    sha256: sha256.slice(0, 16),
  }));
  printTable({ flexible: 'name', rows }, 'The run has no files. "agent.run.attach" attaches one.');
}

interface Wanted extends Flags {
  files: readonly RunFile[];
}

async function download(api: ApiClient, runId: string, { files, download: folder = '.', ...flags }: Wanted) {
  makeNamedFolder(folder);
  for (const file of files) {
    const target = await targetOf(folder, file, flags.force === true);
    await fetchFile(api, { runId, file, target });
    if (!flags.json) console.log(printableLine(target));
  }
}

/** Returns the path of a download. Refuses a name from the server that could lead outside the folder. */
async function targetOf(folder: string, { name }: RunFile, isForced: boolean): Promise<string> {
  const problem = problemWithFileName(name);
  if (problem !== undefined)
    throw new CommandError(exitCodes.refused, `${printableLine(name)} was not written: ${problem}`);
  const target = path.join(folder, name);
  const isThere = await access(target).then(
    () => true,
    () => false,
  );
  if (isThere && !isForced) throw usageError(`${target} already exists: --force replaces it.`);
  return target;
}

const piecesOf = ({ body }: Response): AsyncIterable<Uint8Array> => body ?? new ReadableStream();

interface Transfer {
  runId: string;
  file: RunFile;
  target: string;
}

/** Downloads a file under a temporary name, and renames it once it is complete. */
async function fetchFile(api: ApiClient, { runId, file, target }: Transfer): Promise<void> {
  const fresh = `${target}.${randomUUID()}.part`;
  const hash = createHash('sha256');
  try {
    const content = await api.call(runRoutes.readFile, { params: { id: runId, name: file.name } });
    const hashed = async function* (pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
      for await (const piece of pieces) {
        hash.update(piece);
        yield piece;
      }
    };
    await pipeline(piecesOf(content), hashed, createWriteStream(fresh, { flags: 'wx' }));
    if (hash.digest('hex') !== file.sha256)
      throw new CommandError(
        exitCodes.refused,
        `${target} was not written: the download differs from the attached file (SHA-256).`,
      );
    await rename(fresh, target);
  } finally {
    await rm(fresh, { force: true });
  }
}

/** `phalanx runs film` */
export function addRunFilmCommand(runs: PlainCommand): void {
  serverCommand(runs, 'film', {
    about: "list the pictures and videos of a run's film, or download them",
    build: downloadOptions,
    json: "print the API's pictures and videos, one per line",
    help: `A run has a film if it was launched with --film.

Examples:
  phalanx run checkout --device SIM0001 --film --follow
  phalanx runs film 83335275374f --download film`,
    async run({ api }, flags, text) {
      const runId = await getRunId(api, text);
      const parts = await readFilm(api, runId);
      if (flags.download !== undefined) await downloadFilm(api, runId, { ...flags, parts });
      if (flags.json) for (const part of parts) console.log(JSON.stringify(part));
      else if (flags.download === undefined) printParts(parts);
    },
  });
}

type Part = FilmPicture | FilmVideo;

const isVideo = (part: Part): part is FilmVideo => 'ended_at' in part;

async function readFilm(api: ApiClient, runId: string): Promise<Part[]> {
  const parts: Part[] = [];
  const film = readPages(({ cursor = '0' }) =>
    api.call(filmRoutes.list, { params: { id: runId }, query: { cursor } }),
  );
  for await (const { pictures, videos } of film) parts.push(...pictures, ...videos);
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
    'The run has no film. "phalanx run PROJECT --film" records one of each run.',
  );
}

interface WantedParts extends Flags {
  parts: readonly Part[];
}

/** Downloads the film as `0001.jpg`, `0002.mp4` and so on, so that the names sort in the order of the film. */
async function downloadFilm(api: ApiClient, runId: string, wanted: WantedParts): Promise<void> {
  const { parts, download: folder = '.', force, json } = wanted;
  makeNamedFolder(folder);
  for (const part of parts) {
    const number = String(part.number);
    const target = path.join(folder, `${number.padStart(4, '0')}.${isVideo(part) ? 'mp4' : 'jpg'}`);
    if (!force && existsSync(target)) throw usageError(`${target} already exists: --force replaces it.`);
    const content = await api.call(filmRoutes.read, { params: { id: runId, number } });
    await pipeline(piecesOf(content), createWriteStream(target));
    if (!json) console.log(printableLine(target));
  }
}
