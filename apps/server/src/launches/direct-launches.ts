import { hash } from 'node:crypto';
import type { LaunchDirectBody } from '@phalanx/protocol';
import type { Static } from 'typebox';
import { v7 as uuidv7 } from 'uuid';

import type { DeviceAccess } from '../devices/device-access.ts';
import { getOnlineDevices } from '../devices/online-devices.ts';
import { isUniqueViolation } from '../db/unique-violation.ts';
import { ApiError } from '../errors/api-error.ts';
import type { AuditEvent } from '../http/audit-event.ts';
import type { Bundles } from './bundles.ts';
import { answerOf, deliver, type LaunchAnswer, type LaunchReply, readAnswer } from './launch-answer.ts';
import { awaitOutcome, dispatch, type Dispatch, type Dispatcher, type LaunchOutcome } from './dispatch.ts';
import type { StoredLaunch } from './store.ts';

export type DirectRequest = Static<typeof LaunchDirectBody>;

/** Who launches, and where it is noted. */
type Launcher = Dispatch['launcher'] & { auditEvent: AuditEvent };

interface UnderWay {
  fingerprint: string;
  answer: Promise<LaunchAnswer>;
}

const fingerprintOf = (request: DirectRequest): string =>
  hash(
    'sha256',
    JSON.stringify(
      [
        ...[request.device_id, request.code, request.automationParameters ?? {}, request.jobVariables ?? {}],
        ...(request.film === true ? ['film'] : []),
      ],
      inOrder,
    ),
    'hex',
  );

/** For `JSON.stringify`: the order of an object's keys says nothing. */
const inOrder = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
    : value;

function requireSame(request: DirectRequest, fingerprint: string, known: string): void {
  if (fingerprint !== known) throw ApiError.of('launch_id_conflict', { launch_id: request.launch_id });
}

/** Starts direct code; the caller's launch ID makes sure that it is started once. */
export class DirectLaunches {
  readonly #dispatcher: Dispatcher;
  readonly #devices: DeviceAccess;
  readonly #bundles: Bundles;
  /** The launches that wait for their answer, by user and launch ID. */
  readonly #underWay = new Map<string, UnderWay>();

  constructor(dispatcher: Dispatcher, devices: DeviceAccess, bundles: Bundles) {
    this.#dispatcher = dispatcher;
    this.#devices = devices;
    this.#bundles = bundles;
  }

  /** Throws what the error table has for launches. */
  async start(launcher: Launcher, request: DirectRequest): Promise<LaunchReply> {
    const fingerprint = fingerprintOf(request);
    const key = `${launcher.userId} ${request.launch_id}`;
    const known = this.#underWay.get(key);
    if (known !== undefined) requireSame(request, fingerprint, known.fingerprint);
    const answer = known?.answer ?? this.#answer(launcher, request, fingerprint);
    if (known === undefined) {
      this.#underWay.set(key, { fingerprint, answer });
      const forget = () => this.#underWay.delete(key);
      void answer.then(forget, forget);
    }
    return deliver(await answer, this.#dispatcher.ackTimeoutMs);
  }

  async #answer(launcher: Launcher, request: DirectRequest, fingerprint: string): Promise<LaunchAnswer> {
    const earlier = await this.#dispatcher.launches.find(launcher.userId, request.launch_id);
    if (earlier === undefined) return this.#launch(launcher, request, fingerprint);
    requireSame(request, fingerprint, earlier.fingerprint);
    return this.#repeat(earlier);
  }

  async #launch(launcher: Launcher, request: DirectRequest, fingerprint: string): Promise<LaunchAnswer> {
    const { userId } = launcher;
    await getOnlineDevices(this.#devices, userId, [request.device_id]);
    const bundle = await this.#bundles.ofDirectCode(userId, request.code);
    const id = uuidv7();
    const plan = async (): Promise<Dispatch> => ({
      id,
      launcher,
      auditEvent: launcher.auditEvent,
      launchId: request.launch_id,
      fingerprint,
      name: request.name?.toWellFormed().replaceAll('\u0000', '') ?? null,
      automationId: request.launch_id,
      bundle,
      project: null,
      automationParameters: request.automationParameters ?? {},
      jobVariables: request.jobVariables ?? {},
      masks: [],
      film: request.film === true,
      secrets: {},
      devices: await getOnlineDevices(this.#devices, userId, [request.device_id]),
    });
    try {
      return await this.#remember(id, await dispatch(this.#dispatcher, userId, plan));
    } catch (error) {
      if (!isUniqueViolation(error)) throw error;
      // Another server was faster.
      return this.#answer(launcher, request, fingerprint);
    }
  }

  /** A launch that is stored is never sent again; without an answer it has started, or the server stopped in the middle of it. */
  async #repeat(launch: StoredLaunch): Promise<LaunchAnswer> {
    if (launch.answer !== null) return readAnswer(launch.answer);
    return this.#remember(launch.id, await awaitOutcome(this.#dispatcher, launch.id));
  }

  async #remember(id: string, outcome: LaunchOutcome): Promise<LaunchAnswer> {
    const { launches } = this.#dispatcher;
    const answer = await answerOf(outcome, this.#dispatcher);
    if ('refusal' in answer) return readAnswer(await launches.saveAnswer(id, JSON.stringify(answer)));
    // That all have started is what the stored runs say too, unless somebody was told otherwise before they had.
    const isCalledOff = outcome.some((run) => run.stop_requested === 1);
    const earlier = isCalledOff ? await launches.findAnswer(id) : null;
    return earlier === null ? answer : readAnswer(earlier);
  }
}
