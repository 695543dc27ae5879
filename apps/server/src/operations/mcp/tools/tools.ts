import type { Tool } from '../tool.ts';
import { docTools } from './docs.ts';
import { fixTools, groupTools } from './groups.ts';
import { phoneTools } from './phones.ts';
import { projectTools } from './projects.ts';
import { runTools } from './runs.ts';

/** All tools, in listing order. */
export const tools: readonly Tool[] = [
  ...phoneTools,
  ...projectTools,
  ...runTools,
  ...groupTools,
  ...fixTools,
  ...docTools,
];
