import { readSync, writeSync } from 'node:fs';
import type {
  ReplayCommand,
  ReplayReport,
  ReplaySequence,
  SandboxStart,
  SequenceResult,
} from '@phalanx/protocol';
import type ivm from 'isolated-vm';
import { createSourcePositions } from '../../child/source-positions.ts';
import { playRun, type PlayLimits } from './play-run.ts';
import { ReplayIsolate } from './replay-isolate.ts';
import { ScreenStream, SingleScreen } from './single-screen.ts';
import { Sequence } from './sequence.ts';
import { ShownScreen } from './phone-of-screen.ts';
import { VerdictNotes } from './verdict-notes.ts';
import { encodeFrame } from '../../process/frames.ts';

type Code = Extract<ReplayCommand, { type: 'code' }>;
type Screens = Extract<ReplayCommand, { type: 'screens' }>;

/** Runs the program of a process that replays saved screens with one project's code, until its parent ends it. */
export function main(boot: SandboxStart, loadModule: NodeJS.Require): void {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the path is that of isolated-vm's package
  const isolate = new ReplayIsolate(loadModule(boot.isolatedVmPath) as typeof ivm, boot);
  let replay: Replay | undefined;
  syncChannel.send({ type: 'ready' });
  for (let command = syncChannel.receive(); command !== undefined; command = syncChannel.receive()) {
    if (command.type === 'code') {
      replay = new Replay(isolate, command);
    } else if (command.type === 'sequence') {
      replay?.follow(command.sequence);
    } else {
      if (command.mode === 'stream') replay?.stream(command);
      else replay?.each(command);
      syncChannel.send({ type: 'shown' });
    }
  }
  process.exit(0);
}

class Replay {
  readonly #isolate: ReplayIsolate;
  readonly #given: Pick<Code, 'argumentsJson' | 'fetches'>;
  readonly #limits: Code['limits'];
  readonly #positions: ReturnType<typeof createSourcePositions>;
  /** Error of code that does not compile. */
  readonly #syntaxError: Error | undefined;

  constructor(isolate: ReplayIsolate, { code, sourceMap, limits, ...given }: Code) {
    this.#isolate = isolate;
    this.#limits = limits;
    this.#given = given;
    this.#positions = createSourcePositions(sourceMap);
    this.#syntaxError = thrownBy(() => isolate.load(code));
  }

  each({ screens, tellsMissed }: Screens): void {
    const { first, second } = this.#limits.screen;
    for (const [index, screen] of screens.entries()) {
      const shown = new ShownScreen(screen);
      const notes = this.#play(shown, tellsMissed, first);
      this.#tell(index, notes.verdict?.kind === 'limit' ? this.#play(shown, tellsMissed, second) : notes);
    }
  }

  /** Plays the screens of one record in the order of its run. */
  follow(sequence: ReplaySequence): void {
    const { first, second } = this.#limits.sequence;
    const result = this.#playSequence(sequence, first);
    syncChannel.send({
      type: 'sequence',
      result: result.kind === 'limit' ? this.#playSequence(sequence, second) : result,
    });
  }

  #playSequence(sequence: ReplaySequence, given: PlayLimits): SequenceResult {
    const player = new Sequence(sequence, this.#positions);
    if (this.#syntaxError !== undefined) {
      const { message, stack = message } = this.#syntaxError;
      player.uncaught({ message: `SyntaxError: ${message}`, text: stack, at: '' });
    } else
      playRun(this.#isolate, player, { ...this.#given, limits: { ...given, virtualMs: player.virtualMs } });
    return player.result ?? { kind: 'limit', index: 0, message: 'came to no end' };
  }

  stream({ screens }: Screens): void {
    if (this.#syntaxError !== undefined) return;
    const shown = screens.map((screen) => new ShownScreen(screen));
    for (let start = 0; start < shown.length;) {
      const all = new Map<number, VerdictNotes>();
      const notesOf = (index: number): VerdictNotes => {
        const notes = new VerdictNotes(this.#positions);
        all.set(index, notes);
        return notes;
      };
      const stream = new ScreenStream(shown, start, notesOf);
      playRun(this.#isolate, stream, { ...this.#given, limits: this.#limits.screen.first });
      for (const [index, notes] of all) this.#tell(index, notes);
      start = stream.index;
    }
  }

  #play(shown: ShownScreen, tellsMissed: boolean, given: PlayLimits): VerdictNotes {
    const notes = new VerdictNotes(this.#positions);
    if (this.#syntaxError !== undefined) {
      const { message, stack = message } = this.#syntaxError;
      notes.fail({ message: `SyntaxError: ${message}`, text: stack, at: '' });
      return notes;
    }
    const player = new SingleScreen(shown, notes, tellsMissed);
    playRun(this.#isolate, player, { ...this.#given, limits: given });
    return notes;
  }

  #tell(index: number, { verdict, missed }: VerdictNotes): void {
    if (verdict !== undefined) syncChannel.send({ type: 'verdict', index, verdict, missed });
  }
}

function thrownBy(work: () => void): Error | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/**
 * Synchronous standard input and output: this process does one thing at a time, and its isolate runs in its own thread.
 */
interface SyncChannel {
  /** Returns undefined when the parent process is gone. */
  receive(): ReplayCommand | undefined;
  send(report: ReplayReport): void;
}

const syncChannel: SyncChannel = {
  receive() {
    const head = readExactly(4);
    const body = head && readExactly(head.readUInt32BE());
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the parent process is trusted
    return body && (JSON.parse(body.toString()) as ReplayCommand);
  },
  send(report) {
    const frame = encodeFrame(report);
    for (let sent = 0; sent < frame.length;) sent += writeSync(1, frame, sent);
  },
};

function readExactly(sizeBytes: number): Buffer | undefined {
  const bytes = Buffer.allocUnsafe(sizeBytes);
  for (let done = 0; done < sizeBytes;) {
    const count = readSync(0, bytes, done, sizeBytes - done, null);
    if (count === 0) return undefined;
    done += count;
  }
  return bytes;
}
