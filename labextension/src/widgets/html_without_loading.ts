/** Sanitised HTML without anything that the browser would fetch from another place by showing it. */

const MAY_LOAD = /<(?:img|video|audio|source|track|picture|iframe|input|embed|object|image)\b|url\(/i;

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
