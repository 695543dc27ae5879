import type { KyselyPlugin, RootOperationNode } from 'kysely';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { openTestDatabase } from '../../testing/engines/test-database.ts';
import { GroupCommit } from '../../storage/db/group-commit.ts';
import { createJobStore } from './store.ts';
import { createTaskStore } from './task-store.ts';

it('what is looked for again and again is found by an index that has nothing else', async () => {
  const database = await openTestDatabase('SQLite');
  const nodes: RootOperationNode[] = [];
  const listener: KyselyPlugin = {
    transformQuery: ({ node }) => {
      nodes.push(node);
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  const heard = database.withPlugin(listener);
  const jobs = createJobStore(heard);
  await jobs.findNextDue(1000);
  await jobs.expire(1000, { code: 'wait_expired', message: '' });
  await createTaskStore(heard, new GroupCommit(heard)).listUnsettled();
  const reads = nodes.filter(({ kind }) => kind === 'SelectQueryNode');
  const plans = await Promise.all(
    reads.map(async (node) => {
      const { sql: text, parameters } = database.getExecutor().compileQuery(node, { queryId: 'plan' });
      const [start = '', ...rest] = `EXPLAIN QUERY PLAN ${text}`.split('?');
      const query = rest.reduce(
        (all, part, at) => sql`${all}${parameters[at]}${sql.raw(part)}`,
        sql.raw(start),
      );
      const { rows } = await sql<{ detail: string }>`${query}`.execute(database);
      return rows.map(({ detail }) => /INDEX (\w+)/.exec(detail)?.[1]);
    }),
  );
  expect(plans.map(([index]) => index)).toEqual(['job_limit', 'task_due', 'job_limit', 'task_running']);
});
