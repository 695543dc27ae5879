// vitest runs this before each test file.
import { afterAll } from 'vitest';

import { cleanUpFile } from './file-clean-ups.ts';

afterAll(cleanUpFile);
