import {
  type AgentCallName,
  type AgentCallParams,
  type AgentCallResult,
  agentCalls,
  type PhoneCallName,
  type UiNode,
} from '@phalanx/protocol';

import { readings } from '../driver/driver-calls.ts';
import type { RunSettings } from '../driver/settings/held-settings.ts';
import type { RunFilm } from '../film/run-film.ts';
import type { PhoneWatch } from '../phones/watch-phones.ts';
import type { RunRecorder } from '../records/run-recorder.ts';
import type { RunFiles } from './files/run-files.ts';
import type { SandboxHooks } from '../sandbox/index.ts';
import { callPhone, type CalledPhone } from '../phones/call-phone.ts';
import { hideTypedSecret } from '../phones/hide-typed-secret.ts';
import type { RunAccount } from './run-account.ts';
import { requirePermission, type RunPermissions } from './run-permissions.ts';
import type { RunSecrets } from './run-secrets.ts';
import type { RunTasks } from './run-tasks.ts';

interface Answerers {
  phones: PhoneWatch;
  recorder: RunRecorder;
  account: RunAccount;
  permissions: RunPermissions;
  secrets: RunSecrets;
  files: Pick<RunFiles, 'attach'>;
  film: Pick<RunFilm, 'called'> | undefined;
  tasks: Pick<RunTasks, 'calls'>;
  settings: Pick<RunSettings, 'claim'>;
  phone: CalledPhone;
}

type Calls<Names extends AgentCallName> = {
  [Name in Names]: (params: AgentCallParams<Name>, signal: AbortSignal) => Promise<AgentCallResult<Name>>;
};

const ofHost: ReadonlySet<AgentCallName> = new Set([
  ...(['record.screen', 'record.submit', 'secret.get', 'run.attach', 'run.arrived'] as const),
  ...(['task.current', 'task.next', 'task.submit', 'task.add', 'task.list'] as const),
  'task.submitElsewhere',
]);
const reading: ReadonlySet<AgentCallName> = readings;
const changesPhone = (name: AgentCallName): boolean => !reading.has(name) && !ofHost.has(name);

/** Dispatches each call of a run to its handler: the run's recorder, its phone, or the host. */
export function answerCall(answerers: Answerers): SandboxHooks['onCall'] {
  const { phones, phone, recorder, account, secrets, files, tasks, settings } = answerers;
  const onPhone = phoneCalls(answerers);
  const typeSecret = async (text: string, signal: AbortSignal): Promise<void> => {
    const readScreen = (): Promise<{ root: UiNode }> => onPhone['screen.content']({}, signal);
    const found = phones.find(phone.serial);
    if (found !== undefined) await hideTypedSecret(found, { secret: text, by: phone.by, readScreen });
    await onPhone['input.text']({ text }, signal);
  };
  const calls: Calls<AgentCallName> = {
    ...onPhone,
    ...tasks.calls,
    'screen.content': async (params, signal) =>
      recorder.keepTree(await onPhone['screen.content'](params, signal)),
    'screen.animations': (params, signal) => {
      if (!params.isOn) settings.claim({ animations: false });
      return onPhone['screen.animations'](params, signal);
    },
    'phone.settings': (params, signal) => {
      settings.claim(params);
      return onPhone['phone.settings'](params, signal);
    },
    'record.screen': (params, signal) => recorder.storeScreen(secrets.redactScreen(params), signal),
    'record.submit': (params, signal) => {
      account.submitted(params.type);
      const { type, tag } = params;
      return recorder.submit({ type, ...(tag !== undefined && { tag: secrets.redact(tag) }) }, signal);
    },
    'secret.get': async ({ name }) => secrets.get(name),
    'input.text': (params, signal) =>
      secrets.withoutValues(() =>
        secrets.areIn(params.text) ? typeSecret(params.text, signal) : onPhone['input.text'](params, signal),
      ),
    'secret.type': ({ name }, signal) =>
      secrets.withoutValues(async () => typeSecret(secrets.get(name), signal)),
    'run.attach': (params) => files.attach(params),
    'run.arrived': async () => account.arrived(),
  };
  // The length of a secret reveals a part of it.
  const typed = (params: object): object => ({
    text: secrets.redact('text' in params ? String(params.text) : ''),
  });
  return (name, params, signal) => {
    if (changesPhone(name)) recorder.noteCall(name, name === 'input.text' ? typed(params) : params);
    return calls[name](params, signal);
  };
}

function phoneCalls({ phones, phone, permissions, film }: Answerers): Calls<PhoneCallName> {
  const calls = Object.keys(agentCalls).map((key) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `answerCall` overrides the other names
    const name = key as PhoneCallName;
    const call = async (params: AgentCallParams<PhoneCallName>, signal: AbortSignal): Promise<unknown> => {
      const asked = { name, params: requirePermission(name, params, permissions), signal };
      const result = await callPhone(phones, phone, asked);
      film?.called({ mayChange: !readings.has(name) });
      return result;
    };
    return [name, call] as const;
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the table has a call for every name
  return Object.fromEntries(calls) as unknown as Calls<PhoneCallName>;
}
