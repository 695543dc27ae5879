/**
 * `node inside.ts ROOT FOLDER` in namespaces of its own: starts adbd, brings what it connects to on the phone's own
 * 127.0.0.1 to the simulated phone, and what comes through the cable to adbd. Ends with its parent.
 */
import { execFileSync, spawn } from 'node:child_process';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';

const [root = '', folder = ''] = process.argv.slice(2);
const adbdPort = 5555;
/** Of the UiAutomator2 server: its API, and its pictures. */
const phonePorts = [6790, 7810];

function joinUp(near: Socket, far: Socket): void {
  near.pipe(far).pipe(near);
  for (const [one, other] of [
    [near, far],
    [far, near],
  ] as const) {
    one.on('error', () => other.destroy());
    one.on('close', () => other.destroy());
  }
}

execFileSync('ip', ['link', 'set', 'lo', 'up']);
for (const port of phonePorts) {
  createServer({ noDelay: true }, (near) => {
    const far = connect(join(folder, 'data/phone/socket'));
    far.write(`tcp:${port}\0`);
    joinUp(near, far);
  }).listen(port, '127.0.0.1');
}
createServer((near) => joinUp(near, connect(adbdPort, '127.0.0.1').setNoDelay(true))).listen(
  join(folder, 'cable'),
);
const adbd = spawn(join(import.meta.dirname, 'enter.sh'), [root, folder], { stdio: 'ignore' });
adbd.on('exit', (code) => process.exit(code ?? 1));
// However the parent ends, its side of this is closed.
process.stdin.on('end', () => process.exit(0)).resume();
