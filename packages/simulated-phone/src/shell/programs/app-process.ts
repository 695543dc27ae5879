import { type HelperAnswer, HelperRefusal, ResidentHelper } from '../../resident/resident-helper.ts';
import { pause } from '../../pause.ts';
import { runScrcpyServer, scrcpyClass } from '../../scrcpy/scrcpy-server.ts';
import type { Process, Program } from '../program.ts';

const helperClass = 'dev.phalanx.helper.Main';
const error = 67;
const headBytes = 9;
const maxRequestBytes = 1024 * 1024;
/** Start time of a virtual machine in ms. */
const startMs = 30;
const writable = 0o222;
const refusesWritableSince = 34;

/** Virtual machine with the two programs that this phone can simulate. */
export const appProcess: Program = async (process) => {
  const { phone, args, stderr, variables, signal } = process;
  const path = variables.get('CLASSPATH') ?? '';
  const [, className, build = ''] = args;
  const stat = phone.android.files.findStat(path);
  await pause(signal, startMs);
  if ((className !== helperClass && className !== scrcpyClass) || stat === undefined) {
    await stderr.write(`Error: could not find or load main class ${className ?? ''}\nAborted\n`);
    return 134;
  }
  if (phone.android.identity.sdkVersion >= refusesWritableSince && (stat.mode & writable) !== 0) {
    await stderr.write(`java.lang.SecurityException: Writable dex file '${path}' is not allowed.\n`);
    return 1;
  }
  return className === scrcpyClass ? runScrcpyServer(process, path) : runHelper(process, build);
};

/** Handles requests one by one until the stream ends. */
async function runHelper({ phone, stdin, stdout, signal }: Process, build: string): Promise<number> {
  const ended = new AbortController();
  const end = (): void => ended.abort();
  stdin.once('close', end).once('end', end);
  const helper = new ResidentHelper(phone, {
    build,
    signal: AbortSignal.any([signal, ended.signal]),
    send: (answer) => void stdout.write(frameOf(0, answer)).catch(end),
  });
  phone.residents.add(end);
  let turn: Promise<void> = Promise.resolve();
  try {
    for await (const { kind, id, payload } of readRequests(
      stdin.iterator({ destroyOnReturn: false }),
      ended.signal,
    ))
      turn = turn.then(async () => {
        await stdout.write(frameOf(id, await answerOf(helper, kind, payload))).catch(end);
      });
    return 0;
  } catch {
    return 2;
  } finally {
    phone.residents.delete(end);
    end();
    helper.close();
  }
}

async function answerOf(helper: ResidentHelper, kind: number, payload: Buffer): Promise<HelperAnswer> {
  try {
    return await helper.answer(kind, payload);
  } catch (failure) {
    const text = failure instanceof HelperRefusal ? failure.message : `failed: ${String(failure)}`;
    return { kind: error, payload: Buffer.from(text) };
  }
}

function frameOf(id: number, { kind, payload }: HelperAnswer): Buffer {
  const head = Buffer.alloc(headBytes);
  head.writeUInt32BE(headBytes - 4 + payload.length, 0);
  head.writeUInt8(kind, 4);
  head.writeUInt32BE(id, 5);
  return Buffer.concat([head, payload]);
}

async function* readRequests(
  chunks: AsyncIterable<unknown>,
  ended: AbortSignal,
): AsyncGenerator<{ kind: number; id: number; payload: Buffer }> {
  let held = Buffer.alloc(0);
  for await (const chunk of chunks) {
    if (ended.aborted) return;
    if (Buffer.isBuffer(chunk)) held = Buffer.concat([held, chunk]);
    while (held.length >= headBytes) {
      const length = held.readUInt32BE(0);
      if (length < 5 || length > maxRequestBytes) throw new Error(`a frame of ${length} bytes`);
      if (held.length < 4 + length) break;
      yield {
        kind: held.readUInt8(4),
        id: held.readUInt32BE(5),
        payload: held.subarray(headBytes, 4 + length),
      };
      held = held.subarray(4 + length);
    }
  }
}
