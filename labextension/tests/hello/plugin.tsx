/** The front end of the smallest feature: a panel of the sidebar, and what its tool's card shows. docs/architecture.md shows it. */
import type { JupyterFrontEndPlugin } from '@jupyterlab/application';
import { useState } from 'react';

import type { SocketClient } from '../../src/protocol/socket_client';
import { IOnyxChat, IOnyxConnection } from '../../src/tokens';

declare module '../../src/protocol/wire' {
  interface Methods {
    'hello.greet': { params: { name: string }; result: { text: string } };
  }
}

function HelloPanel({ client, close }: { client: SocketClient; close: () => void }): JSX.Element {
  const [text, setText] = useState('');
  const greet = async () => setText((await client.request('hello.greet', { name: 'Ada' })).text);
  return (
    <section>
      <button onClick={() => void greet()}>Greet</button>
      <p>{text}</p>
      <button onClick={close}>Close</button>
    </section>
  );
}

export const helloPlugin: JupyterFrontEndPlugin<void> = {
  id: 'hello:panel',
  autoStart: true,
  requires: [IOnyxConnection, IOnyxChat],
  activate: (_app, { client }: IOnyxConnection, { panels, results }: IOnyxChat) => {
    panels.add({ id: 'hello', label: 'Hello', render: close => <HelloPanel {...{ client, close }} /> });
    results.add('hello', call => <strong>{call.output}</strong>);
  }
};
