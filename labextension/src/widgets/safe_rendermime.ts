/**
 * JupyterLab's rendering with one rule more: an answer never loads anything from elsewhere by being shown. A picture's
 * address can carry away what the model has read, so it becomes a link that a person may click.
 */
import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { IRenderMime } from '@jupyterlab/rendermime';

const MAY_LOAD = /<(?:img|video|audio|source|track|picture|iframe|input|embed|object|image)\b|url\(/i;

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

/** The same HTML without anything that would be fetched from another place. */
export function withoutLoading(html: string): string {
  if (!MAY_LOAD.test(html)) {
    return html;
  }
  const page = new DOMParser().parseFromString(html, 'text/html');
  for (const element of page.querySelectorAll('[src], [srcset], [poster], [data], [href], [style]')) {
    if (/url\(/i.test(element.getAttribute('style') ?? '')) {
      element.removeAttribute('style');
    }
    element.removeAttribute('srcset');
    element.removeAttribute('poster');
    const isLink = element.localName === 'a';
    const address = isLink ? null : (element.getAttribute('src') ?? element.getAttribute('data'));
    if (address && !/^data:image\//i.test(address)) {
      element.replaceWith(linkTo(page, address, element.getAttribute('alt')));
    }
  }
  return page.body.innerHTML;
}

function linkTo(page: Document, address: string, name: string | null): Element {
  const link = page.createElement('a');
  link.textContent = name || address;
  if (/^https?:/i.test(address)) {
    link.href = address;
    link.target = '_blank';
    link.rel = 'noopener noreferrer';
  }
  return link;
}
