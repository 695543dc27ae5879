import { allRoutes, isOfTypes } from '@phalanx/protocol';

import type { Endpoint } from './transport.ts';

export interface NamedEndpoint extends Endpoint {
  readonly isJson: boolean;
}

/**
 * Properties of each contract that a call needs, by operation. The packed client has them as JSON, without the
 * schemas.
 */
export const endpoints: Readonly<Record<string, NamedEndpoint>> = Object.fromEntries(
  allRoutes
    // A WebSocket is no call.
    .filter(({ responses }) => !(101 in responses))
    .map(({ operationId, method, path, bodyTypes, responses }) => [
      operationId,
      {
        method,
        path,
        ...(bodyTypes === undefined ? {} : { bodyTypes }),
        isJson: Object.values(responses).some((response) => !isOfTypes(response)),
      },
    ]),
);
