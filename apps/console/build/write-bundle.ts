// Usage: node write-bundle.ts <folder>. Builds the console and compresses each file.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { build } from 'vite';

import config from '../vite.config.ts';

const [outDir = ''] = process.argv.slice(2);
// The service writes private files, but every user must be able to read the build, also after a restart as another
// user.
process.umask(0o022);
// NODE_ENV of the service can have any value; the development build of React is larger and slower.
process.env['NODE_ENV'] = 'production';
// Higher levels take ten times as long and save two percent.
const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

await build({
  ...config,
  // Vite would bundle the file to a copy beside it, where this user may lack write access.
  configFile: false,
  logLevel: 'warn',
  build: { ...config.build, outDir, emptyOutDir: true },
});
for (const entry of await readdir(outDir, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || !/\.(js|css|svg|json)$/.test(entry.name)) continue;
  const file = path.join(entry.parentPath, entry.name);
  const content = await readFile(file);
  await writeFile(`${file}.br`, await promisify(brotliCompress)(content, brotli));
  await writeFile(`${file}.gz`, await promisify(gzip)(content, { level: 9 }));
}
