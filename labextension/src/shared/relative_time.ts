/** How long ago something was, in words. */

/** `5 minutes formatRelative`, `yesterday`, in the browser's language. */
export function formatRelative(time: string): string {
  const seconds = (Date.parse(time) - Date.now()) / 1000;
  if (!Number.isFinite(seconds)) {
    return '';
  }
  const format = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'narrow' });
  const steps: Array<[Intl.RelativeTimeFormatUnit, number]> = [
    ['day', 86_400],
    ['hour', 3600],
    ['minute', 60]
  ];
  const [unit, size] = steps.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1];
  return format.format(Math.round(seconds / size), unit);
}
