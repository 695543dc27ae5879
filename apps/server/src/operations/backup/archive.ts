import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readdir, readFile, writeFile, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text as textOf } from 'node:stream/consumers';

import { SettingError } from '@phalanx/settings';
import { Type, type Static } from 'typebox';
import { Compile } from 'typebox/compile';

const manifestFile = 'manifest.json';
/** Name of the checksum file, in the format of `sha256sum --check`. */
const sumsFile = 'SHA256SUMS';

const Manifest = Type.Object({
  format: Type.Literal(1),
  created_at: Type.String(),
  /**
   * Kind of the database. The archive contains the tables of `sqlite`; those of `postgresql` are backed up elsewhere.
   */
  database: Type.Union([Type.Literal('sqlite'), Type.Literal('postgresql')]),
  files: Type.Integer(),
  sums_sha256: Type.String(),
});
export type Manifest = Static<typeof Manifest>;
const manifestCheck = Compile(Manifest);

/** Writes the checksums and the manifest of the files in `folder` into it. */
export async function writeManifest(
  folder: string,
  about: Pick<Manifest, 'created_at' | 'database'>,
): Promise<Manifest> {
  const file = path.join(folder, sumsFile);
  const names = await filesBelow(folder);
  const sums = await open(file, 'wx', 0o600);
  try {
    for (const name of names) await sums.write(`${await hashOf(path.join(folder, name))}  ${name}\n`);
  } finally {
    await sums.close();
  }
  const manifest: Manifest = {
    format: 1,
    ...about,
    files: names.length,
    sums_sha256: await hashOf(file),
  };
  await writeFile(path.join(folder, manifestFile), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 });
  return manifest;
}

export const manifestFiles: readonly string[] = [manifestFile, sumsFile];

/** Verifies that `folder` contains exactly the files of its manifest. Throws a `SettingError` otherwise. */
export async function verifyManifest(folder: string): Promise<Manifest> {
  const names = await filesBelow(folder);
  if (!manifestFiles.every((name) => names.includes(name))) throw broken('it has no manifest');
  const manifest = parse(await readFile(path.join(folder, manifestFile), 'utf8'));
  const sums = await readFile(path.join(folder, sumsFile), 'utf8');
  if (createHash('sha256').update(sums).digest('hex') !== manifest.sums_sha256)
    throw broken(`${sumsFile} is damaged`);
  const rows = sums.split('\n').slice(0, -1);
  const known = new Set(names);
  for (const row of rows) {
    const name = row.slice(66);
    if (!known.has(name)) throw broken(`${name} is missing`);
    if ((await hashOf(path.join(folder, name))) !== row.slice(0, 64)) throw broken(`${name} is damaged`);
  }
  if (rows.length !== manifest.files || names.length !== rows.length + manifestFiles.length)
    throw broken('it has files that are not in its manifest');
  return manifest;
}

export const broken = (problem: string, cause?: unknown): SettingError =>
  new SettingError(`The archive is not a complete backup: ${problem}. Nothing was restored.`, { cause });

function parse(text: string): Manifest {
  try {
    const manifest: unknown = JSON.parse(text);
    if (manifestCheck.Check(manifest)) return manifest;
  } catch (error) {
    throw broken('its manifest is damaged', error);
  }
  throw broken('its manifest is of another release');
}

async function filesBelow(folder: string): Promise<string[]> {
  const names: string[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    const name = path.relative(folder, path.join(entry.parentPath, entry.name));
    if (entry.isFile()) names.push(name);
    else if (!entry.isDirectory()) throw broken(`${name} is neither a file nor a folder`);
  }
  return names.sort();
}

async function hashOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(file)) if (Buffer.isBuffer(piece)) hash.update(piece);
  return hash.digest('hex');
}

/** Runs the system's tar. Throws an error with tar's message when it fails. */
async function runTar(args: readonly string[], output: FileHandle | undefined): Promise<void> {
  const child = spawn('tar', args, { stdio: ['ignore', output?.fd ?? 'ignore', 'pipe'] });
  const said = child.stderr === null ? '' : textOf(child.stderr);
  await once(child, 'close').catch((error: unknown) => {
    throw new SettingError('The program tar cannot be started: install it.', { cause: error });
  });
  if (child.exitCode !== 0) throw new Error(`tar failed: ${(await said).trim().split('\n')[0] ?? ''}`);
}

/** Writes the named entries of `folder` to an archive. */
export const packFolder = (folder: string, names: readonly string[], output: FileHandle): Promise<void> =>
  runTar(['--create', '--file', '-', '--directory', folder, '--', ...names], output);

/** Unpacks files with this user as the owner, regardless of the owners and permissions in the archive. */
export const unpackInto = (folder: string, archive: string): Promise<void> =>
  runTar(
    ['--extract', '--file', archive, '--directory', folder, '--no-same-owner', '--no-same-permissions'],
    undefined,
  );
