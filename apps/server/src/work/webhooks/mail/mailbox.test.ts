import { expect, it } from 'vitest';
import { mailboxOf } from './mailbox.ts';

it('all spellings of an address lead to one mailbox', () => {
  for (const url of ['mailto:Ada@Example.com', 'mailto:ada+1@example.com', 'mailto:ADA+b+c@example.COM'])
    expect(mailboxOf(url)).toBe('ada@example.com');
  expect(mailboxOf('https://example.com/')).toBeNull();
});
