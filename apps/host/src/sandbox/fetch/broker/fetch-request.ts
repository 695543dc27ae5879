import { Type } from 'typebox';
import { Compile } from 'typebox/compile';

import type { FetchRequest } from '../fetch-frames.ts';

const id = Type.Integer({ minimum: 1 });
const order = Type.Object({
  id,
  url: Type.String(),
  method: Type.String({ pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$" }),
  headers: Type.Array(Type.Tuple([Type.String(), Type.String()])),
  hasBody: Type.Boolean(),
  redirect: Type.Union([Type.Literal('follow'), Type.Literal('manual'), Type.Literal('error')]),
});

const requests = Compile(
  Type.Union([
    Type.Object({ type: Type.Literal('fetch'), order }),
    Type.Object({ type: Type.Literal('abort'), id }),
  ]),
);

/** What a sandbox process says may be the word of hostile code that has taken it over. Throws when it does not fit. */
export const parseFetchRequest = (head: string): FetchRequest => requests.Parse(JSON.parse(head));
