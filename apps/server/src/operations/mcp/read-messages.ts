import { wrapper } from './arguments/read-arguments.ts';
import { isFields, type Fields } from './arguments/variants.ts';

/**
 * Messages as the protocol's library takes them. Programs send `null` for parameters that they leave out, and arguments
 * as `null` or text: these come in an object, which the tool reads.
 */
export const readMessages = (body: unknown): unknown =>
  Array.isArray(body) ? body.map(readMessage) : readMessage(body);

function readMessage(message: unknown): unknown {
  if (!isFields(message) || !('params' in message)) return message;
  const { params, ...others } = message;
  if (params === null) return others;
  return { ...others, params: isFields(params) ? readParams(params) : params };
}

function readParams(params: Fields): Fields {
  const given = Object.entries(params).filter(([, value]) => value !== null);
  return Object.fromEntries(
    given.map(([name, value]) => [name, name === wrapper && !isFields(value) ? { [wrapper]: value } : value]),
  );
}
