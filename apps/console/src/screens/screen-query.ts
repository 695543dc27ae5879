import { type UiNode, wholeScreen } from '@phalanx/protocol';
import { queryOptions } from '@tanstack/react-query';

import { call } from '../api/call.ts';
import { readScreenTree } from './screen-tree.ts';

/** What a phone shows: picture and tree of one moment. */
export const screenQuery = (deviceId: string) =>
  queryOptions({
    queryKey: ['screen', deviceId],
    queryFn: async ({ signal }) => {
      const input = { params: { id: deviceId }, query: { width: 720 } };
      const reply = await call('GET /api/v2/devices/:id/screen', input, { signal });
      const screen = wholeScreen(reply.screen);
      const { picture, width, height, tree } = screen;
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the service writes trees in this form
      const root = tree.root as unknown as UiNode;
      return {
        ...{ width, height, readAt: Date.now() },
        picture: picture === null ? undefined : `data:${picture.mime_type};base64,${picture.base64}`,
        pictureReason: screen.picture_reason ?? 'The app in front allows no pictures, or the screen is off.',
        tree: readScreenTree(tree.packageName, root),
      };
    },
    retry: false,
    staleTime: 2000,
    refetchOnWindowFocus: false,
    structuralSharing: false,
  });
