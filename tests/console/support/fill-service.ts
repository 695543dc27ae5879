import { readFile } from 'node:fs/promises';

import type { Service } from '../../user-ways/service.ts';

const samples = new URL('../../../apps/cli/samples/', import.meta.url);

/** What the pages are about. */
export interface Places {
  readonly deviceId: string;
  readonly projectId: string;
  readonly runId: string;
}

const schema = {
  type: 'object',
  required: ['name', 'email'],
  properties: {
    name: { type: 'string', title: 'Name', description: 'As it goes into the form' },
    email: { type: 'string', title: 'E-mail' },
    tries: { type: 'integer', title: 'Tries', default: 3 },
    plan: { enum: ['free', 'team'], title: 'Plan', default: 'free' },
  },
};

/** A service that somebody works with: projects, runs that ended well and badly, a record. */
export async function fillService(service: Service): Promise<Places> {
  const devices = await service.readyDevices(3);
  const [deviceId = '', otherId = ''] = devices;
  const projectId = await service.createProject('Registration');
  await writeFile(service, projectId, 'main.ts', await readFile(new URL('registration.ts', samples), 'utf8'));
  await writeFile(service, projectId, 'parameters.schema.json', `${JSON.stringify(schema, null, 2)}\n`);
  await writeFile(
    service,
    projectId,
    'lib/names.ts',
    'export const first = (name: string): string => name.split(" ")[0] ?? name;\n',
  );
  await service.call('POST', `/api/v2/automation/commit/${projectId}`, { message: 'The form is filled in' });
  const run = await service.launch(deviceId, projectId, { name: 'Ada Lovelace', email: 'ada@example.com' });
  const other = await service.createProject('Unknown screens');
  await writeFile(service, other, 'main.ts', await readFile(new URL('out-of-steps.ts', samples), 'utf8'));
  await service.launch(deviceId, other);
  const broken = await service.createProject('Nightly checkout');
  await writeFile(
    service,
    broken,
    'main.ts',
    "console.warn('the cart is empty');\nconst button = await agent.actions.waitForText('Pay now', { timeoutMs: 500 });\nawait button.tap();\n",
  );
  await service.launch(otherId, broken);
  return { deviceId, projectId, runId: String(run['run_id']) };
}

async function writeFile(service: Service, projectId: string, file: string, content: string): Promise<void> {
  await service.call('PUT', `/api/v2/automation/file/${projectId}`, { path: file, content });
}
