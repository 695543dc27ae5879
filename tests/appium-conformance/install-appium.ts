import { execFile } from 'node:child_process';
import { access, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** No dependency of Phalanx: it is a check from outside, and has 150 MB. */
const packages = { appium: '^3.8.0', 'appium-uiautomator2-driver': '^8.7.0' };
const cache = fileURLToPath(new URL('../../node_modules/.cache/', import.meta.url));

const run = promisify(execFile);

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** The folder with Appium and its driver for Android; the first time it comes from the npm registry, in a minute. */
export async function installAppium(): Promise<string> {
  const folder = join(cache, 'appium-conformance');
  if (await isThere(folder)) return folder;
  const unfinished = `${folder}.${process.pid}`;
  await mkdir(unfinished, { recursive: true });
  await writeFile(
    join(unfinished, 'package.json'),
    JSON.stringify({ private: true, devDependencies: packages }),
  );
  console.error('fetching Appium and its UiAutomator2 driver; this takes a minute');
  await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: unfinished });
  await linkAdb(unfinished);
  await rename(unfinished, folder);
  return folder;
}

/** The driver takes adb from a folder that is laid out as Android's SDK. */
async function linkAdb(folder: string): Promise<void> {
  const tools = join(folder, 'sdk', 'platform-tools');
  await rm(tools, { recursive: true, force: true });
  await mkdir(tools, { recursive: true });
  const { stdout } = await run('sh', ['-c', 'command -v adb']);
  await symlink(stdout.trim(), join(tools, 'adb'));
}
