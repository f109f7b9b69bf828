/** The address bar that a desktop window does not have: where the person is, and how to go elsewhere. */
import { addressOf, parentOf, parseAddress, type Place, type Query, type Route } from '../lib/address';

export class Router {
  #place = $state.raw<Place>(parseAddress(window.location.hash));

  get route(): Route {
    return this.#place.route;
  }

  get query(): Query {
    return this.#place.query;
  }

  /** Follows the address bar until stopped. */
  follow(): () => void {
    const read = () => {
      this.#place = parseAddress(window.location.hash);
    };
    window.addEventListener('hashchange', read);
    return () => {
      window.removeEventListener('hashchange', read);
    };
  }

  go(route: Route, query: Query = {}): void {
    const address = addressOf(route, query);
    if (address === window.location.hash) return;
    window.location.hash = address;
    this.#place = { route, query };
  }

  /** Replaces the present address, without a step in the history. */
  replace(route: Route, query: Query = this.query): void {
    history.replaceState(history.state, '', addressOf(route, query));
    this.#place = { route, query };
  }

  /** Changes parts of the query (filter, order) in place. */
  refine(change: Query): void {
    this.replace(this.route, { ...this.query, ...change });
  }

  /** One level up. */
  up(): void {
    const parent = parentOf(this.route);
    if (parent) this.go(parent);
  }
}
