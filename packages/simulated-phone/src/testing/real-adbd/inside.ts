/**
 * `node inside.ts ROOT FOLDER` in separate namespaces: starts adbd, forwards its connections to the phone's own
 * 127.0.0.1 to the simulated phone, and forwards connections from the cable to adbd. Ends with its parent.
 */
import { execFileSync, spawn } from 'node:child_process';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { joinUp } from './join-up.ts';
import { phonePorts } from './phone-ports.ts';

const [root = '', folder = ''] = process.argv.slice(2);
const adbdPort = 5555;

execFileSync('ip', ['link', 'set', 'lo', 'up']);
for (const port of phonePorts) {
  const path = join(folder, `data/phone/tcp-${port}`);
  createServer({ noDelay: true }, (near) => joinUp(near, connect(path))).listen(port, '127.0.0.1');
}
createServer((near) => joinUp(near, connect(adbdPort, '127.0.0.1').setNoDelay(true))).listen(
  join(folder, 'cable'),
);
const adbd = spawn(join(import.meta.dirname, 'enter.sh'), [root, folder], { stdio: 'ignore' });
adbd.on('exit', (code) => process.exit(code ?? 1));
// Ends when the parent does, however that ends.
process.stdin.on('end', () => process.exit(0)).resume();
