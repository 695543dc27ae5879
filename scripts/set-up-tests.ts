// npm run set-up:tests: installs components of tests that npm does not provide. Requires root on Debian.
import { describeMissing, installComponents } from './test-components.ts';

const missing = await installComponents();
if (missing.length > 0) {
  console.error(describeMissing(missing));
  process.exitCode = 1;
} else console.log('Everything that the tests use is on this machine.');
