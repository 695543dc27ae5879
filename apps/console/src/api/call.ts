import { ApiFailure } from './api-failure.ts';
import type { EndpointName, Input, Reply } from './contracts.ts';
import { session } from './session.ts';

interface Extra {
  signal?: AbortSignal | undefined;
  headers?: Record<string, string> | undefined;
}

interface Parts {
  params?: Record<string, string>;
  query?: Record<string, string | number | boolean | undefined>;
  body?: unknown;
}

let line = new AbortController();

/** Gives up what waits for an answer, which would wait for minutes on a line that carries nothing. */
export function hangUp(): void {
  line.abort();
  line = new AbortController();
}

/** The path with its parameters, and the query. */
function addressOf(path: string, { params = {}, query = {} }: Parts): string {
  const filled = path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== '') search.set(name, String(value));
  const text = search.toString();
  return text === '' ? filled : `${filled}?${text}`;
}

async function send(name: string, parts: Parts, { signal, headers }: Extra): Promise<Response> {
  const [method = 'GET', path = '/'] = name.split(' ');
  const hasBody = parts.body !== undefined;
  try {
    return await fetch(addressOf(path, parts), {
      method,
      credentials: 'same-origin',
      headers: { ...(hasBody ? { 'content-type': 'application/json' } : {}), ...headers },
      ...(hasBody ? { body: JSON.stringify(parts.body) } : {}),
      signal: signal === undefined ? line.signal : AbortSignal.any([signal, line.signal]),
    });
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw ApiFailure.unreachable();
  }
}

/** Asks and gives the headers too. Throws an `ApiFailure`. */
export async function callWhole<Name extends EndpointName>(
  name: Name,
  input: Input<Name>,
  extra: Extra = {},
): Promise<{ body: Reply<Name>; headers: Headers }> {
  const response = await send(name, input, extra);
  if (!response.ok) {
    const failure = await ApiFailure.from(response);
    if (failure.status === 401 && !name.endsWith(' /api/v2/session')) session.end();
    throw failure;
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the service writes its replies by the same contract
  return { body: (await response.json()) as Reply<Name>, headers: response.headers };
}

/** Asks an endpoint. Throws an `ApiFailure`. */
export async function call<Name extends EndpointName>(
  name: Name,
  input: Input<Name>,
  extra: Extra = {},
): Promise<Reply<Name>> {
  return (await callWhole(name, input, extra)).body;
}
