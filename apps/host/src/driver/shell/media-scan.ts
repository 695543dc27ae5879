import { pause } from '../../time/time-limit.ts';
import { type PhoneShell, shellQuote } from './phone-shell.ts';
import { isSharedStorage, mediaPath } from './shared-storage.ts';

/** Android 11: its MediaProvider takes the path as the argument of the call. */
const firstSdkOfCall = 30;
const looks = 4;
const lookPauseMs = 400;

/** Folders that apps keep for themselves are in no index. */
const ofApps = /^\/storage\/[^/]+(?:\/\d+)?\/Android\/(?:data|obb)\//;

interface ScannedFile {
  readonly path: string;
  readonly sdkVersion: number;
}

/**
 * Has Android put a file of the shared storage into MediaStore, where galleries, players and choosers of files find it. Returns
 * whether it is there. A file that ADB writes is known to no app before: `scan_file` of MediaStore is the way since Android 11 (AOSP,
 * MediaProvider.java, SCAN_FILE_CALL); older ones listen to the broadcast (MediaScannerReceiver.java), which says nothing of what
 * became of it. Android has no `cmd media_scanner` any more (https://github.com/Genymobile/scrcpy/pull/6852).
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

/** Android scans in the background. */
async function appears(shell: PhoneShell, place: string, signal: AbortSignal): Promise<boolean> {
  const where = `_data='${place.replaceAll("'", "''")}'`;
  const query = `content query --uri content://media/external/file --projection _id --where ${shellQuote(where)}`;
  for (let look = 1; look <= looks; look += 1) {
    const { stdout } = await shell.run(query, signal);
    if (/^Row: 0 _id=\d+/m.test(stdout)) return true;
    // A phone that gives no answer is not asked again.
    if (!stdout.startsWith('No result found') || look === looks) return false;
    await pause(lookPauseMs, signal);
  }
  return false;
}
