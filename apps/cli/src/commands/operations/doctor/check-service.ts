import { once } from 'node:events';
import { constants, existsSync } from 'node:fs';
import { access, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { openConfinement } from '@phalanx/confinement';
import { healthRoutes } from '@phalanx/protocol';
import { explainListenError, prepareGit } from '@phalanx/server';
import { parseServerConfig } from '@phalanx/server/config';
import {
  type Address,
  dataDir,
  type Environment,
  explainFolder,
  formatAddress,
  freeBytesOf,
  errorText,
} from '@phalanx/settings';

import { environment } from '../../../config.ts';
import { clientFor } from '../../../connection/client-for.ts';
import { type Finding, note, ok, problem } from './finding.ts';

/** Free bytes. Below `min` the service soon cannot store data; below `enough` an operator should free space. */
const freeBytes = { min: 200_000_000, enough: 2_000_000_000 };

/**
 * Checks the needs of a service on this machine: its settings, git, a folder, an address, the confinement of user code.
 * Throws a `SettingError` for a setting that the service would not start with.
 */
export async function checkService(settings: Environment): Promise<Finding[]> {
  const config = parseServerConfig(settings);
  return [
    ok('Node', `${process.version}, at ${process.execPath}.`),
    tellSettings(settings),
    await checkGit(),
    await checkDataFolder(config.dataDir),
    await checkAddress(config.listen),
    await checkConfinement(),
  ];
}

function tellSettings(settings: Environment): Finding {
  const given = Object.keys(settings).filter((name) => name.startsWith('PHALANX_'));
  return ok(
    'settings',
    given.length === 0 ? 'All settings have their defaults.' : `Set: ${given.sort().join(', ')}.`,
  );
}

async function checkGit(): Promise<Finding> {
  const folder = await mkdtemp(path.join(tmpdir(), 'phalanx-doctor-'));
  try {
    const { unconfinedBecause } = await prepareGit(folder, environment['PATH'] ?? '');
    return unconfinedBecause === undefined
      ? ok('git', 'git is new enough, and runs confined.')
      : note('git', `git is new enough. ${unconfinedBecause}`);
  } catch (error) {
    return problem('git', `${errorText(error)} On Debian and Ubuntu: "sudo apt install git".`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Checks the folder without writing: it may belong to a running service, or not exist before the first start. */
async function checkDataFolder(folder: string): Promise<Finding> {
  const part = 'data folder';
  const there = existingAbove(path.resolve(folder));
  try {
    await access(there, constants.W_OK | constants.X_OK);
  } catch (error) {
    return problem(part, errorText(explainFolder(error, { setting: dataDir.name, folder })));
  }
  const free = await freeBytesOf(there);
  const text = `${path.resolve(folder)}${existsSync(folder) ? '' : ' (created at the first start)'}: ${inGigabytes(free)} are free.`;
  if (free < freeBytes.min)
    return problem(part, `${text} Free some space, or set ${dataDir.name} to a folder on a larger disk.`);
  return free < freeBytes.enough
    ? note(part, `${text} Records and films of a few days need more.`)
    : ok(part, text);
}

const existingAbove = (folder: string): string =>
  existsSync(folder) || path.dirname(folder) === folder ? folder : existingAbove(path.dirname(folder));

const inGigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(1)} GB`;

async function checkAddress(address: Address): Promise<Finding> {
  const part = 'address';
  const server = createServer();
  try {
    server.listen(address.port, address.host);
    await once(server, 'listening');
    return ok(part, `${formatAddress(address)} is free.`);
  } catch (error) {
    const url = `http://${formatAddress(address)}`;
    return (await isPhalanx(url))
      ? ok(part, `Phalanx runs at ${url}.`)
      : problem(part, errorText(explainListenError(error, address)));
  } finally {
    server.close();
  }
}

const isPhalanx = (url: string): Promise<boolean> =>
  clientFor(url)
    .call(healthRoutes.alive)
    .then(
      () => true,
      () => false,
    );

async function checkConfinement(): Promise<Finding> {
  const { holds, description } = await openConfinement();
  return holds ? ok('confinement', description) : problem('confinement', description);
}
