import { Type, type Static } from 'typebox';

/** Pattern for names in the form of environment variables. */
export const secretNamePattern = '^[A-Za-z_][A-Za-z0-9_]{0,63}$';
export const SecretName = Type.String({
  pattern: secretNamePattern,
  description: 'Up to 64 letters, digits and `_`, not beginning with a digit',
  examples: ['PASSWORD'],
});

/**
 * Limits of a value's length in UTF-16 units. Text shorter than the minimum occurs everywhere, so it cannot be redacted
 * in logs.
 */
export const secretLength = { min: 4, max: 8192 };
export const maxSecretsOfProject = 100;

/** Secrets of a launch, by name. They are sent to hosts, and never stored. */
export const LaunchSecrets = Type.Record(
  Type.String({ pattern: secretNamePattern }),
  Type.String({ minLength: secretLength.min, maxLength: secretLength.max }),
);
export type LaunchSecrets = Static<typeof LaunchSecrets>;

/** Failures of secrets, as rows of the error table. */
export const secretErrors = {
  secret_not_found: { status: 404, message: 'Project {project_id} has no secret {name}.' },
  too_many_secrets: {
    status: 400,
    message: 'A project has at most 100 secrets: delete one that is no longer used.',
  },
  secrets_withheld: {
    status: 400,
    message:
      'The project has secrets, and the owners of these hosts are not allowed to get them: {devices}. Choose other devices, or have the owner of the project allow them: PUT /api/v2/automation-project/{project_id}/secret-recipients/:user_id, "phalanx secret allow USER".',
  },
  secret_recipient_not_found: {
    status: 404,
    message: 'Project {project_id} does not list user {user_id} among those whose hosts get its secrets.',
  },
  secrets_unavailable: {
    status: 503,
    message:
      'This server cannot read secrets: {reason}. Nothing was changed. Its operator finds what to do in docs/operating.md, section "Secrets".',
  },
} as const;
