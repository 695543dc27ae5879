/** The name under which an element travels in W3C's protocol. */
const elementKey = 'element-6066-11e4-a52e-4f735466cecf';

/** One session at an Appium server, in W3C's protocol. */
export class WebDriver {
  readonly #url: string;

  private constructor(url: string) {
    this.#url = url;
  }

  static async open(server: string, capabilities: Readonly<Record<string, unknown>>): Promise<WebDriver> {
    const { sessionId } = (await exchange(`${server}/session`, 'POST', {
      capabilities: { alwaysMatch: capabilities },
    })) as { sessionId: string };
    return new WebDriver(`${server}/session/${sessionId}`);
  }

  get(path: string): Promise<unknown> {
    return exchange(`${this.#url}/${path}`, 'GET');
  }

  post(path: string, body: unknown = {}): Promise<unknown> {
    return exchange(`${this.#url}/${path}`, 'POST', body);
  }

  /** A command that only Appium has. */
  mobile(name: string, args: Readonly<Record<string, unknown>> = {}): Promise<unknown> {
    return this.post('execute/sync', { script: `mobile: ${name}`, args: [args] });
  }

  /** The ID of the first element that fits. */
  async find(using: string, value: string, within?: string): Promise<string> {
    const scope = within === undefined ? '' : `element/${within}/`;
    return idOf(await this.post(`${scope}element`, { using, value }));
  }

  /** ID of the first element with this text. */
  findText(text: string): Promise<string> {
    return this.find('-android uiautomator', `new UiSelector().text("${text}")`);
  }

  attribute(element: string, name: string): Promise<unknown> {
    return this.get(`element/${element}/attribute/${name}`);
  }

  close(): Promise<unknown> {
    return exchange(this.#url, 'DELETE');
  }
}

export function idOf(element: unknown): string {
  return (element as Record<string, string>)[elementKey] ?? '';
}

async function exchange(url: string, method: string, body?: unknown): Promise<unknown> {
  const response = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(240_000),
  });
  const { value } = (await response.json()) as { value: unknown };
  if (response.ok) return value;
  const { error, message } = value as { error: string; message: string };
  throw new Error(`${error}: ${message}`);
}
