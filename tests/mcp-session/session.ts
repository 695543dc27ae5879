import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { until } from '@phalanx/host/testing/until';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';

/** Calls a tool. Returns the text of its result. */
export type CallTool = (name: string, args: Record<string, unknown>) => Promise<string>;

export const eras = ['2025', '2026'] as const;
export type Era = (typeof eras)[number];

export interface Service {
  readonly url: string;
  readonly token: string;
}

/** Call with its cost for an agent. */
export interface TalliedCall {
  readonly name: string;
  readonly args: Record<string, unknown>;
  readonly text: string;
  /** Tokens of the result. */
  readonly tokens: number;
}

/** Connects the official SDK's client with the protocol of an era. */
export async function connectSdk({ url, token }: Service, era: Era): Promise<Client> {
  const mode = era === '2025' ? 'legacy' : ({ pin: '2026-07-28' } as const);
  const client = new Client({ name: 'scripted session', version: '1' }, { versionNegotiation: { mode } });
  const headers = { authorization: `Bearer ${token}` };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }),
  );
  return client;
}

export async function callSdk(client: Client, name: string, args: Record<string, unknown>): Promise<string> {
  const { content } = await client.callTool({ name, arguments: args });
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
}

const code = (settings: string): string => `
const result = await runStages({
  states: { Home: { id: 'workspace' }, Settings: ${settings}, End: { id: 'the_end' } },
  maxUnknownLooks: 2,
  stages: [{ name: 'leave', reached: 'Home', on: { Settings: () => agent.actions.home() } }],
});
console.log('left the settings');
`;
const begin = `await agent.actions.launchApp('com.android.settings');`;

function found(pattern: RegExp, text: string): string {
  const [, value] = pattern.exec(text) ?? [];
  if (value === undefined) throw new Error(`${String(pattern)} is not in:\n${text}`);
  return value;
}

/**
 * Plays an agent that writes an automation, whose app shows an unknown screen, and repairs it from the group of that
 * screen. Checks the essential content of each result. Returns all calls.
 */
export async function playSession(callTool: CallTool, device: string): Promise<TalliedCall[]> {
  const calls: TalliedCall[] = [];
  const call: CallTool = async (name, args) => {
    const text = await callTool(name, args);
    calls.push({ name, args, text, tokens: countTokens(text) });
    return text;
  };

  found(new RegExp(`(${device})`), await call('list_devices', {}));
  const lease = found(/^lease (\S+)/, await call('take_device', { device }));
  const home = await call('read_screen', { device });
  const screen = found(/^screen (\S+)/m, home);
  const settings = Number(found(/^ *(\d+) .*"Settings"/m, home));
  const steps = [
    { type: 'tap', on: settings },
    { type: 'wait_for', on: 'Airplane mode' },
  ];
  const acted = await call('act', { device, screen, lease, steps });
  found(/(2 wait_for: done)/, acted);
  const opened = { device, screen: found(/^screen (\S+)/m, acted) };
  const line = Number(found(/^[+ ]*(\d+) .*"Airplane mode"/m, acted));
  found(/selector (agent\.actions\.waitFor\S+)/, await call('inspect_node', { ...opened, on: line }));
  await call('give_back_device', { device, lease });

  found(/(runStages)/, await call('search_docs', { query: 'runStages states unknown screen' }));
  const project = found(/^project (\S+)/, await call('create_project', { name: `leaves ${device}` }));
  const written = (content: string) => [{ path: 'main.ts', content }];
  const mistaken = written('const name: number = "Ada";\n');
  found(/(TS2322)/, await call('write_project', { project, files: mistaken, dry_run: true }));
  const first = written(
    `${begin}\nawait agent.actions.waitForText('Airplane mode');\nconsole.log('there');\n`,
  );
  found(/^(Written)/, await call('write_project', { project, files: first }));
  found(/(log 3 there)/, await call('run_project', { project, devices: [device], wait_s: 55 }));
  await call('commit_project', { project, message: 'Opens the settings' });

  // The run fails because the code expects other settings.
  const broken = written(begin + code("{ id: 'nowhere' }"));
  found(/^(Written)/, await call('write_project', { project, files: broken }));
  const failed = await call('run_project', { project, devices: [device], wait_s: 55 });
  const record = found(/read_record (\S{36})/, failed);
  found(/(Unknown|unknown)/, await call('read_record', { project, record }));
  const group = await until(
    'a group',
    async () => /group (\S{36})/.exec(await callTool('list_groups', { project }))?.[1],
    (id) => id !== undefined,
  );
  found(/(group) /, await call('list_groups', { project }));
  found(/(Airplane mode)/, await call('get_group', { group }));

  const repaired = written(begin + code("'Airplane mode'"));
  const replayed = await call('replay_draft', { project, group, files: repaired });
  found(/(handled 1\/1)/, replayed);
  found(/^(Written)/, await call('write_project', { project, files: repaired }));
  found(/(left the settings)/, await call('run_project', { project, devices: [device], wait_s: 55 }));
  await call('commit_project', { project, message: `Knows the settings\n\nSolves ${group ?? ''}` });
  found(/(solved)/, await call('get_group', { group }));
  return calls;
}
