// node write-bundle.ts <folder>: the console, built, with every file also compressed.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { build } from 'vite';

import config from '../vite.config.ts';

const [outDir = ''] = process.argv.slice(2);
// A service writes for its user alone; these files are for everybody, and for the next user of the same sources.
process.umask(0o022);
// The NODE_ENV of the service that builds may have any value; React for developers is larger and slower.
process.env['NODE_ENV'] = 'production';
// Higher levels take ten times as long for two percent.
const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

await build({
  ...config,
  // Vite would write beside the file to read it, where this user may not be allowed to.
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
