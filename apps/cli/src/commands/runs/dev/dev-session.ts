import { deviceRoutes, launchRoutes, type Device, type Run } from '@phalanx/protocol';

import { ApiRefusal } from '../../../api-client.ts';
import { pushFolder } from '../../code/push.ts';
import { printCompact } from '../../fleet/screen.ts';
import type { Connection } from '../../../connection/connection.ts';
import { followToEnd, startedRuns, type FollowedRun } from '../../../follow/follow-to-end.ts';
import { describeEnd, printLogEntry } from '../../../output/run-text.ts';
import { notice, printable } from '../../../output/terminal.ts';
import { reportError } from '../../../output/report-error.ts';
import type { LinkedFolder } from '../../../project/project-folder.ts';
import { readLocalFile, textOf } from '../../../project/local-files.ts';

interface DevOptions {
  readonly connection: Connection;
  readonly folder: LinkedFolder;
  readonly device: Device;
  readonly wishes: Wishes;
  readInputs(): Promise<{
    automationParameters: Record<string, unknown>;
    jobVariables: Record<string, unknown>;
  }>;
}

/** Pushes and runs one folder on one phone as often as it is wanted, and shows what came of it. */
export class DevSession {
  readonly #options: DevOptions;
  /** Saves are pushed then and run nothing: a hand is on the phone. */
  #isInHand = false;

  constructor(options: DevOptions) {
    this.#options = options;
  }

  /** Until somebody quits. Only a token that is not valid any more ends it otherwise. */
  async go(): Promise<void> {
    for (let wish: Wish = 'run'; wish !== 'quit'; wish = await this.#options.wishes.next()) {
      try {
        await this.#fulfil(wish);
      } catch (error) {
        if (error instanceof ApiRefusal && error.status === 401) throw error;
        await this.#explain(error);
      }
    }
  }

  async #fulfil(wish: Wish): Promise<void> {
    if (wish === 'stop') return;
    if (wish === 'hand') return this.#takeInHand();
    if (wish === 'run') this.#isInHand = false;
    await pushFolder(this.#options.connection, { delete: true });
    if (!this.#isInHand) await this.#run();
  }

  #takeInHand(): void {
    this.#isInHand = true;
    const { connection, device } = this.#options;
    notice(`${device.serial} is in your hand. Its page Control:`);
    // A notice would write the serial number in place of the ID.
    console.log(printable(`${connection.serverUrl}/devices/${device.device_id}?tab=control`));
    notice('Saves are pushed and not run, until you press r.');
  }

  async #run(): Promise<void> {
    const { connection, folder, device, wishes } = this.#options;
    const body = {
      device_ids: [device.device_id],
      automationId: folder.id,
      command: 'start' as const,
      ...(await this.#options.readInputs()),
    };
    const { devices, message } = await connection.api.call(launchRoutes.launch, { body });
    notice(message);
    const ended = this.#follow(startedRuns(devices));
    // Keeps a rejection from being unhandled: if the stop fails, nobody awaits the end.
    ended.catch(() => undefined);
    await Promise.race([ended, wishes.some()]);
    if (!wishes.isEmpty) await this.#stop(startedRuns(devices));
    const [run] = await ended;
    if (run !== undefined) await this.#showEnd(run);
  }

  #follow(runs: readonly FollowedRun[]): Promise<Run[]> {
    return followToEnd(this.#options.connection.api, runs, {
      onEntries: (_, entries) => {
        for (const entry of entries) printLogEntry(entry);
      },
      onEnd: () => undefined,
    });
  }

  async #stop(runs: readonly FollowedRun[]): Promise<void> {
    const { api } = this.#options.connection;
    for (const { runId: id } of runs) await api.call(launchRoutes.stopRun, { params: { id } });
  }

  async #showEnd(run: Run): Promise<void> {
    const { connection, folder, device, wishes } = this.#options;
    notice(`The run ${describeEnd(run)}.`);
    for (const line of await sourceLines(folder.root, run.error?.stack ?? '')) notice(line);
    // The screen is printed only for a person who pauses here.
    if (wishes.isGoingOn) return;
    const params = { id: device.device_id };
    const { screen } = await connection.api.call(deviceRoutes.screen, { params, query: { view: 'compact' } });
    if ('lines' in screen) printCompact(screen);
  }

  async #explain(error: unknown): Promise<void> {
    reportError(error, false);
    if (!(error instanceof ApiRefusal)) return;
    for (const text of error.errors)
      for (const line of await sourceLines(this.#options.folder.root, text)) notice(line);
  }
}

interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** Places in the form of the compiler, `main.ts(3,7): error …`, and of a stack, `at pay (flows/pay.ts:12:5)`. */
const forms = [/^([^()]+)\((\d+),(\d+)\): /, /^\s*at (?:.* \()?([^()\s]+):(\d+):(\d+)\)?$/];

function findPlace(text: string): Place | undefined {
  for (const form of forms) {
    const [, file, line, column] = form.exec(text) ?? [];
    if (file !== undefined) return { file, line: Number(line), column: Number(column) };
  }
  return undefined;
}

/** The lines of the folder's own file around the first place that `text` names; none when it names no file of it. */
async function sourceLines(root: string, text: string): Promise<string[]> {
  const place = text
    .split('\n')
    .map(findPlace)
    .find((found) => found !== undefined);
  if (place === undefined) return [];
  const source = await readLocalFile(root, place.file).then(textOf, () => undefined);
  return source === undefined ? [] : linesAround(source.split('\n'), place);
}

const linesBefore = 2;

function linesAround(lines: readonly string[], { file, line, column }: Place): string[] {
  const first = Math.max(1, line - linesBefore);
  const shown = lines
    .slice(first - 1, line)
    .map((text, index) => `${String(first + index).padStart(5)} | ${printable(text).replaceAll('\t', ' ')}`);
  if (shown.length === 0 || first + shown.length - 1 !== line) return [];
  return [`${printable(file)}:${line}:${column}`, ...shown, `${' '.repeat(5)} | ${' '.repeat(column - 1)}^`];
}

/** A request from the keyboard, or a save. */
export type Wish = 'saved' | 'run' | 'stop' | 'hand' | 'quit';

/** Wishes in their order, each kind once. */
export class Wishes {
  readonly #waiting: Wish[] = [];
  #arrival = Promise.withResolvers<void>();

  add(wish: Wish): void {
    if (!this.#waiting.includes(wish)) this.#waiting.push(wish);
    this.#arrival.resolve();
  }

  /** Resolves when there is one, and leaves it there. */
  async some(): Promise<void> {
    await this.#arrival.promise;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Whether something is wanted that goes on with something else. */
  get isGoingOn(): boolean {
    return this.#waiting.some((wish) => wish !== 'stop');
  }

  /** Returns `quit` before all earlier wishes. */
  async next(): Promise<Wish> {
    await this.some();
    const wish = this.#waiting.includes('quit') ? 'quit' : this.#waiting.shift();
    if (this.isEmpty) this.#arrival = Promise.withResolvers<void>();
    return wish ?? 'quit';
  }
}
