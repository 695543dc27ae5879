import { readFile } from 'node:fs/promises';

import type { Service } from '../../user-ways/service.ts';

const samples = new URL('../../../apps/cli/samples/', import.meta.url);

/** Objects that the pages show. */
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

/** Fills a service with typical data: projects, succeeded and failed runs, a record. */
export async function fillService(service: Service): Promise<Places> {
  const devices = await service.readyDevices(3);
  const [deviceId = '', otherId = ''] = devices;
  const sample = (file: string): Promise<string> => readFile(new URL(file, samples), 'utf8');
  const projectId = await service.createProject('Registration', {
    'main.ts': await sample('registration.ts'),
    'parameters.schema.json': `${JSON.stringify(schema, null, 2)}\n`,
    'lib/names.ts': 'export const first = (name: string): string => name.split(" ")[0] ?? name;\n',
  });
  await service.call('POST', `/api/v2/automation/commit/${projectId}`, { message: 'The form is filled in' });
  // Leaves an uncommitted change.
  await service.writeFile(
    projectId,
    'lib/names.ts',
    'export const first = (name: string): string => name.trim().split(/\\s+/)[0] ?? name;\n',
  );
  const run = await service.launch(deviceId, projectId, { name: 'Ada Lovelace', email: 'ada@example.com' });
  const other = await service.createProject('Unknown screens', {
    'main.ts': await sample('out-of-steps.ts'),
  });
  await service.launch(deviceId, other);
  const broken = await service.createProject('Nightly checkout', {
    'main.ts':
      "console.warn('the cart is empty');\nconst button = await agent.actions.waitForText('Pay now', { timeoutMs: 500 });\nawait button.tap();\n",
  });
  await service.launch(otherId, broken);
  await service.call('POST', '/api/v2/webhooks', {
    name: 'Failed nightly runs',
    url: 'https://receiver.example/phalanx',
    events: ['run.ended', 'device.not_ready'],
    outcomes: ['failed', 'lost'],
    paused: true,
  });
  return { deviceId, projectId, runId: String(run['run_id']) };
}
