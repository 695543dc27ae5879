/**
 * Files in the phone's shared storage, `/sdcard`. Other places that the phone's shell may use need a host whose
 * operator has set `PHALANX_ALLOW_SHELL=true`; otherwise calls reject with `not_allowed`. Paths are absolute.
 *
 * @example
 * const path = '/sdcard/Download/greeting.txt';
 * await agent.files.write(path, 'Grüße');
 * console.log(new TextDecoder().decode(await agent.files.read(path)));
 * for (const { name, sizeBytes } of await agent.files.list('/sdcard/Download')) console.log(name, sizeBytes);
 * await agent.files.delete(path);
 */
interface AgentFiles {
  /**
   * Lists the entries of a folder, by name. Rejects with `file_not_found`, also for a folder that the phone's
   * shell may not read.
   */
  list(folder: string): Promise<readonly PhoneFile[]>;
  /**
   * Reads a file of up to 50 MB; `new TextDecoder().decode(bytes)` makes text of it. Rejects with
   * `file_not_found`, also for a file that the phone's shell may not read, with `phone_answer_unexpected` for
   * one that becomes shorter meanwhile, and with a `RangeError` for a larger one.
   */
  read(path: string): Promise<Uint8Array>;
  /**
   * Writes a file of up to 50 MB, text as UTF-8, and creates missing folders. Rejects with `file_refused`, and
   * with a `RangeError` for a larger file. A write that fails may leave a part of the file. Android is asked to
   * add the file to MediaStore, where galleries and other apps look for it; the result says whether it is
   * there.
   *
   * @example
   * const { inMediaStore } = await agent.files.write('/sdcard/Documents/list.txt', 'one');
   * if (!inMediaStore) console.warn('Other apps find the file by its path alone.');
   */
  write(path: string, content: string | Uint8Array): Promise<WrittenFile>;
  /** Deletes a file. Rejects with `file_not_found`, and with `file_refused` for a folder. */
  delete(path: string): Promise<void>;
}

interface WrittenFile {
  /** Whether MediaStore has the file. Never true outside of the shared storage, and in the folders `Android/data` and `Android/obb`. */
  inMediaStore: boolean;
}

interface PhoneFile {
  name: string;
  isFolder: boolean;
  sizeBytes: number;
  /** Time of the last change in epoch milliseconds, on the phone's clock. */
  modifiedAt: number;
}
