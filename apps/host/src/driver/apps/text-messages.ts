import { comparedText } from '@phalanx/automation/seen-text';
import type { AgentCallParams, PhoneMessage } from '@phalanx/protocol';

import { DriverError } from '../driver-error.ts';
import type { PhoneShell, ShellResult } from '../shell/phone-shell.ts';
import { cutRows } from './content-rows.ts';

const inbox = 'content query --uri content://sms/inbox';
/** Maximum number of messages, the newest first. */
const maxMessages = 50;
/**
 * Maximum number of newest messages in which those of one sender are searched: their IDs have to fit into a command.
 */
const maxLookedAt = 1000;

/** Maximum output in bytes. A text message has up to 255 parts of 160 characters. */
const maxBytes = 4 * 1024 * 1024;

/**
 * Reads messages, newest first. Queries IDs and times separately: the phone prints texts unescaped, so that senders and
 * texts may contain lines in the form of other messages. No error contains a sender or a text.
 */
export async function listMessages(
  shell: PhoneShell,
  { since, from }: AgentCallParams<'message.list'>,
  signal: AbortSignal,
): Promise<PhoneMessage[]> {
  const aheadMs = await readClockDifference(shell, signal);
  const where = `date >= ${Math.max(0, Math.floor(since - aheadMs))}`;
  const listed = await query(shell, { columns: '_id:date', where }, signal);
  const heads = [...listed.matchAll(/^Row: \d{1,9} _id=(\d{1,15}), date=(\d{1,15})\r?$/gm)]
    .map(([, id, date]) => ({ id: Number(id), receivedAt: Number(date) + aheadMs }))
    .slice(0, from === undefined ? maxMessages : maxLookedAt);
  const senders = await readColumn(shell, 'address', heads, signal);
  const wanted = heads.filter(({ id }) => isFrom(senders.get(id), from)).slice(0, maxMessages);
  const texts = await readColumn(shell, 'body', wanted, signal);
  return wanted.flatMap(({ id, receivedAt }) => {
    const [text, sender] = [texts.get(id), senders.get(id)];
    return text === undefined || sender === undefined ? [] : [{ id, from: sender, receivedAt, text }];
  });
}

/** Reads by how many ms the host's clock is ahead, to the second: a message may appear up to a second younger. */
async function readClockDifference(shell: PhoneShell, signal: AbortSignal): Promise<number> {
  const { stdout } = await shell.run('date +%s', signal);
  const seconds = Number(stdout.trim());
  if (!Number.isInteger(seconds) || seconds === 0)
    throw new DriverError('phone_answer_unexpected', 'The phone does not tell its time.');
  return Date.now() - seconds * 1000;
}

type Column = 'address' | 'body';

/**
 * Reads one column of messages, by their IDs. When an ID precedes more than one text, a message contains what the phone
 * prints for another one. Each half is then queried separately, down to a single message, whose whole output is its
 * text.
 */
async function readColumn(
  shell: PhoneShell,
  column: Column,
  messages: readonly { readonly id: number }[],
  signal: AbortSignal,
): Promise<ReadonlyMap<number, string>> {
  if (messages.length === 0) return new Map();
  const ids = messages.map(({ id }) => id);
  const where = `_id IN (${ids.join(', ')})`;
  const printed = await query(shell, { columns: `_id:${column}`, where }, signal);
  const cut = cutRows(printed, column, ids);
  if (cut !== undefined) return cut;
  const middle = Math.ceil(messages.length / 2);
  const halves = [messages.slice(0, middle), messages.slice(middle)];
  const read: (readonly [number, string])[] = [];
  for (const half of halves) read.push(...(await readColumn(shell, column, half, signal)));
  return new Map(read);
}

async function query(
  shell: PhoneShell,
  { columns, where }: { columns: string; where: string },
  signal: AbortSignal,
): Promise<string> {
  const order = `${inbox} --projection ${columns} --where '${where}' --sort '_id DESC'`;
  const answer = await shell.runWhole(order, signal, maxBytes);
  if (/^(?:Row: 0 |No result found)/.test(answer.stdout) && (answer.exitCode ?? 0) === 0)
    return answer.stdout;
  throw notTold(answer);
}

/** Names only the exception, because the rest of the output may be part of a message. */
function notTold({ stderr, stdout }: ShellResult): DriverError {
  const said = `${stderr}\n${stdout.startsWith('Row: ') ? '' : stdout}`;
  const [reason = 'it printed no reason'] = /\w{1,80}Exception|Could not find provider/.exec(said) ?? [];
  if (!/SecurityException|Permission Denial|Could not find provider/.test(said))
    return new DriverError('phone_answer_unexpected', `The phone did not tell its text messages: ${reason}.`);
  const cause = said.includes('READ_SMS') ? `${reason}, its shell lacks READ_SMS` : reason;
  return new DriverError(
    'messages_refused',
    `The phone does not let the computer read its text messages: ${cause}. Makers may keep them from it; reading the notifications needs no such permission.`,
  );
}

/**
 * Whether two numbers are the same sender, like `+49 171 …` and `+49171…`, also within the marks that keep numbers left
 * to right.
 */
const isFrom = (sender: string | undefined, wanted: string | undefined): boolean =>
  sender !== undefined && (wanted === undefined || plain(sender) === plain(wanted));
const plain = (sender: string): string => comparedText(sender).replaceAll(/[ ()./-]/g, '');
