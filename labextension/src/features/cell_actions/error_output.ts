/**
 * Error outputs with `Fix · Explain` below the traceback. The output itself is drawn by its usual renderer.
 */
import type { IRenderMime, IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { Message } from '@lumino/messaging';
import { PanelLayout, Widget } from '@lumino/widgets';

export const ERROR_MIME = 'application/vnd.jupyter.error';
const TRACEBACK_MIME = 'application/vnd.jupyter.stderr';
/** Before the plain traceback, which every error output also carries. */
const RANK = 105;
/** Errors with nothing to fix: the cell was interrupted, or an Onyx magic already says what to do. */
const NOT_FIXABLE = new Set(['KeyboardInterrupt', 'MagicError']);

interface ErrorActions {
  explain: (output: HTMLElement) => void;
  fix: (output: HTMLElement) => void;
}

/** Draws error outputs in every notebook that is opened afterwards. */
export function addErrorOutputs(
  rendermime: IRenderMimeRegistry,
  actions: ErrorActions,
  trans: TranslationBundle
): void {
  rendermime.addFactory(
    {
      safe: true,
      mimeTypes: [ERROR_MIME],
      createRenderer: options => {
        const mimeType = TRACEBACK_MIME;
        const traceback = rendermime.getFactory(mimeType)?.createRenderer({ ...options, mimeType });
        return new ErrorOutput(traceback ?? null, actions, trans);
      }
    },
    RANK
  );
}

class ErrorOutput extends Widget implements IRenderMime.IRenderer {
  constructor(
    private readonly traceback: IRenderMime.IRenderer | null,
    actions: ErrorActions,
    trans: TranslationBundle
  ) {
    super();
    this.addClass('onyx-ErrorOutput');
    const layout = (this.layout = new PanelLayout());
    if (traceback) {
      layout.addWidget(traceback);
    }
    this._row = new Widget();
    this._row.addClass('onyx-ErrorActions');
    this._row.node.dataset.onyx = 'error-actions';
    this._row.node.append(
      button('fix-error', trans.__('Fix'), trans.__('Let Onyx fix this error'), () => actions.fix(this.node)),
      separator(),
      button('explain-error', trans.__('Explain'), trans.__('Let Onyx explain this error'), () =>
        actions.explain(this.node)
      )
    );
    layout.addWidget(this._row);
  }

  renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    const error = model.data[ERROR_MIME] as { ename?: unknown } | undefined;
    this._isFault = !NOT_FIXABLE.has(String(error?.ename));
    this._showRow();
    return this.traceback?.renderModel(model) ?? Promise.resolve();
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    this._showRow();
  }

  private _showRow(): void {
    // Consoles and copies of the output elsewhere have no notebook cell to work on.
    this._row.setHidden(!this._isFault || this.node.closest('.jp-Notebook .jp-CodeCell') === null);
  }

  private _isFault = true;
  private readonly _row: Widget;
}

function button(hook: string, label: string, title: string, run: () => void): HTMLButtonElement {
  const node = document.createElement('button');
  node.type = 'button';
  node.className = 'onyx-ErrorActions-button';
  node.dataset.onyx = hook;
  node.textContent = label;
  node.title = title;
  node.addEventListener('click', run);
  return node;
}

function separator(): HTMLElement {
  const node = document.createElement('span');
  node.textContent = '·';
  node.setAttribute('aria-hidden', 'true');
  return node;
}
