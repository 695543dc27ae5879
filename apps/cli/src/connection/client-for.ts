import { ApiClient } from '@phalanx/client/api-client';

/** Returns the client of a command. It sends each request once: a command that waits for the service says so. */
export const clientFor = (url: string, token?: string): ApiClient =>
  new ApiClient({ url, token, retryForMs: 0 });
