import type { CaptureKind } from '@phalanx/protocol';

export interface CaptureAddress {
  recordId: string;
  screenId: string;
  kind: CaptureKind;
}

export interface CaptureServer {
  serverUrl: URL;
  token: string;
}

const contentTypes: Record<CaptureKind, string> = { tree: 'application/json', screenshot: 'image/jpeg' };

/** The server will never take it, or anything of what it belongs to. */
const finalStatuses = new Set([400, 404, 413, 415]);
const noRoomStatus = 409;

export interface Upload {
  /** Path below the address of the server. */
  path: string;
  contentType: string;
  body: NonNullable<RequestInit['body']>;
  /** Whether it is given up when its user has no room for it. */
  isForRoom?: boolean;
  signal: AbortSignal;
}

/** Brings a body to the server. False when the server will never take it. Rejects when another try may help. */
export async function putBody(
  { serverUrl, token }: CaptureServer,
  { path, contentType, body, isForRoom = false, signal }: Upload,
): Promise<boolean> {
  const url = new URL(`${serverUrl.origin}${serverUrl.pathname.replace(/\/+$/, '')}${path}`);
  const response = await fetch(url, {
    method: 'PUT',
    headers: { authorization: `Bearer ${token}`, 'content-type': contentType },
    body,
    redirect: 'manual',
    signal,
  });
  await response.body?.cancel();
  if (response.ok) return true;
  if (finalStatuses.has(response.status)) return false;
  if (isForRoom && response.status === noRoomStatus) return false;
  throw new Error(`The server answered ${response.status} to an upload`);
}

/** The same for a capture. */
export function putCapture(
  server: CaptureServer,
  { recordId, screenId, kind }: CaptureAddress,
  { body, signal }: { body: Buffer; signal: AbortSignal },
): Promise<boolean> {
  const path = `/api/v2/hosts/records/${recordId}/screens/${screenId}/${kind}`;
  return putBody(server, { path, contentType: contentTypes[kind], body: new Uint8Array(body), signal });
}
