import { ApiError } from '../errors/api-error.ts';
import { requireScope, type Authenticate } from '../http/authentication.ts';
import type { Principal } from '../http/principal.ts';
import { editors, readers, type ProjectAccess, type SharedProject } from '../projects/project-access.ts';
import type { GitService } from './git-exchange.ts';

/** Git sends the token as a password, programs send it as everywhere else. */
function bearerOf(authorization: string | undefined): string | undefined {
  const encoded = /^Basic +([A-Za-z0-9+/=]+) *$/i.exec(authorization ?? '')?.[1];
  if (encoded === undefined) return authorization;
  const credentials = Buffer.from(encoded, 'base64').toString();
  const password = credentials.slice(credentials.indexOf(':') + 1);
  // A form of user name that some tools use for tokens: https://TOKEN@host/
  const token = password === '' ? credentials.slice(0, credentials.indexOf(':')) : password;
  return `Bearer ${token}`;
}

interface GitRequest {
  principal: Principal;
  projectId: string;
  service: GitService;
}

export const authenticateGitCaller = (
  authenticate: Authenticate,
  authorization: string | undefined,
  address: () => string,
): Principal | Promise<Principal> => authenticate(bearerOf(authorization), address);

/** The project that this caller may fetch from or push to. Throws what the error table has for that. */
export async function admitGitCaller(
  access: ProjectAccess,
  { principal, projectId, service }: GitRequest,
): Promise<SharedProject> {
  requireScope(principal, service === 'upload-pack' ? 'read' : 'edit');
  const project = await access.getProject(principal, projectId, readers);
  if (service === 'receive-pack' && !editors.includes(project.role))
    throw ApiError.of('forbidden', { reason: 'You may read this project, but not push to it' });
  return project;
}
