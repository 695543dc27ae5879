// Goes to the home screen and says what is there. It runs on any phone.
const { greeting } = agent.arguments.automationParameters;

const phone = await agent.info.device();
console.log(`${greeting} from ${phone.brand} ${phone.model}, Android ${phone.androidVersion}`);

await agent.actions.home();
const screen = await agent.actions.waitForIdle();

// The state that the code takes the screen for. "phalanx test" shows it saved screens and compares.
const state = /launcher|home/.test(screen.packageName) ? 'Home' : 'unknown';
await agent.utils.outOfSteps.storeScreen(screen, 'home', state, 0, ScreenshotRecord.NONE);
console.log(`The screen is ${state}`);

for (const node of screen.allNodes()) {
  const name = node.text || node.description;
  if (name) console.log(name, node.boundsInScreen);
}
