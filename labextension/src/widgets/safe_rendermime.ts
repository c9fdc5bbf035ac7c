/**
 * JupyterLab's rendering with one rule more: an answer never loads anything from elsewhere by being shown. A picture's
 * address can carry away what the model has read, so it becomes a link that a person may click.
 */
import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { IRenderMime } from '@jupyterlab/rendermime';
import { withoutLoading } from './html_without_loading';

export function safeRendermime(rendermime: IRenderMimeRegistry): IRenderMimeRegistry {
  const { sanitizer } = rendermime;
  const safe: IRenderMime.ISanitizer = {
    get allowNamedProperties() {
      return sanitizer.allowNamedProperties;
    },
    getAutolink: () => sanitizer.getAutolink?.() ?? true,
    sanitize: (dirty, options) => withoutLoading(sanitizer.sanitize(dirty, options))
  };
  return rendermime.clone({ sanitizer: safe });
}
