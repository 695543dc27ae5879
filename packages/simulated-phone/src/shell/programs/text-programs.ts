import { FileSystemError } from '../../adb/services.ts';
import { type Process, type Program, readAll } from '../program.ts';

const maxLineLength = 10_000;
const maxPatternLength = 200;

function toLines(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** Reads the text of the named file, or of standard input. */
async function readText({ phone, stdin }: Process, path: string | undefined): Promise<string> {
  const bytes = path === undefined ? await readAll(stdin) : phone.android.files.readFile(path);
  return bytes.toString('utf8');
}

/** Yields the lines of the named file, or of standard input as they arrive. */
async function* readLines(process: Process, path: string | undefined): AsyncGenerator<string> {
  if (path !== undefined) {
    yield* toLines(await readText(process, path));
    return;
  }
  let rest = '';
  for await (const chunk of process.stdin.iterator({ destroyOnReturn: false })) {
    const lines = (rest + String(chunk)).split('\n');
    rest = (lines.pop() ?? '').slice(0, maxLineLength);
    yield* lines;
  }
  if (rest !== '') yield rest;
}

/** Parses `-n N`, `-N` or neither (ten lines), and the file. */
function endOptions(args: readonly string[]): { count: number; path: string | undefined } {
  const [first = '', second] = args;
  const isShort = /^-n?\d+$/.test(first);
  const count = first === '-n' ? Number(second) : isShort ? Number(first.replace(/^-n?/, '')) : 10;
  return { count, path: args.find((arg, index) => !arg.startsWith('-') && args[index - 1] !== '-n') };
}

/** Ends after its last line, so that it terminates an endless program. */
const head: Program = async (process) => {
  const { count, path } = endOptions(process.args);
  let printed = 0;
  if (count <= 0) return 0;
  for await (const line of readLines(process, path)) {
    await process.stdout.write(`${line}\n`);
    if (++printed >= count) break;
  }
  return 0;
};

const tail: Program = async (process) => {
  const { count, path } = endOptions(process.args);
  const lines = toLines(await readText(process, path));
  for (const line of count > 0 ? lines.slice(-count) : []) await process.stdout.write(`${line}\n`);
  return 0;
};

interface GrepOptions {
  readonly flags: string;
  readonly pattern: string;
  readonly path: string | undefined;
}

function grepOptions(args: readonly string[]): GrepOptions {
  const flags = args.filter((arg) => /^-[a-zA-Z]+$/.test(arg)).join('');
  const [pattern = '', path] = args.filter((arg) => !/^-[a-zA-Z]+$/.test(arg));
  return { flags, pattern, path };
}

/**
 * Returns a test for lines; undefined for an invalid pattern or one that could run for very long. A pattern may have
 * at most two repetitions and none of a group, so that matching a line takes bounded time.
 */
function findMatcher({ flags, pattern }: GrepOptions): ((line: string) => boolean) | undefined {
  const fold = (line: string) => (flags.includes('i') ? line.toLowerCase() : line);
  if (flags.includes('x') && flags.includes('F')) return (line) => fold(line) === fold(pattern);
  if (flags.includes('F') || !/[\\^$.*+?()[\]{}|]/.test(pattern))
    return (line) => fold(line).includes(fold(pattern));
  const repetitions = pattern.match(/[*+{]/g)?.length ?? 0;
  if (pattern.length > maxPatternLength || repetitions > 2 || /\)[*+{]/.test(pattern)) return undefined;
  const source = flags.includes('E') ? pattern : pattern.replace(/\\([|(){}+?])/g, '$1');
  try {
    const expression = new RegExp(source, flags.includes('i') ? 'iu' : 'u');
    return (line) => expression.test(line);
  } catch {
    return undefined;
  }
}

const grep: Program = async (process) => {
  const options = grepOptions(process.args);
  const isMatch = findMatcher(options);
  if (!isMatch) {
    await process.stderr.write(`grep: bad REGEX '${options.pattern}'\n`);
    return 2;
  }
  const has = (flag: string) => options.flags.includes(flag);
  let found = 0;
  for await (const line of readLines(process, options.path)) {
    if (isMatch(line.slice(0, maxLineLength)) === has('v')) continue;
    found += 1;
    if (has('q')) break;
    if (!has('c')) await process.stdout.write(`${line}\n`);
  }
  if (has('c')) await process.stdout.write(`${found}\n`);
  return found > 0 ? 0 : 1;
};

const wc: Program = async (process) => {
  const path = process.args.find((arg) => !arg.startsWith('-'));
  const content = await readText(process, path);
  const count = process.args.includes('-c') ? Buffer.byteLength(content) : content.split('\n').length - 1;
  await process.stdout.write(`${count}\n`);
  return 0;
};

const tr: Program = async (process) => {
  const content = await readText(process, undefined);
  const [first = '', second = ''] = process.args;
  const from = (first === '-d' ? second : first).replace('\\r', '\r').replace('\\n', '\n');
  await process.stdout.write(content.replaceAll(from, first === '-d' ? '' : second));
  return 0;
};

/** Reports a missing file in toybox's words. */
const reporting = (name: string, program: Program): readonly [string, Program] => [
  name,
  async (process) => {
    try {
      return await program(process);
    } catch (error) {
      if (!(error instanceof FileSystemError)) throw error;
      await process.stderr.write(`${name}: ${error.message}\n`);
      return 1;
    }
  },
];

export const textPrograms: readonly (readonly [string, Program])[] = [
  reporting('head', head),
  reporting('tail', tail),
  reporting('grep', grep),
  reporting('egrep', (process) => grep({ ...process, args: ['-E', ...process.args] })),
  reporting('wc', wc),
  ['tr', tr],
];
