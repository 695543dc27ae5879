import { isDeepStrictEqual } from 'node:util';
import { until, untilLimitMs } from '@phalanx/host/testing/until';

import { type ApiReply, type ApiRequest, createApiCaller } from '../../apps/server/src/testing/api-caller.ts';
import { layOut } from './lay-out.ts';
import { type PlayedRequest, readRequest } from './read-request.ts';
import type { Stage } from './stage.ts';
import { ownOrigin, type Section, type Step, type StepDetails } from './step.ts';
import { writtenReply } from './written-reply.ts';

/**
 * Time limit in ms after the first failed wait: further waits are useless, because the transcript should end and show
 * the difference.
 */
const shortWaitMs = 2000;

/** Plays steps and records requests and replies. */
export class Player {
  /** Operations that succeeded. */
  readonly played = new Set<string>();
  /** Failed steps. */
  readonly complaints: string[] = [];
  readonly #stage: Stage;
  readonly #parts: string[] = [];

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  get transcript(): string {
    return `${this.#parts.join('\n\n')}\n`;
  }

  async play({ name, steps }: Section): Promise<void> {
    this.#stage.names.begin(name);
    this.#parts.push(`## ${name}`);
    for (const step of steps) await this.#playStep(step).catch((error: unknown) => this.#complain(error));
  }

  async #playStep(step: Step): Promise<void> {
    if (typeof step === 'function') return step(this.#stage);
    const [line, details] = typeof step === 'string' ? [step, {}] : step;
    const request = readRequest(line, details, (name) => this.#stage.kept.get(name) ?? 'nothing');
    if (details.until !== undefined)
      await this.#wait(request, details.until).catch((error: unknown) => this.#complain(error));
    const reply = await this.#ask(request, this.#stage.nextUrl());
    this.#keep(reply, details.keep ?? {});
    if (reply.status < 400 && request.operation !== undefined) this.played.add(request.operation);
    const written = writtenReply(reply, request.operation, this.#stage.names);
    this.#parts.push(`${writtenRequest(line, details)}\n${written}`);
  }

  /** Records a failed step as a line of the transcript, which continues. */
  #complain(problem: unknown): void {
    const text = this.#stage.names.inText(problem instanceof Error ? problem.message : String(problem));
    this.complaints.push(text);
    this.#parts.push(`! ${text}`);
  }

  #keep(reply: ApiReply, places: Readonly<Record<string, string>>): void {
    for (const [name, place] of Object.entries(places)) {
      const value = valueAt(reply, place);
      if (typeof value === 'string') this.#stage.keep(name, value);
      else this.#complain(`there is no ${place} to keep`);
    }
  }

  #ask({ caller, method, path, details }: PlayedRequest, url: string): Promise<ApiReply> {
    const token = this.#stage.tokenOf(caller);
    if (details.isStream === true) return beginningOf(`${url}${path}`, token ?? '');
    const { keep: _keep, until: _until, isStream: _isStream, ...sent } = details;
    const request: ApiRequest = { ...sent, token };
    if (sent.headers?.['origin'] === ownOrigin) request.headers = { ...sent.headers, origin: url };
    return createApiCaller(url, '')(method, path, request);
  }

  async #wait(request: PlayedRequest, [place, ...value]: readonly [string, unknown?]): Promise<void> {
    const isMet = (found: unknown): boolean =>
      value.length === 0 ? found !== undefined && found !== null : isDeepStrictEqual(found, value[0]);
    const { method, path } = request;
    const what = `${method} ${path} to answer ${JSON.stringify(value)} at ${place}`;
    const limitMs = this.complaints.length === 0 ? untilLimitMs : shortWaitMs;
    for (const url of this.#stage.urls)
      await until(what, async () => valueAt(await this.#ask(request, url), place), isMet, limitMs);
  }
}

/** Returns a request as written in its table, with the names of values. */
function writtenRequest(line: string, details: StepDetails): string {
  const { caller, method, path } = readRequest(line, {}, (name) => `$${name}`);
  const { headers, raw, body = raw === undefined ? undefined : `${raw.length} bytes` } = details;
  const told = headers === undefined ? '' : ` with ${layOut(headers)}`;
  const sent = body === undefined ? '' : ` ${layOut(body)}`;
  return `${caller} ${method} ${decodeURIComponent(path)}${told}${sent}`;
}

async function beginningOf(url: string, token: string): Promise<ApiReply> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
  await response.body?.cancel();
  return { status: response.status, headers: response.headers, text: '', body: {} };
}

function valueAt({ headers, body }: ApiReply, place: string): unknown {
  const [, header] = /^header (.*)$/.exec(place) ?? [];
  if (header !== undefined) return headers.get(header);
  return place.split('.').reduce<unknown>((value, key) => Reflect.get(Object(value), key), body);
}
