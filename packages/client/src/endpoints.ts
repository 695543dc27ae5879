import { allRoutes, isOfTypes } from '@phalanx/protocol';

import type { Endpoint } from './call.ts';

/**
 * Properties of each contract that a call needs, by operation. The packed client contains them as JSON, without the
 * schemas.
 */
export const endpoints: Readonly<Record<string, Endpoint>> = Object.fromEntries(
  allRoutes
    // WebSockets are not called as operations.
    .filter(({ responses }) => !(101 in responses))
    .map(({ operationId, method, path, bodyTypes, responses }) => [
      operationId,
      {
        method,
        path,
        ...(bodyTypes === undefined ? {} : { bodyTypes }),
        responses: Object.fromEntries(
          Object.entries(responses).map(([status, answer]) => [status, isOfTypes(answer) ? answer : {}]),
        ),
      },
    ]),
);
