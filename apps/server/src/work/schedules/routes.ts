import { type Schedule, type ScheduleBody, scheduleRoutes } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';
import { v7 as uuidv7 } from 'uuid';
import type { DeviceAccess } from '../../fleet/devices/device-access.ts';
import type { Jobs } from '../jobs/feature.ts';
import type { LaunchPreparation } from '../../runs/launches/launch-preparation.ts';
import { CronTimes } from './cron-times.ts';
import { nextTurn } from './enqueue-turn.ts';
import type { ScheduleStore, StoredSchedule } from './store.ts';
import { readWork, type Work } from './turn-maker.ts';
import type { Clock } from '../../kernel/clock.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import type { Limits } from '../../kernel/limits/limits.ts';
import { mapInSlices } from '../../kernel/limits/time-slice.ts';
import { UpcomingTimes } from './upcoming-times.ts';
import { readPage } from '../../http/requests/replies/page.ts';
import type { Principal } from '../../http/requests/principal.ts';
import { addRoute } from '../../http/requests/route.ts';
import { requireNameOrNone } from '../../http/requests/require-name.ts';
import { requirePhones } from '../jobs/create-job.ts';
import { listedWork, makerOf, requireNamedPhones, requireWork } from '../jobs/work-access.ts';
import { editors, type ProjectAccess } from '../../code/projects/project-access.ts';

interface ScheduleRoutesOptions {
  store: ScheduleStore;
  jobs: Pick<Jobs, 'make'>;
  devices: DeviceAccess;
  projects: ProjectAccess;
  preparation: Pick<LaunchPreparation, 'requireNoSecrets'>;
  clock: Clock;
  limits: Pick<Limits, 'withRoom'>;
}

const maxSchedules = 1000;

/**
 * `GET, POST /schedules` · `GET /schedules/times` · `GET, PATCH, DELETE /schedules/:id` · `POST /schedules/:id/run` ·
 * `GET /schedules/:id/turns`
 */
export function addScheduleRoutes(app: FastifyInstance, options: ScheduleRoutesOptions): void {
  const { store, jobs, devices, projects, preparation, clock, limits } = options;
  const upcoming = new UpcomingTimes();

  const get = async (principal: Principal, id: string, roles?: typeof editors): Promise<StoredSchedule> => {
    const missing = ApiError.of('schedule_not_found', { schedule_id: id });
    const row = await store.find(id.toLowerCase());
    return requireWork(projects, { principal, row, roles, missing, kind: 'schedule' });
  };

  const view = (row: StoredSchedule): Schedule => ({
    id: row.id,
    automation_id: row.project_id,
    user: { id: row.user_id, name: devices.shares.nameOf(row.user_id) },
    name: row.name,
    cron: row.cron,
    time_zone: row.time_zone,
    jitter_seconds: row.jitter_seconds,
    overlap: row.overlap,
    missed: row.missed,
    paused: row.paused === 1,
    work: readWork(row.work),
    problem: row.problem,
    next: row.paused === 1 ? [] : [...upcoming.of(row, clock.now())],
    created_at: row.created_at,
  });

  addRoute(app, scheduleRoutes.create, async ({ principal, body, auditEvent }) => {
    const project = await projects.getProject(principal, body.automation_id, editors);
    const row = newSchedule(body, { principal, projectId: project.id, now: clock.now() });
    const times = new CronTimes(row.cron, row.time_zone);
    const next = nextTurn(times.next(row.created_at), row.jitter_seconds);
    requirePhones(devices.labels, principal.userId, body);
    await preparation.requireNoSecrets(project.id, [body.parameters ?? {}]);
    auditEvent.on({ type: 'schedule', id: row.id, name: row.name || project.name }, [project.owner_id], {
      project: project.id,
      cron: row.cron,
      time_zone: row.time_zone,
    });
    const isStored = await limits.withRoom('work_bytes', { userId: row.user_id, bytes: row.bytes }, () =>
      store.insert(row, next, maxSchedules),
    );
    if (!isStored) throw ApiError.of('too_many_schedules', { limit: maxSchedules });
    return { success: true, schedule: view(row) };
  });

  addRoute(app, scheduleRoutes.list, async ({ principal, query }) => {
    const { items, next_cursor } = await readPage(
      query,
      (part) => store.list({ ...listedWork(principal, query), ...part }),
      ({ id }) => id,
    );
    return { success: true, schedules: await mapInSlices(items, view), next_cursor };
  });

  addRoute(app, scheduleRoutes.listTimes, async ({ query }) => ({
    success: true,
    times: [...upcoming.of(query, clock.now())],
  }));

  addRoute(app, scheduleRoutes.get, async ({ principal, params }) => ({
    success: true,
    schedule: view(await get(principal, params.id)),
  }));

  addRoute(app, scheduleRoutes.change, async ({ principal, params, body, auditEvent }) => {
    const row = await get(principal, params.id, editors);
    const { name, cron, time_zone, jitter_seconds, overlap, missed, paused, ...given } = body;
    const work = withWork(readWork(row.work), given);
    // A schedule that no longer works can still be paused and renamed. A user who does only that does not take it over.
    const takesOver = paused === false || Object.keys(body).some((key) => key !== 'name' && key !== 'paused');
    if (takesOver) {
      await projects.getProject(principal, row.project_id, editors);
      requirePhones(devices.labels, principal.userId, work);
      if (row.user_id !== principal.userId) await requireNamedPhones(devices, principal, work.device_ids);
      await preparation.requireNoSecrets(row.project_id, [work.parameters ?? {}]);
    }
    const changed = {
      name: name === undefined ? row.name : requireNameOrNone(name),
      cron: cron ?? row.cron,
      time_zone: time_zone ?? row.time_zone,
      jitter_seconds: jitter_seconds ?? row.jitter_seconds,
      work: JSON.stringify(work),
      overlap: overlap ?? row.overlap,
      missed: missed ?? row.missed,
      paused: paused === undefined ? row.paused : Number(paused),
      problem: '',
    };
    const times = new CronTimes(changed.cron, changed.time_zone);
    auditEvent.on({ type: 'schedule', id: row.id, name: changed.name }, [row.user_id], {
      fields: Object.keys(body),
      ...(takesOver && row.user_id !== principal.userId ? { maker_before: row.user_id } : {}),
    });
    const bytes = Buffer.byteLength(changed.work);
    const changes = {
      ...changed,
      bytes,
      ...(changed.paused === 1 ? { queued_at: null } : {}),
    };
    const taker = takesOver ? principal.userId : row.user_id;
    const counted = taker === row.user_id ? row.bytes : 0;
    const more = { userId: taker, bytes: Math.max(0, bytes - counted) };
    const now = clock.now();
    const hasOtherTimes = [cron, time_zone, jitter_seconds, paused].some((one) => one !== undefined);
    const next = hasOtherTimes ? nextTurn(times.next(now), changed.jitter_seconds) : 'same';
    const terms = { budget: principal.budget, max: maxSchedules };
    const isStored = await limits.withRoom('work_bytes', more, () =>
      takesOver
        ? store.take(row, { changes: { ...changes, ...makerOf(principal) }, next, now }, terms)
        : store.update(row.id, { changes, next, now }).then(() => true),
    );
    if (!isStored) throw ApiError.of('too_many_schedules', { limit: maxSchedules });
    return { success: true, schedule: view(await get(principal, row.id)) };
  });

  addRoute(app, scheduleRoutes.delete, async ({ principal, params, auditEvent }) => {
    const { id, name, user_id } = await get(principal, params.id, editors);
    auditEvent.on({ type: 'schedule', id, name }, [user_id]);
    await store.delete(id);
    return { success: true, message: `Schedule ${id} was deleted.` };
  });

  addRoute(app, scheduleRoutes.run, async ({ principal, params, auditEvent }) => {
    const row = await get(principal, params.id, editors);
    const project = await projects.getProject(principal, row.project_id, editors);
    const work = readWork(row.work);
    await requireNamedPhones(devices, principal, work.device_ids);
    auditEvent.on({ type: 'schedule', id: row.id, name: row.name }, [row.user_id, project.owner_id]);
    const body = { automation_id: row.project_id, ...work };
    const job = await jobs.make(body, { principal, auditEvent: null, scheduleId: row.id });
    const now = clock.now();
    const reason = `Run by hand by ${devices.shares.nameOf(principal.userId)}.`;
    await store.addTurn({
      id: uuidv7(),
      schedule_id: row.id,
      planned_at: now,
      at: now,
      job_id: job.id,
      reason,
    });
    return { success: true, job: await job.view() };
  });

  addRoute(app, scheduleRoutes.listTurns, async ({ principal, params, query }) => {
    const { id } = await get(principal, params.id);
    const { items, next_cursor } = await readPage(
      query,
      ({ cursor, limit }) => store.listTurns(id, cursor, limit),
      (turn) => turn.id,
    );
    const turns = items.map(({ schedule_id: _schedule, ...turn }) => turn);
    return { success: true, turns, next_cursor };
  });
}

/** Applies changes to the work. A new selector replaces the device IDs, and vice versa. */
function withWork(before: Work, given: Work): Work {
  const { selector: _selector, device_ids: _ids, ...rest } = before;
  const namesPhones = given.selector !== undefined || given.device_ids !== undefined;
  return { ...(namesPhones ? rest : before), ...given };
}

interface Parts {
  principal: Principal;
  projectId: string;
  now: number;
}

function newSchedule(body: ScheduleBody, { principal, projectId, now }: Parts): StoredSchedule {
  const { automation_id: _, name, cron, time_zone, jitter_seconds, overlap, missed, paused, ...work } = body;
  const workText = JSON.stringify(work);
  return {
    id: uuidv7(),
    ...makerOf(principal),
    project_id: projectId,
    name: requireNameOrNone(name ?? ''),
    cron,
    time_zone,
    jitter_seconds: jitter_seconds ?? 0,
    work: workText,
    bytes: Buffer.byteLength(workText),
    overlap: overlap ?? 'skip',
    missed: missed ?? 'none',
    paused: Number(paused ?? false),
    problem: '',
    queued_at: null,
    created_at: now,
  };
}
