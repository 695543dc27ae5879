import type { PhoneShell } from '../../driver/shell/phone-shell.ts';
import { withTimeLimit } from '../../time/time-limit.ts';
import type { PhoneRecord } from '../phone-record.ts';
import type { PhoneRules } from '../phone-rules.ts';
import { freePercent } from './phone-warnings.ts';
import { sampleFacts } from './sample-facts.ts';

/** Android deletes some thousand files for it. A run that begins meanwhile waits for longer. */
const trimTimeoutMs = 30_000;
/** What is left then is no cache, and asking again soon would free nothing. */
const againMs = 6 * 3_600_000;
const gigabyte = 1e9;

interface Trimming {
  readonly phone: PhoneRecord;
  readonly shell: PhoneShell;
  readonly rules: PhoneRules;
}

/** Has Android empty the caches of apps on a phone that nobody works with, when its storage is fuller than the operator wants. The phone rests meanwhile. */
export async function trimCaches({ phone, shell, rules }: Trimming): Promise<void> {
  const { facts, state } = phone;
  if (facts === null || state.state !== 'ready' || phone.screen.isHeld) return;
  const free = freePercent(facts);
  if (free === undefined || free >= rules.trimBelowPercent || isRecent(phone)) return;
  const wanted = Math.ceil(((facts.storage_bytes ?? 0) * rules.trimBelowPercent) / 100);
  phone.rest('The caches of its apps are being emptied, because its storage is nearly full.');
  const result = await trim(shell, wanted);
  const after = await sampleFacts(shell, () => phone.now()).catch(() => facts);
  phone.setFacts(after);
  phone.repair(
    'trim_caches',
    `${result} ${inGigabytes(facts.free_bytes)} were free before, ${inGigabytes(after.free_bytes)} after.`,
  );
  phone.endRest();
}

function isRecent(phone: PhoneRecord): boolean {
  const last = phone.history.list().findLast(({ step }) => step === 'trim_caches');
  return last !== undefined && phone.now() - last.at < againMs;
}

/** Resolves with what is to be told of it. */
async function trim(shell: PhoneShell, wantedBytes: number): Promise<string> {
  const onTimeout = (): Error => new Error(`it did not end in ${trimTimeoutMs / 1000} s`);
  const limit = { timeoutMs: trimTimeoutMs, signals: [shell.connection.gone], onTimeout };
  try {
    const { stdout, stderr, exitCode } = await withTimeLimit(limit, (signal) =>
      shell.run(`pm trim-caches ${wantedBytes}`, signal),
    );
    if (exitCode === 0) return 'The caches of apps were emptied.';
    return `The caches of apps could not be emptied: ${(stderr + stdout).trim().slice(0, 500)}.`;
  } catch (error) {
    shell.connection.gone.throwIfAborted();
    return `The caches of apps could not be emptied: ${error instanceof Error ? error.message : String(error)}.`;
  }
}

const inGigabytes = (bytes: number | null): string =>
  bytes === null ? 'unknown' : `${(bytes / gigabyte).toFixed(1)} GB`;
