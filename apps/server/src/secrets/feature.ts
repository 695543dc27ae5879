import type { LaunchSecrets } from '@phalanx/protocol';

import { addBackgroundJob } from '../background-job.ts';
import type { Context } from '../context.ts';
import type { ProjectAccess } from '../projects/project-access.ts';
import { addSecretRoutes } from './routes.ts';
import { type SealedColumn, Sealing } from './sealing.ts';
import { createSealingKeyStore, createSecretStore, placeOf, sealedSecrets } from './store.ts';

interface Secrets {
  /** Encrypts what other features must not store in clear. */
  readonly sealing: Sealing;
  /** The values of a project's secrets, by name. Throws `secrets_unavailable`. */
  readonly secretsOf: (projectId: string) => Promise<LaunchSecrets>;
}

/** Secrets of projects. `others`: what other features have stored encrypted. */
export function openSecrets(
  context: Context,
  access: ProjectAccess,
  others: readonly SealedColumn[],
): Secrets {
  const { app, clock, config, database } = context;
  const store = createSecretStore(database);
  const sealing = new Sealing({ file: config.secretsKeyFile, store: createSealingKeyStore(database) });
  for (const column of [sealedSecrets(database), ...others]) sealing.add(column);
  addSecretRoutes(app, { access, store, sealing, clock });
  addBackgroundJob(context, {
    name: 'seal secrets with the new key',
    everyMs: 24 * 60 * 60 * 1000,
    atStart: true,
    work: () => sealing.resealOld(),
  });
  return {
    sealing,
    secretsOf: async (projectId) => {
      const rows = await store.list(projectId);
      const values = rows.map(
        async (row) => [row.name, await sealing.unseal({ sealed: row.sealed, place: placeOf(row) })] as const,
      );
      return Object.fromEntries(await Promise.all(values));
    },
  };
}
