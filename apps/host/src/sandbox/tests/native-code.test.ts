/** Compromised sandbox process: the tests load real native code into it, as an exploit of the engine would. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { openConfinement } from '@phalanx/confinement';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { spawnSandboxChild, type SandboxChild } from '../process/confined-child.ts';

const run = promisify(execFile);
const confinement = await openConfinement();
const hasCompiler = await run('gcc', ['--version']).then(
  () => true,
  () => false,
);
/** Attempts that succeed without a mount namespace: names, sizes and times are visible; everything else is refused. */
const hasOwnRoot = confinement.description.includes('a root of its own');
const seenWithoutRoot = [
  'see a file of the host',
  'see the folder of the host',
  'ask for access to a file of the host',
  'see the disk of the host',
];
const missing = [
  ...(hasCompiler ? [] : ['gcc (Debian: apt-get install gcc)']),
  ...(confinement.holds ? [] : ['confinement']),
];
if (missing.length > 0)
  console.error(`!!! NOT TESTED: native code in a sandbox process, for want of ${missing.join(', ')}`);

it.runIf(process.env['CI'] !== undefined)('native code is tried where CI runs', () => {
  expect(missing).toEqual([]);
});

const folder = mkdtempSync(path.join(tmpdir(), 'phalanx-native-'));
// Separate folder: a sandbox process that may read the library knows the folders above it.
const libraryFolder = mkdtempSync(path.join(tmpdir(), 'phalanx-probes-'));
const library = path.join(libraryFolder, 'probes.node');
const secret = path.join(folder, 'secret');
const service = createServer((socket) => socket.destroy());
let connections = 0;
service.on('connection', () => (connections += 1));
const children: SandboxChild[] = [];

/** Starts a child whose program is `main`, before any isolate exists. */
function startChild(main: string): SandboxChild {
  const program = `exports.main = async () => { ${main} };`;
  const readablePaths = [path.dirname(library)];
  const bundles = { program, snapshot: new Uint8Array(), isolatedVmPath: 'node:path', readablePaths };
  const child = spawnSandboxChild({ bundles, confinement, serveFetches: async () => undefined }, 64);
  children.push(child);
  return child;
}

/** Loading the library suffices: Node rejects it as a module only after its constructor has run. */
const load = `try { process.dlopen({ exports: {} }, ${JSON.stringify(library)}) } catch {}`;

const outcomesIn = (printed: string): Map<string, string> =>
  new Map(
    [...printed.matchAll(/^(.+): (done|refused \d+|connected|missing)$/gm)].map(([, one = '', how = '']) => [
      one,
      how,
    ]),
  );

async function build(siblingId: number): Promise<void> {
  const { port } = service.address() as AddressInfo;
  const source = path.join(import.meta.dirname, '..', 'testing', 'native-probes.c');
  const given = { HOST: process.pid, SIBLING: siblingId, PORT: port };
  const texts = { SECRET: secret, FOLDER: folder };
  const flags = [
    ...Object.entries(given).map(([name, value]) => `-D${name}=${value}`),
    ...Object.entries(texts).map(([name, value]) => `-D${name}=${JSON.stringify(value)}`),
  ];
  await run('gcc', ['-shared', '-fPIC', '-O1', '-o', library, source, ...flags]);
}

beforeAll(async () => {
  writeFileSync(secret, 'secret');
  writeFileSync(`${secret}.more`, 'secret');
  await once(service.listen(0, '127.0.0.1'), 'listening');
});
afterAll(() => {
  for (const child of children) child.kill();
  service.close();
  for (const each of [folder, libraryFolder]) rmSync(each, { recursive: true });
});

describe.runIf(missing.length === 0)('native code in a sandbox process', () => {
  it('reaches nothing but the broker, and the same code everything where nothing holds it', async () => {
    const sibling = startChild('await new Promise(() => setInterval(() => {}, 1000))');
    await build(sibling.pid ?? 0);
    // Leaves a file open in the host. It must not be open in the child either.
    openSync(secret, 'r');
    const { stderr } = await startChild(`${load}; process.exit()`).exited;
    const outcomes = outcomesIn(stderr);
    const done = [...outcomes].filter(([, how]) => how === 'done').map(([name]) => name);
    expect(done).toEqual(hasOwnRoot ? [] : seenWithoutRoot);
    expect(outcomes.get('broker')).toBe('connected');
    expect(outcomes.size).toBe(35);
    expect([connections, existsSync(`${secret}.more`), existsSync(path.join(folder, 'made'))]).toEqual([
      0,
      true,
      false,
    ]);

    const free = await run(process.execPath, ['--eval', load]);
    const reached = [...outcomesIn(free.stderr)].filter(([, how]) => how === 'done').map(([name]) => name);
    expect(reached).toContain('read a file of the host');
    expect(reached).toContain('signal the host');
    expect(reached).toContain('see a file of the host');
    expect(reached).toContain('change the mode of a file');
    expect(reached).toContain('watch the folder of the host');
    expect(reached).toContain('connect to this machine');
    expect(reached.length).toBeGreaterThan(12);
  });
});
