// Fills in the registration form of a sample app, as a person would.
const { name, email }: { name: string; email: string } = agent.arguments.automationParameters;

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

const consent = await agent.actions.waitForId('accept');
await consent.tap();
const submit = await agent.actions.waitForId('submit');
await submit.tap();

const result = await agent.actions.waitForText('Your registration is complete.');
console.log('The app says:', result.text);
console.warn('This is a warning, to show that levels are kept');
