import { setTimeout as wait } from 'node:timers/promises';
import type { DeviceOutcome } from '@phalanx/protocol';
import type { GetLaunchable, Launchable } from '../../code/projects/project-files.ts';
import type { ProjectMatchers } from '../../code/secrets/project-matchers.ts';
import type { SecretGrants } from '../../code/secrets/secret-grants.ts';
import {
  findOnlineNow,
  getOnlineDevices,
  nameOf,
  type OnlineDevice,
} from '../../fleet/devices/online-devices.ts';
import type { ConnectedHosts } from '../../fleet/hosts/connected-hosts.ts';
import type { AuditEvent } from '../../http/requests/audit-event.ts';
import { appLimitOf, type Principal } from '../../http/requests/principal.ts';
import type { Clock } from '../../kernel/clock.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import { boundedList } from '../../kernel/errors/bounded-list.ts';
import type { Turns } from '../../kernel/limits/turns.ts';
import { activeRunOf, type ActiveRuns } from '../runs/active-runs.ts';
import type { RunStops } from '../runs/run-stops.ts';
import type { StoredRun } from '../runs/stored-run.ts';
import { awaitStart } from './await-start.ts';
import type { PhoneSources } from './choose-phones.ts';
import { LaunchAnswers, requireSame } from './launch-answers.ts';
import { launchMessage } from './launch-message.ts';
import type { DirectCode, LaunchPreparation } from './launch-preparation.ts';
import type { LaunchPayload } from './payload-store.ts';
import {
  answerOf,
  deliver,
  type LaunchAnswer,
  type LaunchReply,
  type NamesOf,
  withDeviceRefusals,
} from './launch-reply.ts';
import { payloadOf, type DeviceRun, rowsOf } from './launch-rows.ts';
import type { Launch, LaunchInputs, LaunchKey, PreparedLaunch } from './launch.ts';
import { type PhoneRequest, requestedPhones } from './requested-phones.ts';
import type { RunOutbox } from './run-outbox.ts';
import { type LaunchConflict, storeLaunch, type LaunchStores } from './store-launch.ts';
import { bytesOf, type StoredLaunch } from './store.ts';

/** A request to start a saved project or direct code. */
export interface LaunchRequest {
  readonly principal: Principal;
  readonly auditEvent: AuditEvent;
  /** Null: each request starts another launch. Direct code always has a key. */
  readonly key: LaunchKey | null;
  readonly phones: PhoneRequest;
  readonly inputs: LaunchInputs;
  /** Null for a saved project. */
  readonly direct: DirectCode | null;
}

/** Request to run a task of a job. Its parameters were validated when the job was created. */
interface TaskStart {
  readonly principal: Principal;
  readonly automationId: string;
  readonly deviceId: string;
  readonly inputs: LaunchInputs;
  readonly claim: NonNullable<PreparedLaunch['claim']>;
}

interface Options extends LaunchStores {
  readonly preparation: LaunchPreparation;
  readonly getLaunchable: GetLaunchable;
  readonly phones: PhoneSources;
  readonly grants: Pick<SecretGrants, 'grant'>;
  readonly matchers: ProjectMatchers;
  readonly activeRuns: ActiveRuns;
  readonly hosts: ConnectedHosts;
  readonly outbox: RunOutbox;
  readonly stops: RunStops;
  readonly turns: Turns;
  readonly clock: Clock;
  /** Receives the runs that a launch has stored. */
  readonly onCreated: (rows: readonly StoredRun[]) => void;
  /** Start timeout of a single run, in ms. */
  readonly ackTimeoutMs: number;
  readonly namesOf: NamesOf;
}

interface UnderWay {
  readonly fingerprint: string;
  readonly answer: Promise<LaunchAnswer>;
}

/** Runs that were stored and sent. */
interface Sent {
  readonly rows: readonly StoredRun[];
}

type SentOrEarlier = Sent | { readonly key: LaunchKey; readonly earlier: StoredLaunch };
type Stored = Sent | LaunchConflict;

/** Timeout for a host's hello on its newest connection, in ms. */
const reconnectMs = 4000;
const reconnectPauseMs = 20;

/**
 * Starts saved projects, direct code and tasks of jobs. Every launch passes the same steps: resolve the project and the
 * phones, prepare, store, send, await the start, reply. Throws the errors that the error table lists for launches.
 */
export class Launches {
  readonly #options: Options;
  readonly #answers: LaunchAnswers;
  /** Launches in flight, by user and launch ID. */
  readonly #underWay = new Map<string, UnderWay>();

  constructor(options: Options) {
    this.#options = options;
    this.#answers = new LaunchAnswers(options);
  }

  /** Starts a launch once per key. Resolves when all of its phones have answered. */
  async start(request: LaunchRequest): Promise<LaunchReply> {
    const { principal, key, phones, direct } = request;
    try {
      // Access is checked first: users who may not start the project must not learn what has started.
      const project =
        direct === null ? await this.#options.getLaunchable(phones.automationId, principal) : null;
      return deliver(
        key === null ? await this.#launch(request, project) : await this.#launchOnce(request, key, project),
      );
    } catch (error) {
      throw withDeviceRefusals(error, phones.device_ids ?? []);
    }
  }

  /**
   * Starts the run of a task. Resolves when the run is stored; `begun` resolves when it has begun or was called off.
   * Throws `already_running` when the project already runs on the phone, and the errors of `claim`.
   */
  async startTask({
    principal,
    automationId,
    deviceId,
    inputs,
    claim,
  }: TaskStart): Promise<{ begun: Promise<unknown> }> {
    const project = await this.#options.getLaunchable(automationId, principal);
    const target = { launcher: principal, auditEvent: null, key: null, claim, deviceIds: [deviceId] };
    const prepared = await this.#options.preparation.ofProject(target, project, inputs);
    const sent = await this.#storeAndSend(prepared);
    return { begun: 'rows' in sent ? awaitStart(this.#options, sent.rows) : Promise.resolve() };
  }

  /** Returns the same reply to every request with the same key. */
  #launchOnce(request: LaunchRequest, key: LaunchKey, project: Launchable | null): Promise<LaunchAnswer> {
    const name = `${request.principal.userId} ${key.launchId}`;
    const known = this.#underWay.get(name);
    if (known !== undefined) {
      requireSame(key, known.fingerprint);
      return known.answer;
    }
    const forget = (): void => void this.#underWay.delete(name);
    const answer = this.#launchOrRepeat(request, key, project).finally(forget);
    this.#underWay.set(name, { fingerprint: key.fingerprint, answer });
    return answer;
  }

  async #launchOrRepeat(
    request: LaunchRequest,
    key: LaunchKey,
    project: Launchable | null,
  ): Promise<LaunchAnswer> {
    const { userId } = request.principal;
    const earlier = await this.#answers.find(userId, key);
    if (earlier !== undefined) return earlier;
    try {
      return await this.#launch(request, project);
    } catch (error) {
      // Another server may have stored the launch first, and its runs may have caused the error.
      const first = await this.#answers.find(userId, key);
      if (first === undefined) throw error;
      return first;
    }
  }

  async #launch(request: LaunchRequest, project: Launchable | null): Promise<LaunchAnswer> {
    const { principal, key, phones } = request;
    const deviceIds = await requestedPhones(this.#options.phones, principal.userId, phones);
    try {
      const prepared = await this.#prepare(request, project, deviceIds);
      const sent = await this.#storeAndSend(prepared);
      if ('earlier' in sent) return await this.#answers.repeat(sent.key, sent.earlier);
      const outcome = await awaitStart(this.#options, sent.rows);
      if (key === null) return await answerOf(outcome, this.#options.namesOf);
      return await this.#answers.answer(prepared.id, outcome);
    } catch (error) {
      throw withDeviceRefusals(error, deviceIds);
    }
  }

  async #prepare(
    { principal, auditEvent, key, inputs, direct }: LaunchRequest,
    project: Launchable | null,
    deviceIds: readonly string[],
  ): Promise<PreparedLaunch> {
    const { preparation, phones } = this.#options;
    const { userId } = principal;
    // Refuses offline phones before anything is compiled.
    await getOnlineDevices(phones.access, userId, deviceIds);
    const target = { launcher: principal, auditEvent, key, deviceIds };
    if (direct !== null) return preparation.ofDirectCode(target, direct, inputs);
    if (project === null) throw new Error('A launch is of a project or of direct code');
    const { automationParameters: given } = inputs;
    const automationParameters = await preparation.checkParameters(project, given, userId);
    return preparation.ofProject(target, project, { ...inputs, automationParameters });
  }

  /**
   * Stores and sends a launch. Retries while a host reconnects, because a message on its earlier connection would be
   * lost. Each attempt takes one of the user's turns; waits for hosts take none, so they do not block other launches.
   */
  async #storeAndSend(prepared: PreparedLaunch): Promise<SentOrEarlier> {
    const { turns, phones } = this.#options;
    const { launcher, deviceIds } = prepared;
    const retryUntil = performance.now() + reconnectMs;
    for (;;) {
      const stored = await turns.run(launcher.userId, () => this.#attempt(prepared));
      if ('rows' in stored) return stored;
      if (stored.reason === 'key') return { key: stored.key, earlier: stored.launch };
      if (performance.now() > retryUntil)
        throw ApiError.of('devices_unavailable', { devices: 'one of their hosts is reconnecting' });
      await wait(reconnectPauseMs);
      await getOnlineDevices(phones.access, launcher.userId, deviceIds);
    }
  }

  /**
   * Looks up the phones, stores the launch and sends it. The lookup is repeated because leases and connections may have
   * changed during the compilation. Throws `already_running`.
   */
  async #attempt(prepared: PreparedLaunch): Promise<Stored> {
    const { phones, grants } = this.#options;
    const { launcher, project, deviceIds } = prepared;
    const devices = await findOnlineNow(phones.access, launcher.userId, deviceIds);
    if (devices === 'returning') return { reason: 'reconnected' };
    const owned = devices.map(({ device }) => device);
    const secrets = project === null ? {} : await grants.grant(project.projectId, owned);
    const launch = { ...prepared, devices, secrets };
    requireKnownBy(launch);
    const stored = await this.#store(launch);
    if ('reason' in stored && stored.reason === 'busy') throw alreadyRunning(devices, stored.deviceIds);
    return stored;
  }

  /**
   * Stores the launch and sends it to the hosts of this server. Other servers send it to theirs from the stored
   * payload.
   */
  async #store(launch: Launch): Promise<Stored> {
    const { runLimits, outbox, hosts, activeRuns, matchers, clock, onCreated } = this.#options;
    const rows = await rowsOf(launch, matchers, clock.now());
    const { runs } = rows;
    const payload = payloadOf(launch);
    const isOurs = ({ epoch }: DeviceRun): boolean => hosts.has(epoch);
    const bytes = bytesOf(rows.launch.parameters, rows.code);
    const resume = outbox.suppress(launch.id);
    try {
      const conflict = await runLimits.withRoom(launch.launcher.userId, bytes, () =>
        storeLaunch(this.#options, launch, rows, runs.every(isOurs) ? undefined : payload),
      );
      if (conflict !== undefined) return conflict;
      // No await may occur between here and the send: a stop in between would overtake the launch.
      for (const { row, epoch } of runs.filter(isOurs)) activeRuns.add(activeRunOf(row, epoch));
      this.#send(launch, payload, runs);
    } finally {
      resume();
    }
    const stored = runs.map(({ row }) => row);
    onCreated(stored);
    return { rows: stored };
  }

  #send({ secrets }: Launch, payload: LaunchPayload, runs: readonly DeviceRun[]): void {
    const { hosts, ackTimeoutMs } = this.#options;
    for (const [epoch, ofHost] of Map.groupBy(runs, (run) => run.epoch)) {
      if (!hosts.has(epoch)) {
        hosts.flush(epoch);
        continue;
      }
      const sent = ofHost.map(({ row, device }) => ({ ...row, serial: device.serial }));
      hosts.send(epoch, launchMessage(payload, { runs: sent, secrets, ackTimeoutMs }));
    }
  }
}

/**
 * Requires that all hosts support secrets and app limits when the launch needs them. A host of an older release would
 * reveal secrets, or let the code use every app. Throws `devices_unavailable`.
 */
function requireKnownBy({ launcher, devices, secrets }: Launch): void {
  if (Object.keys(secrets).length > 0)
    requireHosts(devices, ({ device }) => device.knowsSecrets, 'does not support secrets');
  if (appLimitOf(launcher) !== undefined)
    requireHosts(devices, ({ device }) => device.knowsAppLimits, 'does not limit tokens to apps');
}

function requireHosts(
  devices: readonly OnlineDevice[],
  knows: (on: OnlineDevice) => boolean,
  lack: string,
): void {
  const old = devices.filter((on) => !knows(on));
  if (old.length === 0) return;
  const reason = `its host is of an older release, which ${lack}: update it`;
  const names = old.map(({ device }) => `${nameOf(device)} (${reason})`);
  throw ApiError.of('devices_unavailable', { devices: boundedList(names, ', ') });
}

function alreadyRunning(devices: readonly OnlineDevice[], busyIds: ReadonlySet<string>): ApiError {
  const busy = devices.filter(({ device }) => busyIds.has(device.id)).map(({ device }) => nameOf(device));
  const rows = devices.map(({ device }): DeviceOutcome => {
    const reason = busyIds.has(device.id)
      ? `${nameOf(device)}: the automation already runs there.`
      : 'The automation already runs on other devices.';
    return { device_id: device.id, outcome: 'refused', code: 'already_running', reason, run_id: null };
  });
  return ApiError.of('already_running', { devices: boundedList(busy, ', ') }, { devices: rows });
}
