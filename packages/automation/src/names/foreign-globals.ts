/** Advice for globals of browsers, Node and other tools. Each text follows "Cannot find name 'X': ". */
const screenReading =
  'use agent.actions.screenContent(), whose findTextOne, findById and filterOne find nodes, and agent.actions to touch and type';
const nodeFiles =
  'use import for code and JSON of the project, and agent.files for files of the phone; a run has no files of its own';
const otherThreads = 'a run has one thread: use promises, and start more runs for more work at a time';
const streams =
  'use async generators, and text(), bytes(), getReader() or "for await" for the body of a response';
const storage =
  'use agent.files to keep data on the phone, or agent.control.setResult() to give it to the caller; a run keeps nothing';
const questions = 'use agent.arguments for what a run is to know, and console.log for what it has to say';
const connections =
  'use fetch, in a loop when something is awaited; connections that stay open do not exist here';
const module =
  'use import and export between the files of the project; packages and modules of Node do not exist here';
const testing =
  'use throw new Error(…) in a run, and "phalanx test" with saved screens for tests of a project';
const page =
  'use agent.actions.screenContent() for what is on the screen; there is no page of a browser here';
const time = 'use Date, and Intl to format dates';
const requests = 'use fetch';

export const foreignGlobals: Readonly<Record<string, string>> = {
  Buffer: 'use Uint8Array for bytes, TextEncoder and TextDecoder for text, btoa and atob for base64',
  process:
    'use agent.arguments or agent.secrets instead of process.env, and agent.control.stopCurrentAutomation() instead of process.exit()',
  require: module,
  module,
  exports: module,
  __dirname: nodeFiles,
  __filename: nodeFiles,
  fs: nodeFiles,
  global: 'use globalThis',
  window: 'use globalThis for globals; there is no window of a browser here',
  self: 'use globalThis',
  document: page,
  location: page,
  history: page,
  navigator: 'use agent.info.device() for what the phone is',
  HTMLElement: page,
  Element: page,
  DOMParser: page,
  MutationObserver:
    'use agent.actions.waitFor() and the other waits, which look at the screen when it changes',
  requestAnimationFrame: 'use setTimeout, or agent.actions.waitForIdle() for a screen that rests',
  localStorage: storage,
  sessionStorage: storage,
  indexedDB: storage,
  caches: storage,
  alert: questions,
  prompt: questions,
  confirm: questions,
  readline: questions,
  XMLHttpRequest: requests,
  axios: requests,
  WebSocket: connections,
  EventSource: connections,
  Worker: otherThreads,
  SharedArrayBuffer: otherThreads,
  Atomics: otherThreads,
  MessageChannel: otherThreads,
  BroadcastChannel: otherThreads,
  WebAssembly: 'use JavaScript; WebAssembly is turned off here',
  ReadableStream: streams,
  WritableStream: streams,
  TransformStream: streams,
  TextDecoderStream: streams,
  TextEncoderStream: streams,
  CompressionStream: streams,
  DecompressionStream: streams,
  FileReader: 'use text(), arrayBuffer() or bytes() of the Blob',
  URLPattern: 'use URL and a regular expression',
  EventEmitter: 'use EventTarget with Event or CustomEvent',
  Temporal: time,
  moment: time,
  dayjs: time,
  $: screenReading,
  $$: screenReading,
  $x: screenReading,
  by: screenReading,
  By: screenReading,
  UiSelector: screenReading,
  UiDevice: screenReading,
  driver: screenReading,
  browser: screenReading,
  page: screenReading,
  device: screenReading,
  mobile: screenReading,
  phone: screenReading,
  client: screenReading,
  element: screenReading,
  cy: screenReading,
  poco: screenReading,
  adb: 'use agent.shell() for commands of the phone, and agent.actions, agent.apps and agent.files for the usual ones',
  actions: 'use agent.actions',
  utils: 'use agent.utils',
  apps: 'use agent.apps',
  files: 'use agent.files',
  sleep: 'use agent.actions.sleep(durationMs)',
  delay: 'use agent.actions.sleep(durationMs)',
  describe: testing,
  it: testing,
  test: testing,
  expect: testing,
  jest: testing,
  vi: testing,
  assert: 'use console.assert() to log, or throw new Error(…) to end the run',
};

/** Advice for modules. Each text follows "packages do not exist here; ". */
export const foreignModules: Readonly<Record<string, string>> = {
  fs: 'use agent.files for files of the phone',
  'fs/promises': 'use agent.files for files of the phone',
  path: 'write paths of the phone as texts, such as `/sdcard/${name}`',
  os: 'use agent.info.device() for what the phone is',
  process: 'use agent.arguments and agent.secrets',
  crypto: 'use the global crypto: randomUUID(), getRandomValues(), and subtle for digests and HMAC',
  http: requests,
  https: requests,
  net: requests,
  axios: requests,
  'node-fetch': requests,
  got: requests,
  undici: requests,
  ws: connections,
  child_process: 'use agent.shell() for commands of the phone',
  worker_threads: otherThreads,
  util: 'use console.log to show values, structuredClone() to copy them, and async functions instead of promisify',
  events: 'use EventTarget with Event or CustomEvent',
  buffer: 'use Uint8Array, TextEncoder, btoa and atob',
  url: 'use the globals URL and URLSearchParams',
  querystring: 'use the global URLSearchParams',
  stream: streams,
  'stream/promises': streams,
  timers: 'use the global setTimeout, or agent.actions.sleep()',
  'timers/promises': 'use agent.actions.sleep(), or a promise with setTimeout',
  assert: 'use console.assert() to log, or throw new Error(…) to end the run',
  readline: questions,
  dotenv: 'use agent.secrets and agent.arguments',
  uuid: 'use crypto.randomUUID()',
  lodash: 'use methods of arrays and Object.groupBy() and the like',
  moment: time,
  dayjs: time,
  'date-fns': time,
  puppeteer: screenReading,
  playwright: screenReading,
  '@playwright/test': screenReading,
  webdriverio: screenReading,
  appium: screenReading,
  'selenium-webdriver': screenReading,
  detox: screenReading,
  vitest: testing,
  jest: testing,
};
