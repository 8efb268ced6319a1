// Reads keys as commands name them: 'S', 'Space', 'G L' (one after the other), 'Mod+Shift+Z'. Mod
// is Ctrl, or ⌘ on a Mac.

export interface Press {
  readonly key: string
  readonly ctrlKey: boolean
  readonly metaKey: boolean
  readonly altKey: boolean
  readonly shiftKey: boolean
}

/** The name of what was pressed; undefined for what no command is named by. */
export function pressName(press: Press, isMac: boolean): string | undefined {
  const { key, ctrlKey, metaKey, altKey, shiftKey } = press
  if (altKey || (isMac ? ctrlKey : metaKey)) return undefined
  const plain = key === ' ' ? 'Space' : key.length === 1 ? key.toUpperCase() : key
  if (!(isMac ? metaKey : ctrlKey)) return plain
  return shiftKey ? `Mod+Shift+${plain}` : `Mod+${plain}`
}

/** How keys are written beside what they do: presses in order, each as the keys held together. */
export const keyCaps = (keys: string, isMac: boolean): readonly (readonly string[])[] =>
  keys
    .split(' ')
    .map((press) => press.split('+').map((key) => (key === 'Mod' ? (isMac ? '⌘' : 'Ctrl') : key)))

/** For tooltips, e.g. 'Ctrl+Shift+Z' or 'G then L'. */
export const keyWords = (keys: string, isMac: boolean): string =>
  keyCaps(keys, isMac)
    .map((press) => press.join(isMac ? ' ' : '+'))
    .join(' then ')

/** Whether this is a Mac or an iPad, where ⌘ is what Ctrl is elsewhere. */
export const IS_MAC: boolean = /Mac|iP(hone|ad|od)/.test(globalThis.navigator?.userAgent ?? '')

/** Someone is typing, or in a dialog. */
export const typing = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.closest('input, select, textarea, dialog') !== null)
