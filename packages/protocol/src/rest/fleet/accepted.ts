import { Type } from 'typebox';

/** Whether the user has accepted the share; a field beside the role. */
export const accepted = Type.Boolean({
  description:
    'Whether the user has accepted the share (`POST /api/v2/shares/accept`). Before that, it is used only where a request names its ID; selectors, statistics and webhooks leave it out. Always true for the owner',
});
