import type { LaunchSecrets } from '@phalanx/protocol';
import { addBackgroundJob } from '../../storage/background-job.ts';
import type { Context } from '../../http/context.ts';
import { dayMs } from '@phalanx/timing/durations';
import type { ProjectAccess } from '../projects/project-access.ts';
import { type SealedColumn, Sealing } from './sealing.ts';
import { createSealingKeyStore, createSecretStore, placeOf, sealedSecrets } from './store.ts';
import { addRecipientRoutes } from './recipient-routes.ts';
import { createRecipientStore } from './recipient-store.ts';
import { SecretGrants } from './secret-grants.ts';
import { addSecretRoutes } from './routes.ts';

interface Secrets {
  /** Encrypts values that other features must not store in plain text. */
  readonly sealing: Sealing;
  /** Returns the values of a project's secrets by name, for searches on this server. Throws `secrets_unavailable`. */
  readonly secretsOf: (projectId: string) => Promise<LaunchSecrets>;
  /** Grants secrets to hosts. */
  readonly grants: SecretGrants;
}

interface SecretDependencies {
  access: ProjectAccess;
  nameOf: (userId: string) => string;
}

/** Opens the secrets of projects. `others`: encrypted columns of other features. */
export function openSecrets(
  context: Context,
  { access, nameOf }: SecretDependencies,
  others: readonly SealedColumn[],
): Secrets {
  const { app, clock, config, database } = context;
  const store = createSecretStore(database);
  const sealing = new Sealing({ file: config.secretsKeyFile, store: createSealingKeyStore(database) });
  for (const column of [sealedSecrets(database), ...others]) sealing.add(column);
  addSecretRoutes(app, { access, store, sealing, clock });
  addBackgroundJob(context, {
    name: 'seal secrets with the new key',
    everyMs: dayMs,
    atStart: true,
    work: () => sealing.resealOld(),
  });
  const secretsOf = async (projectId: string): Promise<LaunchSecrets> => {
    const rows = await store.list(projectId);
    const values = rows.map(
      async (row) => [row.name, await sealing.unseal({ sealed: row.sealed, place: placeOf(row) })] as const,
    );
    return Object.fromEntries(await Promise.all(values));
  };
  const recipients = createRecipientStore(database);
  addRecipientRoutes(app, { access, store: recipients, clock });
  const grants = new SecretGrants({ recipients, secretsOf, nameOf });
  return { sealing, secretsOf, grants };
}
