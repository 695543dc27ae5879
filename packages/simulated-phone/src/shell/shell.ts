import { PassThrough, Readable } from 'node:stream';
import type { RunCommandLine, ShellIo, ShellOutput } from '../adb/shell-service.ts';
import { FileSystemError } from '../adb/services.ts';
import { BrokenPipeError, writeTo } from '../adb/write-to.ts';
import type { FileSystem } from '../android/file-system.ts';
import type { Phone } from '../phone.ts';
import {
  type Command,
  type List,
  parseCommandLine,
  type Pipeline,
  type Word,
  ShellSyntaxError,
} from './parse.ts';
import type { Program } from './program.ts';
import { am, monkey } from './programs/am.ts';
import { appProcess } from './programs/app-process.ts';
import { cmd, appops, service, ime, settings } from './programs/service-commands.ts';
import { content } from './programs/content.ts';
import { dumpsys } from './programs/dumpsys.ts';
import { filePrograms } from './programs/file-programs.ts';
import { input } from './programs/input.ts';
import { pm } from './programs/pm.ts';
import { plainPrograms } from './programs/plain-programs.ts';
import { screencap, uiautomator } from './programs/screen-programs.ts';
import { textPrograms } from './programs/text-programs.ts';
import { wm } from './programs/wm.ts';

const exitCode = { notFound: 127, aborted: 134, brokenPipe: 141 } as const;

/** Maximum number of bytes that one program writes to one file, in addition to the file system's own limit. */
const maxWrittenBytes = 64 * 1024 * 1024;

/** Variables of each new shell, which `name=value` changes. */
const initialVariables = { HOME: '/', PATH: '/product/bin:/system/bin', USER: 'shell', PWD: '/' };

type Programs = ReadonlyMap<string, Program>;

/** Shell process with its variables, its last exit code and its current folder. */
class Shell {
  readonly #phone: Phone;
  readonly #variables = new Map<string, string>(Object.entries(initialVariables));
  #lastExitCode = 0;
  readonly #background = new Set<Promise<number>>();
  /** Commands set by `trap`, by signal name. */
  readonly #traps = new Map<string, string>();

  readonly #own: Programs;

  constructor(phone: Phone, own: Programs) {
    this.#phone = phone;
    this.#own = own;
  }

  async runLine(line: string, io: ShellIo): Promise<number> {
    try {
      const code = await this.#runList(parseCommandLine(line), io);
      await this.#runExitTrap(io);
      return code;
    } catch (error) {
      if (!(error instanceof ShellSyntaxError)) throw error;
      await io.stderr.write(`${error.message}\n`);
      return (this.#lastExitCode = 1);
    }
  }

  async #runList(list: List, io: ShellIo): Promise<number> {
    for (const { condition, pipeline, isBackground } of list) {
      if (io.signal.aborted) break;
      const succeeded = this.#lastExitCode === 0;
      if (condition === 'success' && !succeeded) continue;
      if (condition === 'failure' && succeeded) continue;
      if (isBackground) this.#startInBackground(pipeline, io);
      else this.#lastExitCode = await this.#runPipeline(pipeline, io);
    }
    return this.#lastExitCode;
  }

  /** Starts a pipeline in the background. It survives the end of the shell, but not of the phone. */
  #startInBackground(pipeline: Pipeline, io: ShellIo): void {
    const running = this.#runPipeline(pipeline, { ...io, signal: this.#phone.power.signal });
    this.#background.add(running);
    void running.finally(() => this.#background.delete(running));
  }

  /** Runs `wait`: until the background pipelines have ended or the shell is killed. */
  async #wait({ signal }: ShellIo): Promise<number> {
    const killed = Promise.withResolvers<number[]>();
    const onKilled = () => killed.resolve([]);
    signal.addEventListener('abort', onKilled, { once: true });
    if (signal.aborted) onKilled();
    const codes = await Promise.race([Promise.all(this.#background), killed.promise]);
    return codes.at(-1) ?? 0;
  }

  /** Runs the EXIT trap. A killed shell reaches it only if it also has a trap for the signal. */
  async #runExitTrap(io: ShellIo): Promise<void> {
    const line = this.#traps.get('EXIT');
    if (line === undefined || (io.signal.aborted && !this.#traps.has('HUP'))) return;
    this.#traps.clear();
    await this.#runList(parseCommandLine(line), { ...io, signal: this.#phone.power.signal });
  }

  /** Runs all commands at once. Returns the exit code of the last one. */
  async #runPipeline(pipeline: Pipeline, io: ShellIo): Promise<number> {
    let stdin = io.stdin;
    let killBefore = () => {};
    const running = pipeline.map((command, index) => {
      const pipe = index === pipeline.length - 1 ? undefined : new PassThrough();
      pipe?.on('error', () => {});
      const source = stdin;
      const output = pipe && { write: (data: string | Uint8Array) => writeTo(pipe, Buffer.from(data)) };
      const killed = new AbortController();
      const signal = pipe ? AbortSignal.any([io.signal, killed.signal]) : io.signal;
      const killAllBefore = killBefore;
      killBefore = () => {
        killed.abort();
        killAllBefore();
      };
      if (pipe) stdin = pipe;
      return this.#runCommand(command, { ...io, stdin: source, stdout: output ?? io.stdout, signal }).finally(
        () => {
          pipe?.end();
          // The reader has ended: programs before it get a broken pipe, and waiting ones are ended.
          if (index > 0) source.destroy();
          killAllBefore();
        },
      );
    });
    const codes = await Promise.all(running);
    return codes.at(-1) ?? 0;
  }

  async #runCommand(command: Command, io: ShellIo): Promise<number> {
    try {
      const redirected = this.#redirect(command, io);
      const code = command.group
        ? await this.#runList(command.group, redirected.io)
        : await this.#runWords(command, redirected.io);
      redirected.finish();
      return code;
    } catch (error) {
      if (error instanceof ShellSyntaxError) throw error;
      if (error instanceof BrokenPipeError) return exitCode.brokenPipe;
      const isExpected = error instanceof FileSystemError;
      // Any other error is a defect of the simulation, so it is printed where the tester sees it.
      await io.stderr.write(
        isExpected ? `/system/bin/sh: ${error.message}\n` : `simulated phone: ${String(error)}\n`,
      );
      return isExpected ? 1 : exitCode.aborted;
    }
  }

  async #runWords(command: Command, io: ShellIo): Promise<number> {
    const words = command.words.map((word) => this.#expand(word));
    while (/^[A-Za-z_]\w*=/.test(words[0] ?? '') && words.length > 0) {
      const [name, value] = splitOnce(words.shift() ?? '', '=');
      this.#variables.set(name, value);
    }
    if (words[0] === 'exec') words.shift();
    const [name, ...args] = words;
    if (name === undefined) return 0;
    if (name === 'sh' && args[0] === '-c')
      return new Shell(this.#phone, this.#own).runLine(args[1] ?? '', io);
    if (name === 'wait') return this.#wait(io);
    if (name === 'trap') {
      for (const signal of args.slice(1)) this.#traps.set(signal, args[0] ?? '');
      return 0;
    }
    const programName = name.replace(/^\/(?:system|vendor|product)\/x?bin\//, '');
    const program = this.#own.get(programName) ?? programs.get(programName);
    if (program) return program({ ...io, phone: this.#phone, args, variables: this.#variables });
    await io.stderr.write(`/system/bin/sh: ${name}: inaccessible or not found\n`);
    return exitCode.notFound;
  }

  #expand(word: Word): string {
    return word.map((part) => (part.isLiteral ? part.text : this.#expandVariables(part.text))).join('');
  }

  #expandVariables(text: string): string {
    return text.replace(
      /\$(?:\{(\w+)\}|(\w+)|([?$]))/g,
      (_, braced?: string, plain?: string, special?: string) => {
        if (special === '?') return String(this.#lastExitCode);
        if (special === '$') return '4242';
        return this.#variables.get(braced ?? plain ?? '') ?? '';
      },
    );
  }

  #redirect(command: Command, io: ShellIo): { io: ShellIo; finish(): void } {
    const { files } = this.#phone.android;
    const current: { -readonly [Key in keyof ShellIo]: ShellIo[Key] } = { ...io };
    const written: OpenFile[] = [];
    for (const { operator, target } of command.redirections) {
      const path = target ? this.#expand(target) : '';
      if (operator === '2>&1') current.stderr = current.stdout;
      else if (operator === '>&2') current.stdout = current.stderr;
      else if (operator === '<') current.stdin = Readable.from([readForShell(files, path)]);
      else {
        const file = openForWriting(files, path, operator === '>>');
        written.push(file);
        current[operator === '2>' ? 'stderr' : 'stdout'] = file.output;
      }
    }
    return { io: current, finish: () => written.forEach((file) => file.finish()) };
  }
}

interface OpenFile {
  readonly output: ShellOutput;
  /** Stores the written content. */
  finish(): void;
}

function splitOnce(text: string, separator: string): [string, string] {
  const index = text.indexOf(separator);
  return [text.slice(0, index), text.slice(index + separator.length)];
}

function readForShell(files: FileSystem, path: string): Buffer {
  if (path === '/dev/null') return Buffer.alloc(0);
  if (!files.findStat(path)) throw new FileSystemError(`can't open ${path}: No such file or directory`);
  return files.readFile(path);
}

/** Opens a file as an output. Its content appears when the program ends. */
function openForWriting(files: FileSystem, path: string, append: boolean): OpenFile {
  if (path === '/dev/null') return { output: { write: async () => {} }, finish: () => {} };
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  try {
    if (!append) files.writeFile(path, Buffer.alloc(0));
  } catch (error) {
    if (error instanceof FileSystemError) throw new FileSystemError(`can't create ${path}: ${error.message}`);
    throw error;
  }
  return {
    output: {
      write: async (data) => {
        chunks.push(Buffer.from(data));
        sizeBytes += data.length;
        if (sizeBytes > maxWrittenBytes) throw new FileSystemError('No space left on device');
      },
    },
    finish: () => files.appendFile(path, Buffer.concat(chunks)),
  };
}

async function runInteractive(shell: Shell, phone: Phone, io: ShellIo): Promise<number> {
  const prompt = `${phone.android.identity.device}:/ $ `;
  let line = '';
  let code = 0;
  await io.stdout.write(prompt);
  for await (const chunk of io.stdin.iterator({ destroyOnReturn: false })) {
    line += String(chunk);
    for (let end = line.search(/[\r\n]/); end >= 0; end = line.search(/[\r\n]/)) {
      const command = line.slice(0, end);
      line = line.slice(end + 1);
      if (/^\s*exit\b/.test(command)) return Number.parseInt(command.trim().slice(4), 10) || code;
      code = await shell.runLine(command, { ...io, stdin: Readable.from([]) });
      await io.stdout.write(prompt);
    }
  }
  return code;
}

/**
 * Creates the phone's `sh`; `own` programs replace built-in ones. An empty command line starts an interactive shell.
 */
export function createShell(phone: Phone, own: Programs): RunCommandLine {
  return async (commandLine, io) => {
    const shell = new Shell(phone, own);
    return commandLine === '' ? runInteractive(shell, phone, io) : shell.runLine(commandLine, io);
  };
}

/** Programs of the phone's shell by name. */
const programs: ReadonlyMap<string, Program> = new Map<string, Program>([
  ...plainPrograms,
  ...filePrograms,
  ...textPrograms,
  ['am', am],
  ['app_process', appProcess],
  ['appops', appops],
  ['cmd', cmd],
  ['content', content],
  ['dumpsys', dumpsys],
  ['ime', ime],
  ['input', input],
  ['monkey', monkey],
  ['pm', pm],
  ['screencap', screencap],
  ['service', service],
  ['settings', settings],
  ['uiautomator', uiautomator],
  ['wm', wm],
]);
