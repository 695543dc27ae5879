import { errorText } from '@phalanx/settings';
import { DriverError } from '../../driver/driver-error.ts';
import type { PhoneShell } from '../../driver/shell/phone-shell.ts';
import { toldAnswer } from '../../driver/shell/told-answer.ts';
import type { UiBackend } from '../../driver/ui-backend.ts';
import type { HostTimings } from '../../time/host-timings.ts';
import { follow, pause, withTimeLimit } from '../../time/time-limit.ts';
import type { PhoneRecord } from '../phone-record.ts';
import { hourMs } from '@phalanx/timing/durations';
import { type PhoneRules, reasonToRest, sampleFacts, freePercent } from './phone-health.ts';

/**
 * Timeout of a trim, in milliseconds: Android deletes some thousand files for it. A run that starts meanwhile waits.
 */
const trimTimeoutMs = 30_000;
/**
 * Minimum pause between two trims, in milliseconds. The storage still used after a trim is no cache, so an early retry
 * would free nothing.
 */
const againMs = 6 * hourMs;
const gigabyte = 1e9;

/** Result of a probe. `helper`: the phone answers but its UI helper doesn't. `phone`: nothing answers. */
type ProbeResult = 'alive' | 'helper' | 'phone';

// Delay before the shell is probed too, in milliseconds. An answering helper proves the connection as well, so the
// shell is only probed when the helper is slow.
const hedgeMs = 500;

interface Probe {
  readonly shell: PhoneShell;
  readonly backend: UiBackend;
  readonly timeoutMs: number;
  /** Called at the phone's first answer, which may precede the result. */
  readonly onAnswer: () => void;
}

/**
 * Timeout for the helper to list its windows, in milliseconds. A helper that sees the screen needs a fraction of a
 * second.
 */
const seeingMs = 10_000;

interface HealthCheck {
  readonly phone: PhoneRecord;
  readonly shell: PhoneShell;
  readonly backend: UiBackend;
  readonly rules: PhoneRules;
  /**
   * Whether calls of user code wait or run. Then those calls detect failures, and health checks must not delay them.
   */
  readonly isBusy: () => boolean;
}

const goneGraceMs = 300;
const minPauseMs = 50;

interface Beating {
  readonly phone: PhoneRecord;
  readonly shell: PhoneShell;
  readonly backend: UiBackend;
  readonly options: {
    readonly timings: HostTimings;
    readonly rules: PhoneRules;
  };
  readonly isBusy: () => boolean;
  /** Aborts when a better backend was found. */
  readonly found: AbortSignal | undefined;
}

/** Probes until the backend fails or a better one was found (returns), or until the phone fails (throws). */
export async function keepAlive(beating: Beating): Promise<void> {
  const { phone, shell, backend, options } = beating;
  const { heartbeatMs, probeTimeoutMs, healthMs } = options.timings;
  const { gone } = shell.connection;
  const waiting = new AbortController();
  const stops = [gone, backend.failed, beating.found].map((signal) => follow(signal, waiting));
  let blindness: string | undefined;
  const isHelperStuck = createStuckHelperCheck(beating);
  let beganAt = performance.now();
  let checkedAt = Number.NEGATIVE_INFINITY;
  try {
    for (;;) {
      // The interval counts from the start of the last probe, so that a slow answer doesn't delay the next one.
      await pause(Math.max(minPauseMs, heartbeatMs - (performance.now() - beganAt)), waiting.signal);
      // The helper's connection ends shortly before the phone is known to be gone.
      if (backend.failed.aborted) await pause(goneGraceMs, gone);
      gone.throwIfAborted();
      if (beating.found?.aborted === true) return;
      if (backend.failed.aborted) {
        phone.setTrouble('helper_failed', `${reasonOf(backend.failed)} Restarting it.`);
        return;
      }
      beganAt = performance.now();
      const onAnswer = (): void => phone.confirm();
      const result = await probePhone({ shell, backend, timeoutMs: probeTimeoutMs, onAnswer });
      gone.throwIfAborted();
      if (result === 'phone') {
        throw new DriverError('phone_gone', `The phone did not answer in ${probeTimeoutMs / 1000} s.`);
      }
      if (result === 'alive' && performance.now() - checkedAt > healthMs) {
        checkedAt = performance.now();
        await checkHealth({ ...beating, rules: options.rules }).catch((error: unknown) => {
          gone.throwIfAborted();
          if (!backend.failed.aborted) blindness = errorText(error);
        });
        if (blindness !== undefined) {
          phone.setTrouble('helper_failed', `${blindness} Restarting it.`);
          return;
        }
      }
      if (isHelperStuck(result)) {
        phone.setTrouble('helper_failed', 'The UI helper on the phone does not answer. Restarting it.');
        return;
      }
    }
  } finally {
    for (const stop of stops) stop();
  }
}

/**
 * Creates a check for a stuck helper. The helper handles one request at a time, so a long call of user code blocks its
 * answers, but for no longer than two calls may take.
 */
function createStuckHelperCheck({ isBusy, options }: Beating): (result: ProbeResult) => boolean {
  let silentSince: number | undefined;
  return (result) => {
    if (result === 'alive') silentSince = undefined;
    else silentSince ??= performance.now();
    if (silentSince === undefined) return false;
    return !isBusy() || performance.now() - silentSince > 2 * options.timings.callTimeoutMs;
  };
}

function reasonOf(signal: AbortSignal): string {
  return signal.reason instanceof Error ? signal.reason.message : String(signal.reason);
}

/**
 * Checks the health of a phone that answers, and whether its helper still sees the screen. Rejects when it does not.
 */
async function checkHealth({ phone, shell, backend, rules, isBusy }: HealthCheck): Promise<void> {
  const facts = await sampleFacts(shell, () => phone.now()).catch(() => undefined);
  if (facts === undefined) return;
  phone.setFacts(facts);
  const isResting = phone.state.state === 'resting';
  const reason = reasonToRest(facts, rules, isResting);
  if (reason !== undefined) phone.rest(reason);
  else if (isResting) phone.endRest();
  if (!isBusy()) await trimCaches({ phone, shell, rules });
  if (isBusy() || facts.screen === 'off' || facts.screen === null) return;
  const onTimeout = (): Error =>
    new Error('The UI helper says that it is well, and does nothing that it is asked for.');
  await withTimeLimit(
    { timeoutMs: seeingMs, signals: [shell.connection.gone, backend.failed], onTimeout },
    (signal) => backend.probeScreen(signal),
  );
}

/** Probes a phone once, within the timeout. */
async function probePhone({ shell, backend, timeoutMs, onAnswer }: Probe): Promise<ProbeResult> {
  const onTimeout = (): Error => new DriverError('call_timed_out', 'The phone did not answer.');
  const limit = { timeoutMs, signals: [shell.connection.gone], onTimeout };
  const helper = answers(() => withTimeLimit(limit, (signal) => backend.probe(signal)));
  const { promise: hedge, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), Math.min(hedgeMs, timeoutMs / 4));
  const early = await Promise.race([helper, hedge]);
  clearTimeout(timer);
  if (early === true) {
    onAnswer();
    return 'alive';
  }
  const echo = await answers(() =>
    withTimeLimit({ ...limit, timeoutMs: timeoutMs * 0.75 }, async (signal) => {
      const answer = await shell.run('echo alive', signal);
      toldAnswer(answer, { sign: /^alive/, what: 'that its shell is alive' });
    }),
  );
  if (echo) onAnswer();
  if (await helper) {
    onAnswer();
    return 'alive';
  }
  return echo ? 'helper' : 'phone';
}

async function answers(ask: () => Promise<unknown>): Promise<boolean> {
  return await ask().then(
    () => true,
    () => false,
  );
}

interface Trimming {
  readonly phone: PhoneRecord;
  readonly shell: PhoneShell;
  readonly rules: PhoneRules;
}

/**
 * Makes Android clear the app caches of an idle phone whose free storage is below the operator's limit. The phone rests
 * meanwhile.
 */
async function trimCaches({ phone, shell, rules }: Trimming): Promise<void> {
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

/** Trims the caches. Resolves with a sentence about the result. */
async function trim(shell: PhoneShell, wantedBytes: number): Promise<string> {
  const onTimeout = (): Error => new Error(`it did not end in ${trimTimeoutMs / 1000} s`);
  const limit = { timeoutMs: trimTimeoutMs, signals: [shell.connection.gone], onTimeout };
  try {
    const { stdout, stderr, exitCode } = await withTimeLimit(limit, (signal) =>
      shell.run(`pm trim-caches ${wantedBytes}`, signal),
    );
    // A success prints nothing. Old phones report no exit code.
    const said = (stderr + stdout).trim().slice(0, 500);
    if ((exitCode ?? 0) === 0 && said === '') return 'The caches of apps were emptied.';
    return `The caches of apps could not be emptied: ${said || `exit code ${exitCode}`}.`;
  } catch (error) {
    shell.connection.gone.throwIfAborted();
    return `The caches of apps could not be emptied: ${errorText(error)}.`;
  }
}

const inGigabytes = (bytes: number | null): string =>
  bytes === null ? 'unknown' : `${(bytes / gigabyte).toFixed(1)} GB`;
