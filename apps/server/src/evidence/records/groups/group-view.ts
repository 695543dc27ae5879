import type { GroupRecord, JoinReason, RecordGroup } from '@phalanx/protocol';
import type { Db } from '../../../storage/db/database.ts';
import type { AutomationAccess } from '../access-store.ts';
import { readApp } from '../stored-record.ts';
import { type CaptureUrl, readDeviceInfo, screenView } from '../record-view.ts';
import { mapProofs, type GroupStore, type ShownMember } from './store.ts';
import type { StoredGroup } from './membership-store.ts';
import { crashOf } from './crash.ts';

interface Options {
  database: Db;
  store: GroupStore;
  access: AutomationAccess;
  captureUrl: CaptureUrl;
}

export interface GroupViews {
  all(groups: readonly StoredGroup[]): Promise<RecordGroup[]>;
  one(group: StoredGroup): Promise<RecordGroup>;
  record(shown: ShownMember): GroupRecord;
}

/** Reads the reason of a member without validation: only the group stores write this column. */
export const readReason = (json: string | null): JoinReason =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  json === null ? { by: 'new' } : (JSON.parse(json) as JoinReason);

/** Fields of a group's view that are not in its row. */
interface Beside extends Pick<RecordGroup, 'proved'> {
  name: string;
  assignee: string;
  sample: ShownMember | undefined;
}

/** Creates the API views of groups and their records. */
export function createGroupViews({ database, store, access, captureUrl }: Options): GroupViews {
  const record = ({ member, record: stored, screen }: ShownMember): GroupRecord => {
    return {
      record_id: stored.id,
      run_id: stored.run_id,
      type: stored.type,
      status: stored.status,
      device_info: readDeviceInfo(stored.device_info),
      added: new Date(stored.added_at).toISOString(),
      commit: member.commit_hash,
      outdated: member.is_outdated === 1,
      reason: readReason(member.reason),
      screen: screenView(screen, captureUrl),
      app: readApp(stored.app) ?? null,
    };
  };

  const view = (group: StoredGroup, { name, assignee, sample, proved }: Beside): RecordGroup => {
    const { assignee_id: assigneeId, solved_commit, owner_id: _, project_id: _project, ...others } = group;
    const { merged_into: _into, last_move: _move, ...rest } = others;
    return {
      ...rest,
      automation_name: name,
      assignee: assigneeId === null ? null : { id: assigneeId, name: assignee },
      solved_in: solved_commit,
      proved,
      error: (sample && crashOf(sample.record)?.error) ?? null,
      sample: sample === undefined ? null : record(sample),
    };
  };

  /** Maps projects to their current names, because a project may have been renamed. */
  const mapNames = async (groups: readonly StoredGroup[]): Promise<Map<string, string>> => {
    const names = new Map<string, string>();
    for (const { project_id: id } of groups)
      if (id !== null && !names.has(id)) names.set(id, (await access.findProject(id))?.name ?? '');
    return names;
  };

  const mapAssignees = async (groups: readonly StoredGroup[]): Promise<Map<string, string>> => {
    const names = new Map<string, string>();
    for (const { assignee_id: id } of groups)
      if (id !== null && !names.has(id)) names.set(id, await store.findUserName(id));
    return names;
  };

  const all: GroupViews['all'] = async (groups) => {
    const samples = await store.mapSamples(groups.map(({ id }) => id));
    const proofs = await mapProofs(database, groups);
    const names = await mapNames(groups);
    const assignees = await mapAssignees(groups);
    return groups.map((group) => {
      const current = group.project_id === null ? undefined : names.get(group.project_id);
      return view(group, {
        name: current ?? group.automation_name,
        assignee: assignees.get(group.assignee_id ?? '') ?? '',
        sample: samples.get(group.id),
        proved: proofs.get(group.id) ?? null,
      });
    });
  };

  return {
    all,
    record,
    async one(group) {
      const [shown] = await all([group]);
      if (shown === undefined) throw new Error('one group has one view');
      return shown;
    },
  };
}
