import { createHash } from 'node:crypto';

import type { PhoneSettings, ScreenMask, ServerMessage } from '@phalanx/protocol';

/** Returns a launch of `code` on phones. */
export function launchOf(
  code: string,
  runs: Extract<ServerMessage, { type: 'launch' }>['runs'],
  masks: readonly ScreenMask[] = [],
  settings?: PhoneSettings,
): Extract<ServerMessage, { type: 'launch' }> {
  const bundle = {
    hash: createHash('sha256').update(code).digest('hex'),
    content: { code, source_map: null },
  };
  return {
    type: 'launch',
    automation_id: 'project-1',
    bundle,
    automation_parameters: {},
    job_variables: {},
    masks: [...masks],
    ...(settings !== undefined && { phone_settings: settings }),
    runs,
  };
}
