import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { Installation } from '../support/installation.ts';
import { areOtherToolsHere, otherTool, otherToolUrl, root } from './other-tools.ts';

const run = promisify(execFile);

let installation: Installation;
let folder: string;
let document: { components: { schemas: Record<string, object> } };

const at = (name: string): string => path.join(folder, name);

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'phalanx-generated-'));
  installation = await Installation.start(1);
  const text = await (await fetch(`${installation.url}/api/openapi.json`)).text();
  document = JSON.parse(text);
  await writeFile(at('openapi.json'), text);
});
afterAll(async () => {
  await installation.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Program as a user would write it with the generated types: names of schemas, an operation, a union. */
const program = `
import type { components, operations } from './api.d.ts';
type Devices = components['schemas']['ListDevicesReply'];
type Launch = components['schemas']['LaunchDirectAutomationBody'];
type Answer = operations['listDevices']['responses'][200]['content']['application/json'];
const serials = ({ devices }: Devices): string[] => devices.map(({ serial }) => serial);
const states = (answer: Answer): ('ready' | 'offline')[] =>
  answer.devices.flatMap(({ state }) => (state === 'ready' || state === 'offline' ? [state] : []));
const launch: Launch = { device_id: 'x', launch_id: 'y', command: 'start', code: '' };
// @ts-expect-error: there is no such command
const wrong: Launch = { device_id: 'x', launch_id: 'y', command: 'fly', code: '' };
export { serials, states, launch, wrong };
`;

test.skipIf(!areOtherToolsHere)(
  'types that openapi-typescript generates compile, by the names of the schemas',
  async () => {
    const cli = otherTool('openapi-typescript/bin/cli.js');
    await run(process.execPath, [cli, at('openapi.json'), '-o', at('api.d.ts')]);
    await writeFile(at('program.ts'), program);
    await writeFile(at('package.json'), '{"type": "module"}');
    const tsc = path.join(root, 'node_modules/typescript/bin/tsc');
    const flags = ['--strict', '--noEmit', '--allowImportingTsExtensions', '--module', 'nodenext'];
    const checked = await run(process.execPath, [tsc, ...flags, '--target', 'es2023', at('program.ts')], {
      cwd: folder,
    });
    expect(checked.stdout).toBe('');
    const lines = (await readFile(at('api.d.ts'), 'utf8')).split('\n').length;
    console.log(`openapi-typescript: ${lines} lines`);
  },
);

/** Program that parses the reply of a running service with the generated classes and serializes it again. */
const python = `
import json, sys, urllib.request
from api import list_devices_reply_from_dict, list_devices_reply_to_dict
asked = urllib.request.Request(sys.argv[1] + '/api/v2/devices', headers={'Authorization': 'Bearer ' + sys.argv[2]})
reply = json.load(urllib.request.urlopen(asked))
devices = list_devices_reply_from_dict(reply)
assert list_devices_reply_to_dict(devices) == reply
print(devices.devices[0].serial, devices.devices[0].state.value)
`;

/** Passed by --eval, because the packages have no program that accepts an entire document. */
const generatePython = `
const { readFileSync, writeFileSync } = await import('node:fs');
const { quicktype, InputData, JSONSchemaInput, FetchingJSONSchemaStore } = await import(process.argv[1]);
const { components } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const input = new JSONSchemaInput(new FetchingJSONSchemaStore());
for (const name of Object.keys(components.schemas))
  await input.addSource({ name, schema: JSON.stringify({ $ref: '#/components/schemas/' + name, components }) });
const inputData = new InputData();
inputData.addInput(input);
const { lines } = await quicktype({ inputData, lang: 'python', rendererOptions: { 'python-version': '3.7' } });
writeFileSync(process.argv[3], lines.join('\\n'));
`;

test.skipIf(!areOtherToolsHere)(
  'classes that quicktype generates for Python read what the service says, and write it as it was',
  async () => {
    const quicktype = otherToolUrl('quicktype-core/dist/index.js');
    const flags = ['--input-type=module', '--eval', generatePython];
    await run(process.execPath, [...flags, quicktype, at('openapi.json'), at('api.py')]);
    await writeFile(at('program.py'), python);
    await run('python3', ['-m', 'py_compile', at('api.py')]);
    const token = installation.callerSettings['PHALANX_TOKEN'] ?? '';
    const { stdout } = await run('python3', [at('program.py'), installation.url, token]);
    expect(stdout).toBe('TEST1 ready\n');
    expect(Object.keys(document.components.schemas).length).toBeGreaterThan(200);
  },
);
