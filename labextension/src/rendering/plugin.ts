/** Draws text from models, tools and pages the same way in every part of Onyx. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { makeRendering } from './rendering';
import { IOnyxRendering } from '../tokens';

export const renderingPlugin: JupyterFrontEndPlugin<IOnyxRendering> = {
  id: 'onyx-jupyter:rendering',
  description: 'Draws what models, tools and pages wrote, through one allow-list.',
  autoStart: true,
  requires: [IRenderMimeRegistry],
  optional: [IEditorLanguageRegistry, ITranslator],
  provides: IOnyxRendering,
  activate: (
    _: JupyterFrontEnd,
    rendermime: IRenderMimeRegistry,
    languages: IEditorLanguageRegistry | null,
    translator: ITranslator | null
  ): IOnyxRendering => {
    disableDnsPrefetch();
    return makeRendering(rendermime, languages, (translator ?? nullTranslator).load('onyx_jupyter'));
  }
};

/** A browser resolves the hosts of links as soon as they are shown: a host name can leak text. */
function disableDnsPrefetch(): void {
  const control = document.createElement('meta');
  control.httpEquiv = 'x-dns-prefetch-control';
  control.content = 'off';
  document.head.append(control);
}
