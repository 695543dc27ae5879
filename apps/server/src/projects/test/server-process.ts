import { startServer } from '../../app.ts';
import { parseServerConfig } from '../../config.ts';

/* `node server-process.ts`: the service as its own process, which prints its address when it is ready. */

const app = await startServer(parseServerConfig());
process.stdout.write(`${app.url}\n`);
