import { chownSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { environment, handedOn, starter } from '../config.ts';
import { goOn } from './handed-on.ts';
import { endWithStarter, parentVariable } from './starter.ts';
import { become, prepareUser, type User } from './unprivileged-user.ts';

const secretNames = [
  'PHALANX_TOKEN',
  'PHALANX_ADMIN_TOKEN',
  'PHALANX_DATABASE_URL',
  'PHALANX_NATS_URL',
  'PHALANX_S3_SECRET_KEY',
];
/** The commands that stay, and work on what users wrote. */
const services: readonly string[] = ['start', 'server', 'host', 'demo'];

/** For the operator, once the service runs. */
let startNotice: string | undefined = handedOn?.notice;

export function tellOfStart(): void {
  if (startNotice !== undefined) console.error(startNotice);
}

/**
 * Starts the service once more when it has root's rights, or secrets in its environment: without them. Returns when
 * there is nothing to leave behind, or no way to do it.
 */
export async function startAnew([command = '', ...args]: readonly string[]): Promise<void> {
  if (!services.includes(command) || /^(-h|--help)$/m.test(args.join('\n'))) return;
  endWithStarter(starter);
  if (handedOn !== undefined) return;
  const dataDir = command === 'demo' ? undefined : dataDirOf(args);
  const isRoot = process.getuid?.() === 0;
  const secrets = readSecrets(isRoot);
  // The user may not write beside the sources, and would build it at each start. What fails is told there.
  if (isRoot && command !== 'host') {
    const { prepareConsole } = await import('@phalanx/console');
    await prepareConsole().catch(() => undefined);
  }
  const user = isRoot ? leaveRoot(dataDir) : undefined;
  if (user === undefined && Object.keys(secrets).length === 0) return;
  const bare = Object.fromEntries(
    Object.entries(environment).filter(([name]) => !secretNames.includes(name)),
  );
  // The folder of root is closed to others.
  const env = {
    ...bare,
    ...(user !== undefined && { HOME: dataDir ?? '/', ...user.cache }),
    ...(starter !== undefined && { [parentVariable]: String(starter) }),
  };
  goOn(env, { secrets, ...(startNotice !== undefined && { notice: startNotice }) });
}

/** Node's own setting. */
const compileCache = 'NODE_COMPILE_CACHE';

/** What root has cached is closed to others. */
function openCompileCache({ uid, gid }: User): Record<string, string> {
  const ofRoot = environment[compileCache];
  if (!ofRoot) return {};
  const folder = `${ofRoot}-${uid}`;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chownSync(folder, uid, gid);
  return { [compileCache]: folder };
}

function leaveRoot(dataDir: string | undefined): (User & { cache: Record<string, string> }) | undefined {
  try {
    const user = prepareUser(dataDir);
    const cache = openCompileCache(user);
    become(user);
    const owned = dataDir === undefined ? '' : `, who owns ${dataDir} from now on`;
    startNotice = `WARNING: started as root, which Phalanx does not need: it works as user ${user.uid}${owned}. Better give it a user of its own.`;
    return { ...user, cache };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    startNotice = `WARNING: Phalanx runs as root, and cannot work as another user: ${reason}. Give it a user of its own. Only what works on user code, git and compiling gives up root's rights, where the operating system can confine it.`;
    return undefined;
  }
}

/** Those of the environment; and of files that only root can read. */
function readSecrets(isRoot: boolean): Record<string, string> {
  const found: [string, string][] = [];
  for (const name of secretNames) {
    const file = environment[`${name}_FILE`];
    const text = environment[name] || (isRoot && file ? tryRead(file) : undefined);
    if (text) found.push([name, text]);
  }
  return Object.fromEntries(found);
}

/** What can't be read is told where the setting is parsed. */
function tryRead(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return undefined;
  }
}

/** Before the command line is parsed: that takes the whole service to be loaded. */
function dataDirOf(args: readonly string[]): string {
  const at = args.findIndex((arg) => /^--data-dir(=|$)/.test(arg));
  const given = at < 0 ? undefined : (/=(.*)$/.exec(args[at] ?? '')?.[1] ?? args[at + 1]);
  return path.resolve(given || environment['PHALANX_DATA_DIR']?.trim() || './data');
}
