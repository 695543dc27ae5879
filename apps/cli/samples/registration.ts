// Fills in the registration form of a sample app, as a person would.
declare global {
  interface AutomationParameters {
    name?: string;
    email?: string;
  }
}

const { name = 'Ada Lovelace', email = 'ada@example.com' } = agent.arguments.automationParameters;

const phone = await agent.info.device();
console.log(`Running on ${phone.brand} ${phone.model}, ${phone.screenWidth}×${phone.screenHeight}`);

await agent.actions.home();
const home = await agent.actions.screenContent();
console.log(
  'On the home screen:',
  home
    .allNodes()
    .filter((node) => node.clickable)
    .map((node) => node.description),
);

await agent.actions.launchApp('dev.phalanx.sample.form');
await agent.actions.waitForText('Registration');

async function fillIn(viewId: string, text: string): Promise<void> {
  const field = await agent.actions.waitForId(viewId);
  await field.tap();
  await agent.actions.writeText(text);
  console.log(`Typed "${text}" into ${viewId}`);
}

await fillIn('name', name);
await fillIn('email', email);
await fillIn('city', 'Zürich 🏔');

/** Drags the form up until it shows the node. */
async function scrollTo(viewId: string): Promise<AndroidNode> {
  for (let drags = 0; drags < 10; drags++) {
    const node = (await agent.actions.screenContent()).findById(viewId);
    if (node) return node;
    await agent.actions.swipe(540, 1100, 540, 500);
  }
  throw new Error(`The form has no "${viewId}"`);
}

await agent.actions.back(); // hides the keyboard
await (await scrollTo('accept')).tap();
await (await scrollTo('submit')).tap();
console.log('Accepted the terms and submitted');

const result = await agent.actions.waitForText('Your registration is complete.');
console.log('The app says:', result.text);
console.warn('This is a warning, to show that levels are kept');
