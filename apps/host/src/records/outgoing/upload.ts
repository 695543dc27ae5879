import type { ApiClient } from '@phalanx/client/api-client';
import type { Endpoint, Inputs } from '@phalanx/client/call';
import { NotTheService, ServiceError } from '@phalanx/client/service-errors';

/** Statuses of a permanent refusal: the server will never accept the body, or does not know its run or record. */
const finalStatuses: readonly number[] = [400, 404, 413, 415];
const noRoomStatus = 409;

export interface Upload {
  readonly endpoint: Endpoint;
  readonly inputs: Inputs;
  /** Whether the upload is abandoned instead of retried when its user has no room for it. */
  readonly isForRoom?: boolean;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Uploads a body. Returns false when the server will never accept it. Rejects when a retry may help. */
export async function upload(
  server: ApiClient,
  { endpoint, inputs, isForRoom = false, timeoutMs, signal }: Upload,
): Promise<boolean> {
  try {
    const response = await server.send(endpoint, inputs, { timeoutMs, signal });
    await response.body?.cancel();
    return true;
  } catch (error) {
    const isAnswer = error instanceof ServiceError || error instanceof NotTheService;
    if (!isAnswer) throw error;
    const isFinal = finalStatuses.includes(error.status) || (isForRoom && error.status === noRoomStatus);
    if (isFinal) return false;
    throw error;
  }
}
