import type { AppVersion } from '../../../storage/db/app-versions.ts';
import type { Db } from '../../../storage/db/database.ts';
import { textsIn } from '../../../storage/db/dialect.ts';
import type { Row } from '../../../storage/db/tables/tables.ts';
import { readPrint } from '../groups/prints/group-prints-store.ts';
import type { ScreenPrint } from '../groups/prints/screen-print.ts';

const shownVersions = 100;
const shownGroups = 20;
/** Maximum number of prints of an app's known groups that new groups are compared with. */
const comparedPrints = 400;
const versionsPerStep = 1000;

type Group = Row<'record_group'>;

export type DriftedGroup = Pick<
  Group,
  | 'id'
  | 'title'
  | 'next_stage'
  | 'screen_state'
  | 'status'
  | 'records'
  | 'phones'
  | 'package_name'
  | 'first_version'
>;

/** Print of a screen of a group. */
export interface GroupPrint {
  groupId: string;
  title: string;
  state: string;
  status: Group['status'];
  print: ScreenPrint;
}

interface ProjectKey {
  projectId: string;
  ownerId: string;
}

/** Reads the app versions that runs have seen, and the groups that first appeared with them. */
export function createDriftStore(db: Db) {
  const groupsOf = ({ projectId, ownerId }: ProjectKey) =>
    db
      .selectFrom('record_group')
      .where('record_group.owner_id', '=', ownerId)
      .where('record_group.automation_id', '=', projectId)
      .where('merged_into', 'is', null);

  return {
    /** Lists versions by the time when they were first seen, newest first. */
    listVersions: (projectId: string): Promise<AppVersion[]> =>
      db
        .selectFrom('app_version')
        .selectAll()
        .where('project_id', '=', projectId)
        .orderBy('first_seen', 'desc')
        .orderBy('package')
        .orderBy('version')
        .limit(shownVersions)
        .execute(),

    /** Counts the groups that first appeared with each version. */
    countGroups: (project: ProjectKey) =>
      groupsOf(project)
        .where('first_version', 'is not', null)
        .select((eb) => ['package_name', 'first_version', eb.fn.countAll<number>().as('groups')])
        .groupBy(['package_name', 'first_version'])
        .execute(),

    /** Lists open groups whose version is known, newest first. */
    listNewGroups: (project: ProjectKey): Promise<DriftedGroup[]> =>
      groupsOf(project)
        .select(['id', 'title', 'next_stage', 'screen_state', 'status', 'records', 'phones'])
        .select(['package_name', 'first_version'])
        .where('first_version', 'is not', null)
        .where('status', '=', 'open')
        .orderBy('first_seen', 'desc')
        .limit(shownGroups)
        .execute(),

    async listPrints(project: ProjectKey, packages: readonly string[]): Promise<GroupPrint[]> {
      const rows = await groupsOf(project)
        .innerJoin('group_print', 'group_print.group_id', 'record_group.id')
        .select(['record_group.id', 'title', 'screen_state', 'status', 'print'])
        .where('package_name', 'in', textsIn(db, packages))
        .where('is_sample', '=', 1)
        .orderBy('last_seen', 'desc')
        .limit(comparedPrints)
        .execute();
      return rows.map(({ id, title, screen_state: state, status, print }) => ({
        groupId: id,
        title,
        state,
        status,
        print: readPrint(print),
      }));
    },

    /**
     * Deletes a batch of versions: those last seen before `before`, and those of deleted projects. Returns their
     * number.
     */
    async deleteSome(before: number): Promise<number> {
      const rows = await db
        .selectFrom('app_version')
        .select(['project_id', 'package', 'version'])
        .where((eb) =>
          eb.or([
            eb('last_seen', '<', before),
            eb('project_id', 'not in', eb.selectFrom('project').select('id')),
          ]),
        )
        .limit(versionsPerStep)
        .execute();
      for (const { project_id, package: name, version } of rows)
        await db
          .deleteFrom('app_version')
          .where('project_id', '=', project_id)
          .where('package', '=', name)
          .where('version', '=', version)
          .execute();
      return rows.length;
    },
  };
}

export type DriftStore = ReturnType<typeof createDriftStore>;
