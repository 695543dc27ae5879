import type ivm from 'isolated-vm';

/** A value of the isolate, as the protocol of V8's inspector names it: primitives by value, the rest by ID. */
export interface RemoteValue {
  type: string;
  objectId?: string;
  value?: unknown;
  unserializableValue?: string;
}

/** Of the answers of the `Runtime` domain, what is read here. */
interface Answer {
  result?: RemoteValue;
  properties?: Properties;
  internalProperties?: { name: string; value?: RemoteValue }[];
}

export interface Debugger {
  /** Settles when the isolate has got round to it. */
  send(method: string, params: object): Promise<Answer>;
}

export function createDebugger(session: ivm.InspectorSession): Debugger {
  const waiting = new Map<number, (answer: Answer) => void>();
  let lastId = 0;
  session.onResponse = (id, text) => {
    waiting.get(id)?.(answerIn(text));
    waiting.delete(id);
  };
  return {
    send: (method, params) =>
      new Promise((resolve) => {
        const id = ++lastId;
        waiting.set(id, resolve);
        session.dispatchProtocolMessage(JSON.stringify({ id, method, params }));
      }),
  };
}

type Properties = { name: string; symbol?: RemoteValue }[];

/** `Runtime.getProperties` has a list where the others have a value. */
function answerIn(text: string): Answer {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- V8 wrote it
  const { result = {} } = JSON.parse(text) as {
    result?: Pick<Answer, 'internalProperties'> & { result?: RemoteValue | Properties };
  };
  const { result: found, internalProperties } = result;
  return Array.isArray(found)
    ? { properties: found, ...(internalProperties && { internalProperties }) }
    : { ...(found && { result: found }) };
}
