import { posix } from 'node:path';

import { readZip } from '../../android/packages/apk.ts';
import { FileSystemError } from '../../adb/services.ts';
import type { FileSystem } from '../../android/file-system.ts';
import { type Process, type Program, readAll } from '../program.ts';

const isOption = (word: string) => word.startsWith('-') && word.length > 1;
const hasFlag = (args: readonly string[], letter: string) =>
  args.some((arg) => isOption(arg) && arg.includes(letter));

/** Runs an action for each path. A failure is reported in toybox's words, and the others still run. */
async function forEachPath(
  process: Process,
  name: string,
  action: (path: string) => Promise<void> | void,
): Promise<number> {
  let exitCode = 0;
  for (const path of process.args.filter((arg) => !isOption(arg))) {
    try {
      await action(path);
    } catch (error) {
      if (!(error instanceof FileSystemError)) throw error;
      await process.stderr.write(`${name}: ${path}: ${error.message}\n`);
      exitCode = 1;
    }
  }
  return exitCode;
}

const cat: Program = async (process) => {
  const { phone, stdout, stdin } = process;
  if (!process.args.some((arg) => !isOption(arg))) {
    for await (const chunk of stdin.iterator({ destroyOnReturn: false }))
      await stdout.write(Buffer.from(chunk));
    return 0;
  }
  return forEachPath(process, 'cat', (path) => stdout.write(phone.android.files.readFile(path)));
};

function longLine(name: string, stat: { mode: number; sizeBytes: number; modifiedSeconds: number }): string {
  const type = (stat.mode & 0o170000) === 0o040000 ? 'd' : '-';
  const bits = Array.from('rwxrwxrwx')
    .map((letter, index) => (stat.mode & (0o400 >> index) ? letter : '-'))
    .join('');
  const date = new Date(stat.modifiedSeconds * 1000).toISOString().slice(0, 16).replace('T', ' ');
  return `${type}${bits} 1 shell shell ${String(stat.sizeBytes).padStart(8)} ${date} ${name}\n`;
}

const ls: Program = async (process) => {
  const { phone, args, stdout } = process;
  const { files } = phone.android;
  const isLong = hasFlag(args, 'l');
  const paths = args.some((arg) => !isOption(arg)) ? args : [...args, '/'];
  return forEachPath({ ...process, args: paths }, 'ls', async (path) => {
    const stat = files.findStat(path);
    if (!stat) throw new FileSystemError('No such file or directory');
    const isListed = files.isDirectory(path) && !hasFlag(args, 'd');
    const entries = isListed ? files.listDirectory(path) : [{ name: path, stat }];
    for (const entry of entries)
      await stdout.write(isLong ? longLine(entry.name, entry.stat) : `${entry.name}\n`);
  });
};

const rm: Program = (process) => {
  const isForced = hasFlag(process.args, 'f');
  const { files } = process.phone.android;
  return forEachPath(process, 'rm', (path) => {
    if (isForced && !files.findStat(path)) return;
    files.remove(path, hasFlag(process.args, 'r') || hasFlag(process.args, 'R'));
  });
};

const mkdir: Program = (process) =>
  forEachPath(process, 'mkdir', (path) =>
    process.phone.android.files.makeDirectory(path, hasFlag(process.args, 'p')),
  );

const touch: Program = (process) =>
  forEachPath(process, 'touch', (path) => process.phone.android.files.appendFile(path, Buffer.alloc(0)));

/** Runs `stat -c %s FILE…`, which prints sizes. */
const stat: Program = (process) =>
  forEachPath({ ...process, args: process.args.filter((arg) => arg !== '%s') }, 'stat', async (path) => {
    const found = process.phone.android.files.findStat(path);
    if (!found) throw new FileSystemError('No such file or directory');
    await process.stdout.write(`${found.sizeBytes}\n`);
  });

/** Runs `dd if=FILE [bs=BYTES] [skip=BLOCKS] [count=BLOCKS]`, which writes to standard output. */
const dd: Program = async ({ phone, args, stdout, stderr }) => {
  const options = new Map(
    args.map((arg): [string, string] => [arg.split('=', 1)[0] ?? '', arg.replace(/^\w+=/, '')]),
  );
  const path = options.get('if') ?? '';
  const blockBytes = Number(options.get('bs') ?? 512);
  const start = Number(options.get('skip') ?? 0) * blockBytes;
  try {
    const content = phone.android.files.readFile(path);
    await stdout.write(
      content.subarray(start, start + Number(options.get('count') ?? Infinity) * blockBytes),
    );
    return 0;
  } catch (error) {
    if (!(error instanceof FileSystemError)) throw error;
    await stderr.write(`dd: ${path}: ${error.message}\n`);
    return 1;
  }
};

/** Copies or moves one file, as `cp` and `mv`. */
const copy =
  (name: string, removeSource: boolean): Program =>
  async ({ phone, args, stderr }) => {
    const [source = '', target = ''] = args.filter((arg) => !isOption(arg));
    const { files } = phone.android;
    try {
      const content = files.readFile(source);
      files.writeFile(files.isDirectory(target) ? `${target}/${source.split('/').at(-1)}` : target, content);
      if (removeSource) files.remove(source, false);
      return 0;
    } catch (error) {
      if (!(error instanceof FileSystemError)) throw error;
      await stderr.write(`${name}: '${source}': ${error.message}\n`);
      return 1;
    }
  };

const tee: Program = async ({ phone, args, stdin, stdout, stderr }) => {
  const content = await readAll(stdin);
  await stdout.write(content);
  try {
    for (const path of args) phone.android.files.writeFile(path, content);
    return 0;
  } catch (error) {
    if (!(error instanceof FileSystemError)) throw error;
    await stderr.write(`tee: ${error.message}\n`);
    return 1;
  }
};

function holds(files: FileSystem, words: readonly string[]): boolean {
  const [first = '', second = '', third = ''] = words;
  if (first === '!') return !holds(files, words.slice(1));
  if (second === '=' || second === '==') return first === third;
  if (second === '!=') return first !== third;
  if (first === '-d') return files.isDirectory(second);
  if (first === '-e' || first === '-f')
    return files.findStat(second) !== undefined && !(first === '-f' && files.isDirectory(second));
  if (first === '-z') return second === '';
  return first === '-n' ? second !== '' : first !== '';
}

/** Runs `test` for a file or two words; `[` is the same with a closing bracket. */
const test: Program = ({ phone, args }) =>
  holds(phone.android.files, args.at(-1) === ']' ? args.slice(0, -1) : args) ? 0 : 1;

/** Runs `unzip -l FILE`, `unzip [-o] [-q] FILE [NAME…] -d FOLDER`. */
const unzip: Program = async ({ phone, args, stdout, stderr }) => {
  const { files } = phone.android;
  const folder = args.includes('-d') ? args[args.indexOf('-d') + 1] : undefined;
  const [archive = '', ...wanted] = args.filter((arg) => !arg.startsWith('-') && arg !== folder);
  try {
    const names: string[] = [];
    const isList = args.includes('-l');
    const unpacked = readZip(files.readFile(archive), (name) => {
      names.push(name);
      return !isList && (wanted.length === 0 || wanted.includes(name));
    });
    for (const [name, content] of unpacked) {
      files.makeDirectory(posix.dirname(`${folder ?? '.'}/${name}`), true);
      files.writeFile(`${folder ?? '.'}/${name}`, content);
    }
    if (isList) await stdout.write(names.map((name) => `0  2026-01-01 00:00   ${name}\n`).join(''));
    return 0;
  } catch (error) {
    await stderr.write(
      `unzip: ${archive}: ${error instanceof FileSystemError ? error.message : 'bad zip file'}\n`,
    );
    return 1;
  }
};

export const filePrograms: readonly (readonly [string, Program])[] = [
  ['cat', cat],
  ['ls', ls],
  ['rm', rm],
  ['mkdir', mkdir],
  ['touch', touch],
  ['stat', stat],
  ['chmod', () => 0],
  ['cp', copy('cp', false)],
  ['mv', copy('mv', true)],
  ['dd', dd],
  ['tee', tee],
  ['unzip', unzip],
  ['test', test],
  ['[', test],
];
