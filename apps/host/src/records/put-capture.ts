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

/** The server will never take this capture, or this record. */
const finalStatuses = new Set([400, 404, 413, 415]);

/** Brings a capture to the server. False when the server will never take it. Rejects when another try may help. */
export async function putCapture(
  { serverUrl, token }: CaptureServer,
  address: CaptureAddress,
  { body, signal }: { body: Buffer; signal: AbortSignal },
): Promise<boolean> {
  const response = await fetch(captureUrl(serverUrl, address), {
    method: 'PUT',
    headers: { authorization: `Bearer ${token}`, 'content-type': contentTypes[address.kind] },
    body: new Uint8Array(body),
    redirect: 'manual',
    signal,
  });
  await response.body?.cancel();
  if (response.ok) return true;
  if (finalStatuses.has(response.status)) return false;
  throw new Error(`The server answered ${response.status} to a capture`);
}

function captureUrl(serverUrl: URL, { recordId, screenId, kind }: CaptureAddress): URL {
  const url = new URL(serverUrl);
  url.pathname = `${serverUrl.pathname.replace(/\/+$/, '')}/api/v2/hosts/records/${recordId}/screens/${screenId}/${kind}`;
  return url;
}
