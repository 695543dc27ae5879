import { startServer } from '../app.ts';
import { parseServerConfig } from '../config.ts';

/** A server in a process of its own, for tests that kill it. Its first line is its address. Most compile nothing. */
const { url } = await startServer(parseServerConfig(), { prepareCompilerMs: undefined });
console.log(url);
