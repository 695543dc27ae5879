import { Type } from 'typebox';

/** Acceptance of a shared object, besides the role. */
export const accepted = Type.Boolean({
  description:
    'False: it is shared with them, and they have not accepted it (`POST /api/v2/shares/accept`). Until then it is used where its ID is given, and never chosen, counted or told of by itself. True for the owner',
});
