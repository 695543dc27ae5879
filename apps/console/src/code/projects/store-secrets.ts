import { call } from '../../api/call.ts';

/** Stores values as secrets of a project by name. Replaces existing values. */
export async function storeSecrets(projectId: string, secrets: ReadonlyMap<string, string>): Promise<void> {
  for (const [name, value] of secrets) {
    const params = { id: projectId, name };
    await call('PUT /api/v2/automation-project/:id/secrets/:name', { params, body: { value } });
  }
}
