import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import {
  deviceRoutes,
  jsonObject,
  launchRoutes,
  PhoneSettings,
  recordRoutes,
  runRoutes,
  type Run,
  type RunDetail,
} from '@phalanx/protocol';
import { Type } from 'typebox';
import { type ApiCalls, ToolFailure, fenced, acting, defineTool, reading, type Tool } from '../tool.ts';
import { device, deviceIdOf, phoneSelector } from './phone-arguments.ts';
import { readScreen } from './phones.ts';
import { exampleId, project } from './projects.ts';

const run = Type.String({ maxLength: 100, description: 'Run ID', examples: [exampleId] });
const wait = (defaultSeconds: number) =>
  Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 55,
      description: `Up to 55 s, default ${defaultSeconds}`,
    }),
  );
const parameters = Type.Optional(jsonObject({ examples: [{ country: 'de' }] }));
const settings = (description: string) =>
  Type.Optional(
    Type.Object(PhoneSettings.properties, {
      additionalProperties: false,
      description,
      examples: [{ time_zone: 'Europe/Berlin' }],
    }),
  );
const lookEveryMs = 500;
const logLines = 60;
/** Maximum number of phones of a launch without confirmation. */
const freePhones = 3;

async function untilEnded(api: ApiCalls, id: string, seconds: number): Promise<RunDetail> {
  const until = performance.now() + 1000 * seconds;
  for (;;) {
    const { run: found } = await api.call(runRoutes.get, { params: { id } });
    if (found.ended_at !== null || performance.now() >= until) return found;
    await pause(lookEveryMs);
  }
}

interface LogWish {
  readonly search?: string | undefined;
  readonly levels?: string | undefined;
}

async function logText(api: ApiCalls, id: string, { search, levels }: LogWish = {}): Promise<string> {
  const isWhole = search === undefined && levels === undefined;
  const query = isWhole ? { last: logLines } : { search, levels, limit: logLines };
  const { logs } = await api.call(runRoutes.logs, { params: { id }, query });
  const lines = logs.map(
    ({ messageLevel, message, lineNumber }) => `${messageLevel} ${lineNumber} ${message}`,
  );
  if (lines.length === 0) return 'The log is empty.';
  const which = isWhole ? `last ${lines.length} lines` : `first ${lines.length} lines that match`;
  return fenced(`log of the run, ${which}: level, line of the code, text`, lines.join('\n'));
}

const runHead = ({ run_id, name, device_id, status, outcome, created_at }: Run): string =>
  `run ${run_id} ${JSON.stringify(name ?? '')} on ${device_id}: ${status}${outcome === null ? '' : `, ${outcome}`}, ${new Date(created_at).toISOString()}`;

function nextStep({ status, ended_at, records }: RunDetail): string[] {
  if (ended_at === null) return ['It still runs: ask again, or stop it with stop_run.'];
  if (records.length > 0)
    return [`Its records show the screens it met: read_record ${records[0]?.record_id ?? ''}.`];
  return status === 'failed'
    ? ['Read the failing lines with read_project, repair, and run on one phone.']
    : [];
}

async function runText(api: ApiCalls, detail: RunDetail, wish: LogWish): Promise<string[]> {
  const { error, result, records } = detail;
  const facts = [
    ...(error === null ? [] : [`error ${JSON.stringify(error)}`]),
    ...(result === null || result === undefined ? [] : [`result ${JSON.stringify(result)}`]),
    ...records.map(({ record_id, type }) => `record ${record_id} ${type}`),
  ];
  return [
    runHead(detail),
    ...(facts.length === 0 ? [] : [fenced('what the run left', facts.join('\n'))]),
    await logText(api, detail.run_id, wish),
    ...nextStep(detail),
  ];
}

/** Returns the IDs of the free phones that match a selector. */
async function freeDevices(api: ApiCalls, selector: string, count: number | undefined): Promise<string[]> {
  const { devices } = await api.call(deviceRoutes.list, {
    query: { selector, state: 'ready', limit: 1000 },
  });
  const free = devices.filter(({ running, lease }) => running.length === 0 && lease === null);
  return free.slice(0, count ?? free.length).map(({ device_id }) => device_id);
}

const settingsOf = ({ phone_settings }: { phone_settings?: PhoneSettings | undefined }) =>
  phone_settings === undefined ? {} : { phone_settings };

export const runTools: readonly Tool[] = [
  defineTool({
    name: 'run_code',
    title: 'Run code on a phone',
    description:
      'Runs TypeScript on a phone: await agent.actions.waitForText("Wi-Fi"). Gives result, log, error and screen.',
    scopes: ['read', 'launch'],
    hints: acting,
    input: Type.Object({
      device,
      code: Type.String({ minLength: 1, maxLength: 200_000 }),
      parameters,
      phone_settings: settings('Held while it runs; locale: {package: language}'),
      wait_s: wait(30),
    }),
    run: async (
      api,
      { device: given, code, parameters: automationParameters = {}, wait_s = 30, ...order },
    ) => {
      const device_id = await deviceIdOf(api, given);
      const what = { device_id, launch_id: randomUUID(), command: 'start', code } as const;
      const body = { ...what, automationParameters, ...settingsOf(order) };
      const { devices } = await api.call(launchRoutes.launchDirect, { body });
      const id = devices[0]?.run_id ?? '';
      const detail = await untilEnded(api, id, wait_s);
      return [...(await runText(api, detail, {})), await readScreen(api, device_id)];
    },
  }),
  defineTool({
    name: 'run_project',
    title: 'Run a project',
    description: `Runs saved files on phones: devices, or selector with count. dry_run lists them. More than ${freePhones} phones need confirm as dry_run printed it.`,
    scopes: ['read', 'launch'],
    hints: acting,
    input: Type.Object({
      project,
      devices: Type.Optional(Type.Array(device, { minItems: 1, maxItems: 100 })),
      selector: Type.Optional(Type.String({ ...phoneSelector, description: 'As of list_devices' })),
      count: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
      parameters,
      phone_settings: settings('As of run_code'),
      dry_run: Type.Optional(Type.Boolean()),
      confirm: Type.Optional(Type.String({ maxLength: 50 })),
      wait_s: wait(0),
    }),
    run: async (api, { project: automationId, devices, selector, count, ...order }) => {
      if ((devices === undefined) === (selector === undefined))
        throw new ToolFailure('Give either devices or selector.');
      const device_ids: string[] = [];
      for (const given of devices ?? []) device_ids.push(await deviceIdOf(api, given));
      if (selector !== undefined) device_ids.push(...(await freeDevices(api, selector, count)));
      const ids = [...new Set(device_ids)];
      if (ids.length === 0) throw new ToolFailure('No matching phone is free: list_devices says why.');
      const words = `${ids.length} phones`;
      const isConfirmed = ids.length <= freePhones || order.confirm === words;
      if (order.dry_run === true || !isConfirmed) {
        const how = ids.length <= freePhones ? '' : ` To launch, call again with confirm "${words}".`;
        return [`Nothing was launched. It would run on ${words}.${how}`, ids.slice(0, 100).join('\n')];
      }
      const automationParameters = order.parameters ?? {};
      const what = { device_ids: ids, automationId, command: 'start' } as const;
      const body = { ...what, automationParameters, ...settingsOf(order) };
      const reply = await api.call(launchRoutes.launch, { body });
      const rows = reply.devices.map(
        ({ device_id, outcome, run_id, reason }) =>
          `${device_id} ${outcome} run ${run_id ?? '-'}${reason === null ? '' : ` ${JSON.stringify(reason)}`}`,
      );
      const [first] = reply.devices;
      const isAwaited = (order.wait_s ?? 0) > 0 && reply.devices.length === 1 && first?.run_id;
      if (!isAwaited) return [reply.message, rows.join('\n')];
      const detail = await untilEnded(api, isAwaited, order.wait_s ?? 0);
      return [reply.message, rows.join('\n'), ...(await runText(api, detail, {}))];
    },
  }),
  defineTool({
    name: 'read_run',
    title: 'Read a run',
    description:
      'How a run went: outcome, error, result, log, records, what to do next. wait_s: for its end.',
    scopes: ['read'],
    hints: reading,
    input: Type.Object({
      run,
      wait_s: wait(0),
      search: Type.Optional(Type.String({ maxLength: 1000, description: 'In the log' })),
      levels: Type.Optional(Type.Array(Type.Enum(['log', 'warn', 'error'] as const), { minItems: 1 })),
    }),
    run: async (api, { run: id, wait_s = 0, search, levels }) =>
      runText(api, await untilEnded(api, id, wait_s), { search, levels: levels?.join(',') }),
  }),
  defineTool({
    name: 'list_runs',
    title: 'List runs',
    description: 'A line for each run, newest first.',
    scopes: ['read'],
    hints: reading,
    input: Type.Object({
      project: Type.Optional(project),
      device: Type.Optional(device),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'Up to 100, default 20' })),
    }),
    run: async (api, { project: automation_id, device: given, limit = 20 }) => {
      const device_id = given === undefined ? undefined : await deviceIdOf(api, given);
      const { runs } = await api.call(runRoutes.list, { query: { automation_id, device_id, limit } });
      return [runs.length === 0 ? 'There is no run.' : fenced('runs', runs.map(runHead).join('\n'))];
    },
  }),
  defineTool({
    name: 'stop_run',
    title: 'Stop a run',
    description: 'Ends a run on its phone.',
    scopes: ['launch'],
    hints: acting,
    input: Type.Object({ run }),
    run: async (api, { run: id }) => [(await api.call(launchRoutes.stopRun, { params: { id } })).message],
  }),
  defineTool({
    name: 'read_record',
    title: 'Read a record',
    description:
      'Screens that a run did not recognise: the newest record of a project, or one by ID. older: the next older one.',
    scopes: ['read'],
    hints: reading,
    input: Type.Object({
      project: Type.Optional(project),
      record: Type.Optional(Type.String({ maxLength: 100, examples: [exampleId] })),
      older: Type.Optional(Type.Boolean()),
      status: Type.Optional(Type.Enum(['pending', 'solved', 'skipped'] as const)),
    }),
    run: async (api, { project: automation_id, record, older = false, status }) => {
      const cursor = older ? { before_cursor: record } : { cursor: record };
      const reply = await api.call(recordRoutes.list, { query: { automation_id, status, ...cursor } });
      const { result } = reply;
      if (result === null) return ['There is no such record.'];
      const screens = result.screens.map(
        ({ nextStage, screenState, maxSteps }) =>
          `stage ${JSON.stringify(nextStage)} state ${JSON.stringify(screenState)} steps left ${maxSteps}`,
      );
      const error = result.error === null ? [] : [`error ${JSON.stringify(result.error)}`];
      const head = `record ${result.out_of_steps_id} ${result.type} ${result.status}, run ${result.run_id}, 1 of ${reply.total} that match`;
      return [head, fenced('screens of the record, the oldest first', [...screens, ...error].join('\n'))];
    },
  }),
];
