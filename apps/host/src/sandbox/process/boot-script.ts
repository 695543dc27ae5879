/**
 * The first code of a process, passed by `--eval`: reads the boot frame from stdin, so that its own program
 * needs no file to be readable, then starts it. Plain CommonJS, run by Node as it is.
 */
export const bootScript = `'use strict';
const { readSync } = require('node:fs');
const { compileFunction } = require('node:vm');
const read = (size) => {
  const bytes = Buffer.allocUnsafe(size);
  for (let done = 0; done < size; ) {
    const count = readSync(0, bytes, done, size - done);
    if (count === 0) process.exit(0);
    done += count;
  }
  return bytes;
};
const boot = JSON.parse(read(read(4).readUInt32BE()).toString());
const program = { exports: {} };
compileFunction(boot.program, ['require', 'module', 'exports'], { filename: 'program.js' })(require, program, program.exports);
Promise.try(() => program.exports.main(boot, require)).catch((error) => {
  console.error(error);
  process.exit(70);
});
`;
