import { randomUUID } from 'node:crypto';
import type { Device, LogEntry, OutOfStepsRecord, Run } from '@phalanx/protocol';

const line = (text = ''): void => console.log(text);

export function printIntroduction(url: string, protection: string): void {
  line();
  line(`  Phalanx demo    ${url}`);
  line(`  API reference   ${url}/docs`);
  line(`  ${protection}`);
  line();
}

export function printDevice({ brand, model, android_version: version, serial, state, since }: Device): void {
  const age = Math.max(0, Math.round((Date.now() - since) / 1000));
  line(
    `  Phone   ${brand} ${model}, Android ${version}, serial ${serial}: ${state} for ${age} s (simulated)`,
  );
}

export function printLaunch(file: string, message: string): void {
  line();
  line(`  Launch  apps/cli/samples/${file}: ${message}`);
  line();
  line('  line  level  message');
}

export function printLog({ lineNumber, messageLevel, message }: LogEntry): void {
  const margin = `\n${' '.repeat(15)}`;
  line(`  ${String(lineNumber).padStart(4)}  ${messageLevel.padEnd(5)}  ${message.replaceAll('\n', margin)}`);
}

export function printRunEnd({ status, error, started_at: startedAt, ended_at: endedAt }: Run): void {
  const duration =
    startedAt === null || endedAt === null ? '' : ` after ${((endedAt - startedAt) / 1000).toFixed(1)} s`;
  line();
  line(`  Run     ${status}${duration}${error === null ? '' : `: ${error.message}`}`);
}

export function printRecord({ out_of_steps_id: id, type, screens }: OutOfStepsRecord): void {
  const last = screens.at(-1);
  line(`  Record  ${type} ${id} with ${screens.length} screens; the last one:`);
  line(`          ${last?.screenshot.screenshotUrl ?? 'no picture'}`);
}

interface NextSteps {
  url: string;
  token: string;
  device: Device;
  signInLink: string;
}

const quoted = (value: unknown): string => `'${JSON.stringify(value).replaceAll("'", `'\\''`)}'`;

/** Commands that work when they are pasted, in this order. */
export function printNextSteps({ url, token, device, signInLink }: NextSteps): void {
  const launchId = randomUUID();
  const post = (path: string, body: unknown): string =>
    `curl -s ${url}${path} -H 'Authorization: Bearer ${token}' -H 'Content-Type: application/json' -d ${quoted(body)}`;
  const code =
    "const screen = await agent.actions.screenContent(); console.log('In front:', screen.packageName); for (const node of screen.allNodes()) if (node.text) console.log(node.text);";
  line();
  line(`  Token   ${token}`);
  line();
  line('  The console, signed in (the link works once):');
  line();
  line(signInLink);
  line();
  line('  Paste these into another terminal: the phones, a launch of your own, its logs.');
  line();
  line(`curl -s ${url}/api/v2/devices -H 'Authorization: Bearer ${token}'`);
  line();
  line(
    post('/api/v2/devices/launchDirectAutomation', {
      device_id: device.device_id,
      launch_id: launchId,
      command: 'start',
      code,
    }),
  );
  line();
  // Whoever pastes all at once would read the log before there is one.
  const logs = { device_id: device.device_id, automation_ids: [launchId] };
  line(`sleep 2; ${post('/api/v2/devices/automationLogs', logs)}`);
  line();
  line('  Ctrl-C ends the demo.');
}
