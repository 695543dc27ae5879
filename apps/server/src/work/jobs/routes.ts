import { Readable } from 'node:stream';
import { jobRoutes } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';
import { atOnceOf, createJob, type JobMaker, scheduleKeyPrefix, tooManySelectors } from './create-job.ts';
import type { JobRunner } from './job-runner.ts';
import type { StoredJob } from './store.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import { readPage } from '../../http/requests/replies/page.ts';
import type { Principal } from '../../http/requests/principal.ts';
import { addRawRoute, addRoute } from '../../http/requests/route.ts';
import { editors, type ProjectAccess } from '../../code/projects/project-access.ts';
import { idsOf, type JobSources, jobView, shortView, taskView } from './job-view.ts';
import { type ReadTasks, resultsAsCsv, resultsAsLines } from './export-results.ts';
import { listedWork, makerOf, requireNamedPhones, requireWork } from './work-access.ts';
import { readSelector } from '../../fleet/devices/labels/phone-labels.ts';

interface JobRoutesOptions extends JobSources {
  maker: JobMaker;
  runner: JobRunner;
  projects: ProjectAccess;
  /** Asks hosts to stop these runs. */
  stop: (runIds: readonly string[]) => Promise<void>;
}

/** `GET, POST /jobs` · `GET, DELETE /jobs/:id` · `GET /jobs/:id/tasks` · `POST /jobs/:id/cancel, resume` */
export function addJobRoutes(app: FastifyInstance, options: JobRoutesOptions): void {
  const { store, maker, runner, projects, stop, access: devices } = options;

  const get = async (principal: Principal, id: string, roles?: typeof editors): Promise<StoredJob> => {
    const missing = ApiError.of('job_not_found', { job_id: id });
    const row = await store.find(id.toLowerCase());
    return requireWork(projects, { principal, row, roles, missing, kind: 'job' });
  };

  addRoute(app, jobRoutes.create, async ({ principal, body, auditEvent }) => {
    if (body.key?.startsWith(scheduleKeyPrefix) === true)
      throw ApiError.of('invalid_request', { problem: `Field key begins with ${scheduleKeyPrefix}` });
    const row = await createJob(maker, body, { principal, auditEvent, scheduleId: null });
    await runner.noteMade(row);
    return { success: true, job: await jobView(options, row) };
  });

  addRoute(app, jobRoutes.list, async ({ principal, query }) => {
    const isOpen = query.open === undefined ? undefined : query.open === 'true';
    const { items, next_cursor } = await readPage(
      query,
      (part) => store.list({ ...listedWork(principal, query), ...part, isOpen }),
      ({ id }) => id,
    );
    return { success: true, jobs: items.map((row) => shortView(options, row)), next_cursor };
  });

  addRoute(app, jobRoutes.get, async ({ principal, params }) => ({
    success: true,
    job: await jobView(options, await get(principal, params.id)),
  }));

  addRoute(app, jobRoutes.listTasks, async ({ principal, params, query }) => {
    const { id } = await get(principal, params.id);
    const { items, next_cursor } = await readPage(
      query,
      ({ cursor: after, limit }) => store.listTasks(id, { status: query.status, after, limit }),
      ({ task }) => task.id,
    );
    return { success: true, tasks: items.map(taskView), next_cursor };
  });

  addRawRoute(app, jobRoutes.results, async ({ principal, params, query, raw }, reply) => {
    const { id } = await get(principal, params.id);
    const read: ReadTasks = async (after, limit) =>
      (await store.listTasks(id, { status: undefined, after, limit })).map(taskView);
    const isCsv = query.format !== 'jsonl';
    void reply
      .type(isCsv ? 'text/csv; charset=utf-8' : 'application/jsonl; charset=utf-8')
      .header('content-disposition', `attachment; filename="${id}.${isCsv ? 'csv' : 'jsonl'}"`);
    if (raw.method === 'HEAD') return reply.send('');
    return reply.send(Readable.from(isCsv ? resultsAsCsv(read) : resultsAsLines(read)));
  });

  addRoute(app, jobRoutes.cancel, async ({ principal, params, auditEvent }) => {
    const { id, user_id, project_name: name } = await get(principal, params.id, editors);
    auditEvent.on({ type: 'job', id, name }, [user_id]);
    const runIds = await store.cancel(id, maker.clock.now());
    if (runIds !== undefined && runIds.length > 0) await stop(runIds);
    return { success: true, job: await jobView(options, await get(principal, id)) };
  });

  addRoute(app, jobRoutes.resume, async ({ principal, params, auditEvent }) => {
    const row = await get(principal, params.id, editors);
    const { id, user_id: before, project_id, project_name: name } = row;
    await projects.getProject(principal, project_id, editors);
    const isTaken = before !== principal.userId;
    if (row.selector !== null) readSelector(devices.labels, principal.userId, row.selector);
    if (isTaken) await requireNamedPhones(devices, principal, idsOf(row.device_ids));
    auditEvent.on({ type: 'job', id, name }, [before], isTaken ? { maker_before: before } : {});
    const taker = { ...makerOf(principal), at_once: atOnceOf(row, principal) };
    const terms = { budget: principal.budget, max: maker.maxTasks, now: maker.clock.now() };
    const taken = { userId: principal.userId, bytes: isTaken ? row.bytes : 0 };
    const outcome = await maker.limits.withRoom('work_bytes', taken, () => store.resume(row, taker, terms));
    if (outcome === 'too_many_tasks')
      throw ApiError.of('too_many_tasks', { limit: terms.max }, { retryAfterS: 60 });
    if (outcome === 'too_many_selectors') throw tooManySelectors();
    if (outcome === 'resumed') await runner.catchUp();
    return { success: true, job: await jobView(options, await get(principal, id)) };
  });

  addRoute(app, jobRoutes.delete, async ({ principal, params, auditEvent }) => {
    const { id, user_id, project_name: name } = await get(principal, params.id, editors);
    auditEvent.on({ type: 'job', id, name }, [user_id]);
    if (!(await store.delete(id))) throw ApiError.of('job_not_ended', { job_id: id });
    return { success: true, message: `Job ${id} was deleted.` };
  });
}
