import { Link } from '@tanstack/react-router';

import { Page } from '../parts/page.tsx';
import { Empty } from '../parts/states.tsx';

export const NotFound = () => (
  <Page title="Not found">
    <Empty title="There is no such page" action={<Link to="/devices">Go to the fleet</Link>}>
      The address may be cut short, or what it named was deleted.
    </Empty>
  </Page>
);
