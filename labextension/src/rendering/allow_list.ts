/**
 * The one allow-list for everything written by a model, a tool or a page: turns HTML into a fragment that
 * only contains the elements and attributes in `allowed_html.json`. Nothing in it loads, runs or acts by
 * being shown; an address only opens on a click, and its target is shown beside it.
 */
import DOMPurify from 'dompurify';

import allowed from './allowed_html.json';

const ATTRIBUTES: Readonly<Record<string, readonly string[]>> = allowed.attributes;
const SCHEMES = new Set(allowed.schemes.map(scheme => `${scheme}:`));
const PICTURE = new RegExp(`^data:image/(?:${allowed.pictures.join('|')});base64,[A-Za-z0-9+/=\\s]*$`, 'i');
const CONFIG = {
  ALLOWED_TAGS: allowed.elements,
  ALLOWED_ATTR: [...new Set(Object.values(ATTRIBUTES).flat())],
  ALLOW_ARIA_ATTR: false,
  ALLOW_DATA_ATTR: false,
  ALLOWED_URI_REGEXP: new RegExp(`^(?:${allowed.schemes.join('|')}):`, 'i'),
  RETURN_DOM_FRAGMENT: true as const
};

let purifier: ReturnType<typeof DOMPurify> | null = null;

/**
 * The part of the HTML that may be shown. It is not attached to a page yet, so nothing in it has loaded.
 * `asWritten` is applied to attribute values and code.
 */
export function allowedContent(html: string, asWritten = (text: string) => text): DocumentFragment {
  const content = purify().sanitize(html, CONFIG);
  // From here on every element is on the list: none has names that shadow an element's properties (as form
  // fields do).
  for (const element of content.querySelectorAll('*')) {
    for (const { name, value } of [...element.attributes]) {
      element.setAttribute(name, asWritten(value));
    }
  }
  for (const code of content.querySelectorAll('code, pre')) {
    const text = code.textContent ?? '';
    if (asWritten(text) !== text) {
      code.textContent = asWritten(text);
    }
  }
  content.querySelectorAll('img').forEach(replaceByLink);
  content.querySelectorAll('a').forEach(showTarget);
  return content;
}

function purify(): ReturnType<typeof DOMPurify> {
  if (!purifier) {
    purifier = DOMPurify(window);
    // Attributes are allowed per element: `src` is for pictures only.
    purifier.addHook('uponSanitizeAttribute', (node, data) => {
      data.keepAttr &&= ATTRIBUTES[node.localName]?.includes(data.attrName) ?? false;
    });
  }
  return purifier;
}

function isSmallPicture(address: string): boolean {
  return address.length <= allowed.maxPictureChars && PICTURE.test(address);
}

/** A remote picture, which would load by being shown, becomes a link that the user can open. */
function replaceByLink(image: HTMLImageElement): void {
  const address = image.getAttribute('src') ?? '';
  if (isSmallPicture(address)) {
    return;
  }
  const link = image.ownerDocument.createElement('a');
  link.setAttribute('href', address);
  link.textContent = image.alt.trim() || (addressOf(address) ? address : '');
  // Inside a link only the words remain.
  image.replaceWith(image.closest('a') ? (link.textContent ?? '') : link);
}

/** An absolute address of a kind that may be opened; null for all others. */
function addressOf(value: string): URL | null {
  try {
    const url = new URL(value);
    return SCHEMES.has(url.protocol) ? url : null;
  } catch {
    return null; // it leads somewhere within JupyterLab's own page
  }
}

/** Opened in another tab, which learns nothing about this page; a link's words never hide its target. */
function showTarget(link: HTMLAnchorElement): void {
  const url = addressOf(link.getAttribute('href') ?? '');
  if (!url) {
    link.replaceWith(...link.childNodes);
    return;
  }
  link.href = url.href;
  link.title = url.href;
  link.target = '_blank';
  link.rel = 'noopener noreferrer nofollow';
  link.referrerPolicy = 'no-referrer';
  if (!showsItsAddress(link.textContent ?? '', url)) {
    const target = link.ownerDocument.createElement('span');
    target.className = 'onyx-LinkTarget';
    target.textContent = ` (${url.host || url.pathname})`;
    link.append(target);
  }
}

/** Whether the words are the address itself, or its host. */
function showsItsAddress(words: string, url: URL): boolean {
  const said = words.trim();
  if (said === (url.host || url.pathname)) {
    return true;
  }
  const address = addressOf(said);
  // A name in front of the host (`https://bank.example@evil.example`) can be mistaken for the host.
  return address?.host === url.host && address.protocol === url.protocol && address.username === '';
}
