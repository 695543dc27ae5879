import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { nodeFiles, openConfinement, type Policy } from './index.ts';

const run = promisify(execFile);
const confinement = await openConfinement();
const folder = mkdtempSync(path.join(tmpdir(), 'phalanx-confinement-'));
const secret = path.join(folder, 'secret');
const service = createServer((socket) => socket.end());
const perl = '/usr/bin/perl';

beforeAll(async () => {
  writeFileSync(secret, 'secret');
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  service.close();
  rmSync(folder, { recursive: true });
});

/** Runs a program like a sandbox process, but without Node's own restrictions, and returns its output. */
async function confined(
  program: string,
  args: readonly string[],
  more: Partial<Policy> = {},
): Promise<string> {
  const node = nodeFiles();
  const policy = { ...node, runnable: [...node.runnable, program], ...more };
  const wrapped = confinement.wrap({ program, args }, policy);
  const env = { OPENSSL_CONF: '/dev/null', SECRET: 'of the host' };
  const { stdout } = await run(wrapped.program, wrapped.args, { env, cwd: '/', timeout: 20_000 });
  return stdout.trim();
}

const inNode = (code: string, more?: Partial<Policy>): Promise<string> =>
  confined(
    process.execPath,
    ['--eval', `(async () => { ${code} })().catch((e) => console.log(e.code ?? e.message))`],
    more,
  );

/** Makes a system call from native code, as compromised code would, by its number and arguments. */
async function systemCall(call: string, more?: Partial<Policy>): Promise<string> {
  const code = `my $r = syscall(${call}); print $r < 0 ? "refused " . ($!+0) : "done"`;
  const perlFiles = { readable: [...nodeFiles().readable, '/usr/lib', '/usr/share/perl'] };
  return confined(perl, ['-e', code], { ...perlFiles, ...more });
}

const numbers: Record<string, Record<string, number>> = {
  x64: {
    ptrace: 101,
    process_vm_readv: 310,
    socket: 41,
    unshare: 272,
    bpf: 321,
    io_uring_setup: 425,
    kill: 62,
    mount: 165,
    keyctl: 250,
    memfd_create: 319,
    prlimit64: 302,
    clone: 56,
    pidfd_open: 434,
    setns: 308,
    execveat: 322,
    reboot: 169,
    perf_event_open: 298,
    userfaultfd: 323,
    chroot: 161,
    personality: 135,
    setsid: 112,
    setpgid: 109,
    fchmodat: 268,
    fchownat: 260,
    utimensat: 280,
    setxattr: 188,
    removexattr: 197,
    chdir: 80,
    inotify_init1: 294,
  },
  arm64: {
    ptrace: 117,
    process_vm_readv: 270,
    socket: 198,
    unshare: 97,
    bpf: 280,
    io_uring_setup: 425,
    kill: 129,
    mount: 40,
    keyctl: 219,
    memfd_create: 279,
    prlimit64: 261,
    clone: 220,
    pidfd_open: 434,
    setns: 268,
    execveat: 281,
    reboot: 142,
    perf_event_open: 241,
    userfaultfd: 282,
    chroot: 51,
    personality: 92,
    setsid: 157,
    setpgid: 154,
    fchmodat: 53,
    fchownat: 54,
    utimensat: 88,
    setxattr: 5,
    removexattr: 14,
    chdir: 49,
    inotify_init1: 26,
  },
};
const number = (name: string): number => numbers[process.arch]?.[name] ?? -1;

if (!confinement.holds) console.error(`!!! NOT TESTED: confinement. ${confinement.description}`);

it.runIf(process.env['CI'] !== undefined)('confinement holds where CI runs', () => {
  expect(confinement.description).toMatch(/^User code is confined by Landlock/);
});

describe.runIf(confinement.holds)('a process that was taken over', () => {
  it.each([
    ['read a file', () => `require('node:fs').readFileSync('${secret}')`],
    ['list a folder', () => `require('node:fs').readdirSync('/')`],
    ['write a file', () => `require('node:fs').writeFileSync('${folder}/new', '')`],
    ['make a folder', () => `require('node:fs').mkdirSync('${folder}/new')`],
    ['remove a file', () => `require('node:fs').unlinkSync('${secret}')`],
    [
      'read the environment of its host',
      () => `require('node:fs').readFileSync('/proc/' + process.ppid + '/environ')`,
    ],
    ['read the memory of its host', () => `require('node:fs').openSync('/proc/' + process.ppid + '/mem')`],
    ['list the processes', () => `require('node:fs').readdirSync('/proc')`],
    ['signal its host', () => `process.kill(process.ppid, 0)`],
    ['start a program', () => `require('node:child_process').execFileSync('/bin/true')`],
    ['start itself again', () => `require('node:child_process').execFileSync(process.execPath, ['-v'])`],
    ['load a library of its own', () => `process.dlopen({ exports: {} }, '${secret}')`],
    ['make a database', () => `new (require('node:sqlite').DatabaseSync)('${folder}/own.db')`],
  ])('can not %s', async (_, attempt) => {
    const said = await inNode(`${attempt()}; console.log('done')`);
    expect(said).not.toContain('done');
    expect(readFileSync(secret, 'utf8')).toBe('secret');
  });

  it('can not connect to a service of this machine, nor listen, nor look up a name', async () => {
    const { port } = service.address() as AddressInfo;
    const said = await inNode(`
      const net = require('node:net');
      const tell = (name) => [(e) => console.log(name, e?.code ?? 'done')];
      net.connect(${port}, '127.0.0.1').on('connect', ...tell('connect')).on('error', ...tell('connect'));
      net.createServer().on('error', ...tell('listen')).listen(0, ...tell('listen'));
      require('node:dns').lookup('localhost', ...tell('lookup'));
      require('node:dgram').createSocket('udp4').on('error', ...tell('udp')).bind(0, ...tell('udp'));
    `).catch((error: { stdout: string }) => error.stdout);
    expect(said).not.toContain('done');
  });

  it.each([
    ['trace another process', 'ptrace', '16, getppid(), 0, 0'],
    ['read the memory of another process', 'process_vm_readv', 'getppid(), 0, 0, 0, 0, 0'],
    ['make a socket of the network', 'socket', '2, 1, 0'],
    ['make a local socket', 'socket', '1, 1, 0'],
    ['make a raw netlink socket', 'socket', '16, 3, 0'],
    ['make a namespace', 'unshare', '0x10000000'],
    ['enter a namespace', 'setns', '3, 0'],
    ['load a program into the kernel', 'bpf', '0, 0, 0'],
    ['make an io_uring', 'io_uring_setup', '1, 0'],
    ['signal its host', 'kill', 'getppid(), 0'],
    ['signal everybody', 'kill', '-1, 0'],
    ['mount', 'mount', '0, 0, 0, 0, 0'],
    ['use the keyring', 'keyctl', '0, -3, 1'],
    ['make a file of memory to execute', 'memfd_create', '"x", 0'],
    ['execute by descriptor', 'execveat', '0, "", 0, 0, 0x1000'],
    ['change the limits of its host', 'prlimit64', 'getppid(), 7, 0, 0'],
    ['fork', 'clone', '17, 0, 0, 0, 0'],
    ['open another process', 'pidfd_open', 'getppid(), 0'],
    ['watch the processor', 'perf_event_open', '0, 0, -1, -1, 0'],
    ['handle its own page faults', 'userfaultfd', '0'],
    ['change its root', 'chroot', '"/"'],
    ['change its execution domain', 'personality', '0'],
    ['make a session', 'setsid', ''],
    ['leave its process group', 'setpgid', '0, 0'],
    ['change the mode of a file', 'fchmodat', `-100, "${secret}", 0777`],
    ['change the owner of a file', 'fchownat', `-100, "${secret}", ${process.getuid?.()}, -1, 0`],
    ['change the times of a file', 'utimensat', `-100, "${secret}", 0, 0`],
    ['set an attribute of a file', 'setxattr', `"${secret}", "user.x", "x", 1, 0`],
    ['remove an attribute of a file', 'removexattr', `"${secret}", "user.x"`],
    ['change into a folder', 'chdir', `"${folder}"`],
    ['watch files', 'inotify_init1', '0'],
  ])('can not %s by a system call', async (_, call, args) => {
    expect(await systemCall(`${number(call)}, ${args.replaceAll(/"([^"]*)"/g, 'my $s = "$1"')}`)).toMatch(
      /^refused (1|13|38)$/,
    );
  });

  it('keeps what its policy gives: its own files, threads, and its own signals', async () => {
    const readable = [...nodeFiles().readable, secret];
    expect(
      await inNode(`console.log(require('node:fs').readFileSync('${secret}', 'utf8'))`, { readable }),
    ).toBe('secret');
    expect(
      await inNode(
        `new (require('node:worker_threads').Worker)('process.exit()', { eval: true }).on('exit', () => console.log('thread'))`,
      ),
    ).toBe('thread');
    expect(await inNode(`console.log(process.kill(process.pid, 0))`)).toBe('true');
  });

  it('may write only below the folders that its policy names', async () => {
    const writable = [folder];
    expect(
      await inNode(
        `const fs = require('node:fs'); fs.mkdirSync('${folder}/made'); fs.writeFileSync('${folder}/made/a', 'x'); fs.renameSync('${folder}/made/a', '${folder}/made/b'); fs.rmSync('${folder}/made', { recursive: true }); console.log('done'); fs.writeFileSync('/tmp/phalanx-outside', '')`,
        { writable },
      ),
    ).toBe('done\nEACCES');
  });

  it('may start processes where its policy says so, and they are as confined as it is', async () => {
    const said = await inNode(
      `const { execFileSync } = require('node:child_process'); console.log(execFileSync(process.execPath, ['-e', "try { require('fs').readFileSync('${secret}') } catch (e) { console.log(e.code) }"], { encoding: 'utf8', env: process.env }))`,
      { processes: true },
    );
    expect(said).toBe('EACCES');
  });

  it.runIf(confinement.description.includes('a root of its own'))(
    'sees nothing but its own files in a root of its own, and can not change even those',
    async () => {
      const readable = [...nodeFiles().readable, secret];
      const code = `const fs = require('node:fs');
        for (const file of ['${secret}', '${folder}/other', '/bin', '/proc/1', '/home'])
          console.log(fs.existsSync(file));
        fs.truncateSync('${secret}')`;
      writeFileSync(path.join(folder, 'other'), '');
      expect(await inNode(code, { readable, ownRoot: true })).toBe('true\nfalse\nfalse\nfalse\nfalse\nEROFS');
    },
  );

  it('inherits no descriptor beyond those of its policy', async () => {
    const code = `const fs = require('node:fs'); for (const fd of fs.readdirSync('/proc/self/fd')) try { console.log(fs.readlinkSync('/proc/self/fd/' + fd)) } catch {}`;
    const { program, args } = confinement.wrap(
      { program: process.execPath, args: ['--eval', code] },
      nodeFiles(),
    );
    const shell = ['-c', `exec 8<'${secret}' 9<'${secret}'; exec "$@"`, 'sh', program, ...args];
    const { stdout } = await run('/bin/sh', shell, { env: { OPENSSL_CONF: '/dev/null' } });
    expect(stdout).toContain('pipe:');
    expect(stdout).not.toContain(secret);
  });

  it('gets no more memory than its policy gives', async () => {
    // Untouched memory counts against the limit, and takes no time to allocate.
    const code = `const all = []; for (;;) all.push(Buffer.allocUnsafeSlow(64 << 20))`;
    expect(await inNode(code, { maxDataBytes: 1 << 30 })).toBe('ERR_MEMORY_ALLOCATION_FAILED');
  });
});

describe('a machine that can not confine', () => {
  it('is told so, with the reason and what it means, and things run unconfined', async () => {
    const nothing = await openConfinement({ launcher: path.join(folder, 'no-launcher') });
    expect(nothing.holds).toBe(false);
    expect(nothing.description).toMatch(/NOT confined.*ENOENT.*only code that you trust/);
    const start = { program: 'node', args: ['-v'] };
    expect(nothing.wrap(start, { readable: [], runnable: [] })).toBe(start);
  });

  it('is found out by trying: a launcher that holds nothing is not believed', async () => {
    const liar = path.join(folder, 'liar');
    writeFileSync(
      liar,
      `#!/bin/sh\n[ "$1" = --probe ] && echo "landlock=7 seccomp=1" && exit\nwhile [ "$1" != -- ]; do shift; done; shift; exec "$@"\n`,
      { mode: 0o755 },
    );
    const found = await openConfinement({ launcher: liar });
    expect(found.holds).toBe(false);
    expect(found.description).toContain('still reached: files, other processes, new processes, sockets');
  });
});

describe('the launcher in the repository', () => {
  const native = path.join(import.meta.dirname, '..', 'native');
  const build = async (compiler: string, to: string): Promise<Buffer> => {
    await run(path.join(native, 'build.sh'), [to], { env: { PATH: process.env['PATH'], CC: compiler } });
    return readFileSync(to);
  };
  const versionOf = (compiler: string): Promise<string> =>
    run(compiler, ['-dumpfullversion']).then(
      ({ stdout }) => stdout.trim(),
      () => 'not installed',
    );

  it.each([
    ['x64', 'x86_64-linux-gnu-gcc'],
    ['arm64', 'aarch64-linux-gnu-gcc'],
  ])('for %s is what its source gives', async (architecture, compiler) => {
    const version = await versionOf(compiler);
    // Another compiler version produces other bytes.
    if (version !== '12.2.0') return console.error(`!!! NOT TESTED: ${compiler} 12.2.0 is ${version}`);
    const built = await build(compiler, path.join(folder, architecture));
    expect(built.equals(readFileSync(path.join(native, `confine-linux-${architecture}`)))).toBe(true);
  });
});
