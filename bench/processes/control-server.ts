import { createServer } from 'node:http';

import { answerParent } from '../harness/answer-parent.ts';
import { portOf } from '../http/port-of.ts';

/** Answers at once: what its callers wait for, the machine has made them wait. */
answerParent({
  listen: async () => {
    const server = createServer((_, response) => response.end('ok'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${portOf(server.address())}`;
  },
});
