/** The model providers: the state of each, its key, and tests of a connection. */
import type { EventFrame } from '../../protocol/frames';
import type { SocketClient } from '../../protocol/socket_client';
import type { KeyStore, ProviderCard, ProviderTest } from '../../protocol/wire';
import { LiveList } from '../../shared/live_list';

const REFRESH_MS = 30_000;
const TEST_MS = 90_000;

export class Providers extends LiveList {
  constructor(client: SocketClient) {
    super(client);
  }

  /** null until read. */
  get cards(): readonly ProviderCard[] | null {
    return this._cards;
  }

  get keyStore(): KeyStore {
    return this._keyStore;
  }

  get selected(): ProviderCard | null {
    return this._cards?.find(card => card.name === this._selected) ?? null;
  }

  /** Whether the servers are being asked which models they have. */
  get isRefreshing(): boolean {
    return this._isRefreshing;
  }

  select(name: string | null): void {
    this._selected = name;
    this.dismissRefusal();
    this.emit();
  }

  /** The last test of that provider's connection; null while there is none. */
  test(name: string): ProviderTest | 'running' | null {
    return this._tests.get(name) ?? null;
  }

  /** Asks the servers which models they have. */
  async refresh(): Promise<void> {
    this._isRefreshing = true;
    this.emit();
    await this.attempt(async () =>
      this._apply(await this.client.request('providers.list', { refresh: true }, REFRESH_MS))
    );
    this._isRefreshing = false;
    this.emit();
  }

  /** One real, short answer. */
  async runTest(name: string, model: string | null): Promise<void> {
    const turn = this._forgetTest(name);
    const isCurrent = () => this._testTurns.get(name) === turn;
    this._tests.set(name, 'running');
    await this.attempt(async () => {
      try {
        const test = await this.client.request('providers.test', { name, model }, TEST_MS);
        if (isCurrent()) {
          this._tests.set(name, test);
        }
      } catch (error) {
        if (isCurrent()) {
          this._tests.delete(name);
        }
        throw error;
      }
    });
  }

  /** Resolves to whether it was stored. */
  async setKey(name: string, secret: string): Promise<boolean> {
    this._forgetTest(name);
    await this.attempt(async () => {
      await this.client.request('credentials.set', { name, secret });
      await this.load();
    });
    return this.refusal === null;
  }

  /** Moves the key in onyx.json to the store; the list is read anew in any case, since it may be in both now. */
  async moveKey(name: string): Promise<void> {
    await this.attempt(async () => void (await this.client.request('credentials.move', { name })));
    await this.load();
  }

  removeKey(name: string): Promise<void> {
    this._forgetTest(name);
    return this.attempt(async () => {
      await this.client.request('credentials.remove', { name });
      await this.load();
    });
  }

  /** The code that the server answers with is shown as soon as the list has it. */
  signIn(name: string): Promise<void> {
    return this._change('subscriptions.begin', name);
  }

  cancelSignIn(name: string): Promise<void> {
    return this._change('subscriptions.cancel', name);
  }

  signOut(name: string): Promise<void> {
    this._tests.delete(name);
    return this._change('subscriptions.signOut', name);
  }

  /** Encrypts all stored keys with a new key; resolves to whether it was done. */
  async rotate(): Promise<boolean> {
    await this.attempt(async () => void (await this.client.request('credentials.rotate', {})));
    return this.refusal === null;
  }

  protected async read(): Promise<() => void> {
    const list = await this.client.request('providers.list', {}, REFRESH_MS);
    return () => this._apply(list);
  }

  protected isOutdatedBy(frame: EventFrame): boolean {
    return ['providers.updated', 'subscriptions.updated', 'settings.updated'].includes(frame.event);
  }

  private _change(
    method: 'subscriptions.begin' | 'subscriptions.cancel' | 'subscriptions.signOut',
    name: string
  ): Promise<void> {
    return this.attempt(async () => {
      await this.client.request(method, { name }, REFRESH_MS);
      await this.load();
    });
  }

  /** Drops the test's result, also one that is still to come; returns the number of the next test. */
  private _forgetTest(name: string): number {
    const turn = (this._testTurns.get(name) ?? 0) + 1;
    this._testTurns.set(name, turn);
    this._tests.delete(name);
    return turn;
  }

  private _apply(list: { providers: ProviderCard[]; keyStore: KeyStore }): void {
    this.invalidatePending();
    this._cards = list.providers;
    this._keyStore = list.keyStore;
  }

  private _cards: readonly ProviderCard[] | null = null;
  private _keyStore: KeyStore = {};
  private _selected: string | null = null;
  private _isRefreshing = false;
  private readonly _testTurns = new Map<string, number>();
  private readonly _tests = new Map<string, ProviderTest | 'running'>();
}
