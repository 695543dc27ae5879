import { closeCodes } from '@phalanx/protocol';
import { AuditEvent } from '../../http/requests/audit-event.ts';
import { addBackgroundJob } from '../../storage/background-job.ts';
import type { Context } from '../../http/context.ts';
import { HostSessions } from './host-sessions.ts';
import { createKnownHostStore, createHostStore } from './store.ts';
import { ConnectedHosts } from './connected-hosts.ts';
import { KnownHosts } from './known-hosts.ts';
import { HostGateway } from './gateway.ts';
import type { HostLink } from './host-link.ts';
import { ReplacedHosts } from './replaced-hosts.ts';

export interface Hosts {
  /** The connections of hosts to this server. */
  readonly gateway: HostGateway;
  /** Hosts of all servers, for messages and questions. */
  readonly connected: ConnectedHosts;
  readonly known: KnownHosts;
  readonly sessions: HostSessions;
}

/** Opens the registry of hosts on all servers, which knows the valid connection of each host. */
export function openHosts(context: Context): Hosts {
  const { app, database, cluster, node, commits, clock, limits, faults, timing } = context;
  const gateway = openGateway(context);
  const store = createHostStore(database, commits);
  const connected = new ConnectedHosts(gateway.on, cluster.bus);
  const sessions = new HostSessions({ limits, clock, faults, node, store });
  gateway.admitBy(sessions);
  const replaced = new ReplacedHosts({ bus: cluster.bus, store, gateway, faults });
  app.addHook('onClose', () => replaced.close());
  app.addHook('onClose', () => sessions.endsStored());
  const known = new KnownHosts({ store: createKnownHostStore(database), connected, nodeId: node.id });
  addBackgroundJob(context, {
    name: 'drop hosts whose tokens have expired',
    everyMs: timing.sweepMs,
    onEachServer: true,
    work: () => gateway.dropExpired(),
  });
  return { gateway, connected, known, sessions };
}

/** Accepts the connections of hosts, and closes those that lose their permission. */
function openGateway(context: Context): HostGateway {
  const { app, addressOf, audit, authenticator, clock, connections, faults, limits, log, node } = context;
  const gateway = new HostGateway({
    authenticate: authenticator.authenticate,
    addressOf,
    peerOf: app.peerOf,
    requirePlace: connections.requirePlace.bind(connections),
    limits,
    clock,
    log,
    faults,
    heartbeatMs: context.timing.heartbeatMs,
    auditEvents: audit,
  });
  authenticator.onForget((tokenId) => gateway.dropToken(tokenId));
  authenticator.onRecheck(() => gateway.tokenIds());
  node.onGone(() => gateway.dropAll(closeCodes.tryAgainLater, 'the service stood still'));
  app.addHook('preClose', () => gateway.close());
  gateway.attach(app.server, context.webSockets);
  gateway.on('hello', (link) => noteHost(context, 'connect_host', link));
  gateway.on('closed', (link) => noteHost(context, 'disconnect_host', link));
  return gateway;
}

function noteHost({ audit }: Context, action: 'connect_host' | 'disconnect_host', link: HostLink): void {
  const { principal, address } = link;
  const auditEvent = new AuditEvent(action, { principal, address, requestId: null });
  auditEvent.on({ type: 'host', id: link.hostId, name: link.hostName }, []);
  audit.happened(auditEvent);
}
