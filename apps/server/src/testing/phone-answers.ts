import type { ServerMessage } from '@phalanx/protocol';

/** Of what is asked about a phone: a dark screen, and nothing to tell. */
export function answerTo({ type, request_id }: Extract<ServerMessage, { request_id: string }>): string {
  const [captured_at, width, height] = [1, 1080, 2424];
  const screen = JSON.stringify({
    ...{ captured_at, rotation: 0, width, height, picture: null },
    tree: { packageName: 'android', source: 'uiautomator2', root: {} },
  });
  const answers: Record<typeof type, string> = {
    screenshot: 'JPEG-bytes',
    screen,
    act: `${JSON.stringify({ results: [], captures: 1, settled: true })}\n${screen}`,
    node: JSON.stringify({
      ...{ class_name: null, id: null, text: null, description: null, hint: null, package_name: 'android' },
      ...{ bounds: { left: 0, top: 0, right: width, bottom: height }, is: [], children: 0, selectors: [] },
    }),
    health: JSON.stringify({ facts: null, last_repair: null, events: [] }),
    live: `${JSON.stringify({ captured_at, width, height, hash: 'dark' })}\nJPEG-bytes`,
    video: JSON.stringify({ reason: 'no scrcpy server on the host' }),
    wall: `${JSON.stringify({ captured_at, width, height, hash: 'dark' })}\nJPEG-bytes`,
    input: '',
    clipboard: JSON.stringify({ text: '' }),
    file: 'stored',
    apps: '[]',
    replay: '{"verdicts":[]}',
    pairing: JSON.stringify({ id: 'phalanx-1', state: 'waiting', reason: 'Waiting.', serial: null }),
  };
  return `${JSON.stringify({ type, request_id })}\n${answers[type]}`;
}
