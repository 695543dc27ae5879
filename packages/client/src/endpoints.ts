import { allRoutes, isOfTypes } from '@phalanx/protocol';

import type { Endpoint } from './transport.ts';

export interface NamedEndpoint extends Endpoint {
  readonly isJson: boolean;
}

/** What a call needs of each contract, by operation. The packed client has it as JSON, without the schemas. */
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
