import type { TextMessage } from '../../android/inbox.ts';
import type { Process, Program } from '../program.ts';

const columns: Readonly<Record<string, (message: TextMessage) => string | number>> = {
  _id: ({ id }) => id,
  address: ({ from }) => from,
  date: ({ receivedAt }) => receivedAt,
  body: ({ text }) => text,
};

const wordAfter = (args: readonly string[], option: string): string | undefined =>
  args.includes(option) ? args[args.indexOf(option) + 1] : undefined;

async function fail({ stderr }: Process, exception: string): Promise<number> {
  await stderr.write(`Error while accessing provider:sms\njava.lang.${exception}\n`);
  return 1;
}

/** Parses conditions as hosts write them: `date > N`, `date >= N`, `_id IN (N, …)`. */
function findCondition(where: string | undefined): ((message: TextMessage) => boolean) | undefined {
  if (where === undefined) return () => true;
  const [, operator, least] = /^date\s*(>=?)\s*(\d+)$/.exec(where) ?? [];
  if (least !== undefined)
    return ({ receivedAt }) =>
      receivedAt > Number(least) || (operator === '>=' && receivedAt === Number(least));
  const ids = /^_id IN \(([\d, ]+)\)$/.exec(where)?.[1]?.split(',').map(Number);
  return ids && (({ id }) => ids.includes(id));
}

/** First SDK whose MediaProvider takes the path as argument: Android 11 (AOSP, MediaProvider.java, SCAN_FILE_CALL). */
const firstSdkOfScan = 30;

/** Runs `content call --uri content://media --method scan_file --arg PATH`. */
async function scanFile({ phone, args, stdout }: Process): Promise<number> {
  const { identity, mediaStore } = phone.android;
  const id =
    identity.sdkVersion < firstSdkOfScan ? undefined : mediaStore.scan(wordAfter(args, '--arg') ?? '');
  const place = id === undefined ? 'null' : `content://media/external_primary/file/${id}`;
  await stdout.write(`Result: Bundle[{android.intent.extra.STREAM=${place}}]\n`);
  return 0;
}

/** Runs `content query --uri content://media/external/file --projection _id --where "_data='PATH'"`. */
async function queryMedia({ phone, args, stdout }: Process): Promise<number> {
  const path = /^_data\s*=\s*'((?:[^']|'')*)'$/.exec(wordAfter(args, '--where') ?? '')?.[1];
  const rows = phone.android.mediaStore
    .list()
    .filter((row) => path === undefined || row.path === path.replaceAll("''", "'"));
  if (rows.length === 0) await stdout.write('No result found.\n');
  for (const [row, { id }] of rows.entries()) await stdout.write(`Row: ${row} _id=${id}\n`);
  return 0;
}

/**
 * Runs `content query --uri content://sms/inbox --projection A:B [--where W] [--sort "_id DESC"]`, and queries of
 * MediaStore.
 */
export const content: Program = async (process) => {
  const { phone, args, stdout } = process;
  const uri = wordAfter(args, '--uri');
  if (args[0] === 'call' && uri?.startsWith('content://media') === true && args.includes('scan_file'))
    return scanFile(process);
  if (args[0] === 'query' && uri === 'content://media/external/file') return queryMedia(process);
  if (args[0] !== 'query' || uri !== 'content://sms/inbox') {
    await process.stderr.write(`[ERROR] Unsupported operation: ${args.join(' ')}\n`);
    return 1;
  }
  if (phone.faults.refusesMessages) {
    const lacking = 'requires android.permission.READ_SMS, or grantUriPermission()';
    const what = 'reading com.android.providers.telephony.SmsProvider uri content://sms/inbox';
    return fail(process, `SecurityException: Permission Denial: ${what} from pid=9083, uid=2000 ${lacking}`);
  }
  const condition = findCondition(wordAfter(args, '--where'));
  const projection = (wordAfter(args, '--projection') ?? Object.keys(columns).join(':')).split(':');
  if (condition === undefined || projection.some((name) => columns[name] === undefined))
    return fail(process, 'IllegalArgumentException: Invalid token');
  const messages = phone.android.inbox.list().filter(condition);
  if (wordAfter(args, '--sort')?.endsWith('DESC') === true) messages.reverse();
  if (messages.length === 0) await stdout.write('No result found.\n');
  for (const [row, message] of messages.entries()) {
    const values = projection.map((name) => `${name}=${columns[name]?.(message) ?? 'NULL'}`);
    await stdout.write(`Row: ${row} ${values.join(', ')}\n`);
  }
  return 0;
};
