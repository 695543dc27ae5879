/** What a new project begins with: it runs on any phone, and shows what an automation is. */
export const starterCode = `// Reads what the phone shows. Save with Ctrl+S, run with Ctrl+Enter.
const phone = await agent.info.device();
console.log(\`Hello from \${phone.brand} \${phone.model}\`);

await agent.actions.home();
const screen = await agent.actions.screenContent();
for (const node of screen.filterAdvanced((filter) => filter.isClickable())) {
  console.log(node.text ?? node.description ?? node.viewId ?? 'a node without a name');
}
`;
