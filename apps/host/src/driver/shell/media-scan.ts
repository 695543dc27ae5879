import { pause } from '../../time/time-limit.ts';
import { type PhoneShell, shellQuote } from './phone-shell.ts';
import { isSharedStorage, mediaPath } from './shared-storage.ts';

/** First API level (Android 11) whose MediaProvider takes the path as the argument of the call. */
const firstSdkOfCall = 30;
const looks = 4;
const lookPauseMs = 400;

/** Private folders of apps, which are in no index. */
const ofApps = /^\/storage\/[^/]+(?:\/\d+)?\/Android\/(?:data|obb)\//;

interface ScannedFile {
  readonly path: string;
  readonly sdkVersion: number;
}

/**
 * Makes Android index a file of the shared storage in MediaStore, where galleries, players and file pickers find it.
 * Returns whether it is indexed. Before that, no app knows a file that ADB has written. Android 11 and newer have
 * `scan_file` of MediaStore (AOSP, MediaProvider.java, SCAN_FILE_CALL). Older releases handle the broadcast
 * (MediaScannerReceiver.java), which reports no result. Android no longer has `cmd media_scanner`
 * (https://github.com/Genymobile/scrcpy/pull/6852).
 */
export async function scanFile(
  shell: PhoneShell,
  { path, sdkVersion }: ScannedFile,
  signal: AbortSignal,
): Promise<boolean> {
  const place = mediaPath(path);
  if (!isSharedStorage(place) || ofApps.test(place)) return false;
  if (sdkVersion >= firstSdkOfCall) {
    const call = `content call --uri content://media --method scan_file --arg ${shellQuote(place)}`;
    const { stdout } = await shell.run(call, signal);
    if (/content:\/\/media\/\S+\/\d+/.test(stdout)) return true;
  } else await broadcastScan(shell, place, signal);
  return await appears(shell, place, signal);
}

async function broadcastScan(shell: PhoneShell, place: string, signal: AbortSignal): Promise<void> {
  const address = `file://${place.toWellFormed().split('/').map(encodeURIComponent).join('/')}`;
  const action = 'android.intent.action.MEDIA_SCANNER_SCAN_FILE';
  await shell.run(`am broadcast -a ${action} -d ${shellQuote(address)}`, signal);
}

/** Whether the file appears in the index. Android scans in the background. */
async function appears(shell: PhoneShell, place: string, signal: AbortSignal): Promise<boolean> {
  const where = `_data='${place.replaceAll("'", "''")}'`;
  const query = `content query --uri content://media/external/file --projection _id --where ${shellQuote(where)}`;
  for (let look = 1; look <= looks; look += 1) {
    const { stdout } = await shell.run(query, signal);
    if (/^Row: 0 _id=\d+/m.test(stdout)) return true;
    // A phone that gives no answer is not queried again.
    if (!stdout.startsWith('No result found') || look === looks) return false;
    await pause(lookPauseMs, signal);
  }
  return false;
}
