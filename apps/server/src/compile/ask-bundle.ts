import type { CompileProcess } from './compile-process.ts';
import type { BundleResult } from './process/bundle.ts';
import type { ProjectFiles } from './project-files.ts';
import { readProjectSettings, settingsPath } from './project-settings.ts';

/** Has a process bundle; it asks for the files that are imported. */
export async function askBundle(process: CompileProcess, files: ProjectFiles): Promise<BundleResult> {
  const listed = await files.list();
  const read = readProjectSettings(listed.has(settingsPath) ? await files.read(settingsPath) : undefined);
  if (!read.ok) return read;
  const failures: unknown[] = [];
  const supply = async (path: string): Promise<void> => {
    const content = await files.read(path).catch((error: unknown) => {
      failures.push(error);
    });
    await process.send({ kind: 'content', path, content: content ?? null });
  };
  const paths = [...listed.keys()];
  const bundled = await process.ask({ kind: 'bundle', paths, settings: read.settings }, (reply) => {
    if (reply.kind === 'read') void supply(reply.path);
    return reply.kind === 'bundled' ? reply : undefined;
  });
  if (failures.length > 0) throw failures[0];
  const { errors, code, sourceMap } = bundled;
  return errors.length > 0 ? { ok: false, errors } : { ok: true, code, sourceMap };
}
