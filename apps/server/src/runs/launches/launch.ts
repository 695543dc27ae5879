import type { LaunchSecrets, PhoneSettings, ScreenMask } from '@phalanx/protocol';
import type { Launchable } from '../../code/projects/project-files.ts';
import type { OnlineDevice } from '../../fleet/devices/online-devices.ts';
import type { AuditEvent } from '../../http/requests/audit-event.ts';
import type { Principal } from '../../http/requests/principal.ts';
import type { Transaction } from '../../storage/db/database.ts';
import type { StoredRun } from '../runs/stored-run.ts';
import type { Bundle } from './bundles.ts';

/** The caller's own ID of a launch: the same request with the same ID starts nothing again. */
export interface LaunchKey {
  readonly launchId: string;
  /** Digest of the request: another request with the same ID is refused. */
  readonly fingerprint: string;
}

/** Values that the code of a launch gets, and what is done with its phones. */
export interface LaunchInputs {
  readonly automationParameters: Record<string, unknown>;
  readonly jobVariables: Record<string, unknown>;
  /** Whether films are to be made of the runs. */
  readonly film: boolean;
  /** Settings that the phones get before the code starts. */
  readonly phoneSettings: PhoneSettings | undefined;
}

/** A launch with everything that does not depend on which of its phones are online. */
export interface PreparedLaunch extends LaunchInputs {
  /** The service's own ID of the launch. */
  readonly id: string;
  readonly launcher: Pick<Principal, 'userId' | 'tokenName' | 'projectIds' | 'phones' | 'budget'>;
  /** Audit event of the launch; null for the task of a job: the audit event of the job names its user. */
  readonly auditEvent: AuditEvent | null;
  /** Claims the only run, in the transaction that stores it. */
  readonly claim?: (transaction: Transaction, run: StoredRun) => Promise<void>;
  readonly key: LaunchKey | null;
  /** Name of direct code in lists; null when the caller has given none, and for a project. */
  readonly name: string | null;
  readonly automationId: string;
  readonly bundle: Bundle;
  /** The project; null for direct code. */
  readonly project: Launchable | null;
  /** Direct code as it was written; null for a project. */
  readonly code: string | null;
  /** Masks of the parts of screens that must not be seen. */
  readonly masks: readonly ScreenMask[];
  readonly deviceIds: readonly string[];
}

/** A launch on the connections that the hosts of its phones have at this moment. */
export interface Launch extends PreparedLaunch {
  readonly devices: readonly OnlineDevice[];
  /** Secrets that the code may read by name. */
  readonly secrets: LaunchSecrets;
}
