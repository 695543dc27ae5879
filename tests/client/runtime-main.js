// Usage: RUNTIME runtime-main.js CLIENT INPUT. Runs the check of runtime-check.js with the module CLIENT and the JSON
// INPUT.
import process from 'node:process';

import { check } from './runtime-check.js';

const [client = '', input = ''] = process.argv.slice(2);
console.log(JSON.stringify(await check(await import(client), JSON.parse(input))));
process.exit();
