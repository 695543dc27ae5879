import { createServer } from 'node:http';

import { answerParent } from '../harness/answer-parent.ts';
import { portOf } from '../http/port-of.ts';

/** Replies immediately, so that its latency is caused by the machine alone. */
answerParent({
  listen: async () => {
    const server = createServer((_, response) => response.end('ok'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${portOf(server.address())}`;
  },
});
