import { Type, type Static } from 'typebox';
import { Compile } from 'typebox/compile';

import { checkReply } from './check-reply.ts';

const JsonBody = Type.Record(Type.String(), Type.Unknown());
const jsonBody = Compile(JsonBody);

export interface ApiReply {
  status: number;
  headers: Headers;
  text: string;
  /** Empty when the reply is not a JSON object. */
  body: Static<typeof JsonBody>;
}

export interface ApiRequest {
  /** `undefined`: the caller's own token; `null`: no header. */
  token?: string | null;
  /** The whole header, for malformed ones. */
  authorization?: string;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent as it is. */
  raw?: string | Uint8Array<ArrayBuffer>;
  contentType?: string | null;
  /** Beside those. */
  headers?: Readonly<Record<string, string>>;
}

export type ApiCaller = (method: string, path: string, request?: ApiRequest) => Promise<ApiReply>;

function headersOf(request: ApiRequest, ownToken: string): Record<string, string> {
  const headers: Record<string, string> = { ...request.headers };
  const token = request.token === undefined ? ownToken : request.token;
  if (request.authorization !== undefined) headers['authorization'] = request.authorization;
  else if (token !== null) headers['authorization'] = `Bearer ${token}`;
  const hasBody = request.body !== undefined || request.raw !== undefined;
  const contentType = request.contentType === undefined ? 'application/json' : request.contentType;
  if (hasBody && contentType !== null) headers['content-type'] = contentType;
  return headers;
}

function parsed(text: string): Static<typeof JsonBody> {
  try {
    const value: unknown = JSON.parse(text);
    return jsonBody.Check(value) ? value : {};
  } catch {
    return {};
  }
}

/** Calls the API of the server at `url` as the owner of `ownToken`, and holds each reply against the document. */
export function createApiCaller(url: string, ownToken: string): ApiCaller {
  return async (method, path, request = {}) => {
    const body = request.raw ?? (request.body === undefined ? null : JSON.stringify(request.body));
    const response = await fetch(`${url}${path}`, {
      method,
      headers: headersOf(request, ownToken),
      body: typeof body === 'string' ? new TextEncoder().encode(body) : body,
    });
    const text = await response.text();
    checkReply(method, path, { status: response.status, headers: response.headers, text });
    return { status: response.status, headers: response.headers, text, body: parsed(text) };
  };
}
