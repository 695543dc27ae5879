import { ServiceError } from '@phalanx/client/service-errors';
import { deviceRoutes, launchRoutes, type Device, type Run } from '@phalanx/protocol';

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

/** Pushes and runs one folder on one phone at each request, and prints the results. */
export class DevSession {
  readonly #options: DevOptions;
  /** Whether the user controls the phone. Saves are then pushed but not run. */
  #isInHand = false;

  constructor(options: DevOptions) {
    this.#options = options;
  }

  /** Works until the user quits. Throws only if the token is no longer valid. */
  async go(): Promise<void> {
    for (let wish: Wish = 'run'; wish !== 'quit'; wish = await this.#options.wishes.next()) {
      try {
        await this.#fulfil(wish);
      } catch (error) {
        if (error instanceof ServiceError && error.status === 401) throw error;
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
    notice(`You control ${device.serial} now. Its Control page:`);
    // A notice would insert the serial number before the ID, and break the address.
    console.log(printable(`${connection.serverUrl}/devices/${device.device_id}?tab=control`));
    notice('Saves are pushed but not run until you press r.');
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
    // Prevents an unhandled rejection: if the stop fails, the end is not awaited.
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
    // The screen is printed only if no further request waits.
    if (wishes.isGoingOn) return;
    const params = { id: device.device_id };
    const { screen } = await connection.api.call(deviceRoutes.screen, { params, query: { view: 'compact' } });
    if ('lines' in screen) printCompact(screen);
  }

  async #explain(error: unknown): Promise<void> {
    reportError(error, false);
    if (!(error instanceof ServiceError)) return;
    for (const text of error.errors)
      for (const line of await sourceLines(this.#options.folder.root, text)) notice(line);
  }
}

interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** Patterns of a place in compiler errors, `main.ts(3,7): error …`, and in stacks, `at pay (flows/pay.ts:12:5)`. */
const forms = [/^([^()]+)\((\d+),(\d+)\): /, /^\s*at (?:.* \()?([^()\s]+):(\d+):(\d+)\)?$/];

function findPlace(text: string): Place | undefined {
  for (const form of forms) {
    const [, file, line, column] = form.exec(text) ?? [];
    if (file !== undefined) return { file, line: Number(line), column: Number(column) };
  }
  return undefined;
}

/** Returns the source lines up to the first place that `text` names; none if it names no file of the folder. */
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

/** Queue of wishes, each kind at most once. */
export class Wishes {
  readonly #waiting: Wish[] = [];
  #arrival = Promise.withResolvers<void>();

  add(wish: Wish): void {
    if (!this.#waiting.includes(wish)) this.#waiting.push(wish);
    this.#arrival.resolve();
  }

  /** Resolves when the queue has a wish, without removing it. */
  async some(): Promise<void> {
    await this.#arrival.promise;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Whether a wish other than `stop` waits. */
  get isGoingOn(): boolean {
    return this.#waiting.some((wish) => wish !== 'stop');
  }

  /** Waits for the next wish, and removes it from the queue. `quit` goes before all earlier wishes. */
  async next(): Promise<Wish> {
    await this.some();
    const wish = this.#waiting.includes('quit') ? 'quit' : this.#waiting.shift();
    if (this.isEmpty) this.#arrival = Promise.withResolvers<void>();
    return wish ?? 'quit';
  }
}
