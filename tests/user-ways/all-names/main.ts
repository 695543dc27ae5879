import { acting } from './actions';
import { calls, holds } from './calls';
import { nodes } from './nodes';
import { phone } from './phone';
import { plain } from './plain';
import { recordingAndStaging } from './records';
import { running } from './running';
import { web } from './web';

interface Given {
  url: string;
  end: 'control' | 'global';
  /** APK in base64. */
  apk: string;
}
// Typed here instead of by the interface, so that the interface is used as declared.
const { url, end, apk } = agent.arguments.automationParameters as unknown as Given;

await plain();
await web(url);
await acting();
await nodes();
await phone(apk);
await recordingAndStaging();
await running();
await calls<Omit<Agent, 'control'>>('Agent', {
  arguments: () => agent.arguments.jobVariables['job'] === 7,
  actions: () => typeof agent.actions.tap === 'function',
  apps: () => typeof agent.apps.list === 'function',
  files: () => typeof agent.files.read === 'function',
  shell: async () => (await agent.shell('echo a')).stdout === 'a\n',
  messages: () => typeof agent.messages.list === 'function',
  info: () => typeof agent.info.device === 'function',
  run: () => typeof agent.run.attach === 'function',
  secrets: () => typeof agent.secrets.get === 'function',
  utils: () => typeof agent.utils.debug === 'function',
});
await holds('agent', () => typeof agent === 'object');
await holds('console', () => typeof console === 'object');
await holds('performance', () => typeof performance === 'object');
await holds('crypto', () => typeof crypto === 'object');
await holds('ScreenshotRecord', () => typeof ScreenshotRecord === 'object');
await calls<Pick<AgentControl, 'setResult'>>('AgentControl', {
  setResult: () => agent.control.setResult({ names: 'all' }) === undefined,
});
if (end === 'control') {
  console.log('ok Agent.control');
  console.log('ok AgentControl.stopCurrentAutomation');
  agent.control.stopCurrentAutomation();
} else {
  console.log('ok stopCurrentAutomation');
  stopCurrentAutomation();
}
console.error('wrong: it goes on after its end');
