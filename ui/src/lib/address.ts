/**
 * Every view has an address. Addresses live behind the `#`, so that a reload or a pasted link comes back to the same
 * view, with its filter and order in the query.
 */

export type Route =
  | { screen: 'fleet' }
  | { screen: 'register'; staged: { id: string; context: string } | null }
  | { screen: 'cluster'; cluster: string }
  | { screen: 'use'; cluster: string }
  /** `namespace: null` is every namespace that the registration may address. */
  | { screen: 'namespace'; cluster: string; namespace: string | null }
  | { screen: 'nowhere'; address: string };

export type Query = Readonly<Record<string, string>>;

export interface Place {
  route: Route;
  query: Query;
}

function decode(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}

function parsePath(path: string): Route {
  const nowhere: Route = { screen: 'nowhere', address: path };
  const parts: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '') continue;
    const part = decode(segment);
    if (part === null) return nowhere;
    parts.push(part);
  }
  const [head, first, second, third] = parts;
  if (head === undefined || (head === 'fleet' && parts.length === 1)) return { screen: 'fleet' };
  if (head === 'register') {
    if (parts.length === 1) return { screen: 'register', staged: null };
    if (parts.length === 3 && first && second) {
      return { screen: 'register', staged: { id: first, context: second } };
    }
  }
  if (head === 'clusters' && first) {
    if (parts.length === 2) return { screen: 'cluster', cluster: first };
    if (parts.length === 3 && second === 'use') return { screen: 'use', cluster: first };
    if (parts.length === 3 && second === 'pods') {
      return { screen: 'namespace', cluster: first, namespace: null };
    }
    if (parts.length === 4 && second === 'namespaces' && third) {
      return { screen: 'namespace', cluster: first, namespace: third };
    }
  }
  return nowhere;
}

/** Reads `#/clusters/a/pods?q=b`. What is no view becomes `nowhere`, never the nearest view. */
export function parseAddress(hash: string): Place {
  const text = hash.startsWith('#') ? hash.slice(1) : hash;
  const at = text.indexOf('?');
  const path = at === -1 ? text : text.slice(0, at);
  const query = at === -1 ? {} : Object.fromEntries(new URLSearchParams(text.slice(at + 1)));
  return { route: parsePath(path), query };
}

function pathOf(route: Route): string {
  const part = encodeURIComponent;
  switch (route.screen) {
    case 'fleet':
      return '/fleet';
    case 'register':
      return route.staged ? `/register/${part(route.staged.id)}/${part(route.staged.context)}` : '/register';
    case 'cluster':
      return `/clusters/${part(route.cluster)}`;
    case 'use':
      return `/clusters/${part(route.cluster)}/use`;
    case 'namespace':
      return route.namespace === null
        ? `/clusters/${part(route.cluster)}/pods`
        : `/clusters/${part(route.cluster)}/namespaces/${part(route.namespace)}`;
    case 'nowhere':
      return route.address;
  }
}

/** The address of a view, for an `href`. Empty values of the query are left out. */
export function addressOf(route: Route, query: Query = {}): string {
  const kept = Object.entries(query).filter(([, value]) => value !== '');
  const tail = kept.length === 0 ? '' : `?${new URLSearchParams(kept).toString()}`;
  return `#${pathOf(route)}${tail}`;
}

/** The view that a view is part of; `null` at the top. */
export function parentOf(route: Route): Route | null {
  switch (route.screen) {
    case 'fleet':
      return null;
    case 'use':
    case 'namespace':
      return { screen: 'cluster', cluster: route.cluster };
    default:
      return { screen: 'fleet' };
  }
}
