import { spawn } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { endWithParent } from './end-with-parent.mjs';
import { isInstalled, stampInstalled } from './installed-packages.mjs';
import { withInstallLock } from './install-lock.mjs';
import { SetUpError } from './set-up-error.mjs';

// Settings to ignore: `omit` and `production` would skip Node 24 (optional) or the tools (dev), a workspace would
// skip the rest, and the log level of `npm run --silent` would hide why the installation failed.
const FOREIGN_SETTINGS =
  /^npm_config_(omit|only|production|optional|workspaces?|dry_run|loglevel)$|^NODE_ENV$/i;

const installOptions = ['--ignore-scripts', '--include=dev', '--include=optional'];

/** Makes node_modules match package-lock.json. Returns within about a millisecond if it already does. */
export async function installPackages(root) {
  if (isInstalled(root)) return;
  await withInstallLock(root, async () => {
    if (isInstalled(root)) return;
    const startedAt = Date.now();
    console.error('phalanx: installing the npm packages of package-lock.json (about a minute) ...');
    await runNpmCi(root);
    stampInstalled(root);
    console.error(`phalanx: packages installed in ${Math.round((Date.now() - startedAt) / 1000)} s.`);
  });
}

async function runNpmCi(root) {
  const npm = npmCommand();
  const shell = process.platform === 'win32' && npm.length === 1;
  // A start that is stopped takes npm with it.
  const [program, ...args] = [...endWithParent(), ...npm, 'ci', ...installOptions];
  const child = spawn(program, args, {
    cwd: root,
    env: npmEnvironment(root),
    shell,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { output, ending } = await outcomeOf(child);
  if (ending === 'exit 0') return;
  process.stderr.write(output);
  throw new SetUpError(
    `phalanx: the npm packages could not be installed (npm ci: ${ending}; its output is above). ` +
      `Nothing was started.\nCheck the network and the npm registry, then run the same command again.`,
  );
}

/** Returns the npm that runs this script, on its own Node; otherwise the machine's npm. */
function npmCommand() {
  const { npm_execpath: npm, npm_node_execpath: node } = process.env;
  return npm?.endsWith('npm-cli.js') ? [node ?? process.execPath, npm] : ['npm'];
}

/** Removes node_modules/.bin from PATH: npm is about to delete that folder, with its `node`. */
function npmEnvironment(root) {
  const kept = Object.entries(process.env).filter(([name]) => !FOREIGN_SETTINGS.test(name));
  const withoutBin = (path) =>
    path
      ?.split(delimiter)
      .filter((folder) => folder !== join(root, 'node_modules', '.bin'))
      .join(delimiter);
  return Object.fromEntries(
    kept.map(([name, value]) => [name, name.toUpperCase() === 'PATH' ? withoutBin(value) : value]),
  );
}

function outcomeOf(child) {
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (output += chunk));
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ output, ending: `did not start, ${error.message}` }));
    child.once('close', (code, signal) => resolve({ output, ending: signal ?? `exit ${code}` }));
  });
}
