// Binds the keys of the page. They are left alone while someone types, and with a switch to turn
// them off.
import { labStore } from '../../../../page/state/store.ts'
import { IS_MAC, pressName, typing } from '../../../kit/input/keys.ts'
import { uiStore } from '../../../shown/store.ts'
import type { Command } from '../commands/command.ts'
import { COMMANDS } from '../commands/commands.ts'

/** Inputs that hold no text: Ctrl+Z in one of them is no undo of typing. */
const WITHOUT_TEXT = 'input:is([type=range], [type=checkbox], [type=radio]), select'

/** Whether a key belongs to what has the focus, or Escape to what is open above the page. */
function isTaken(target: EventTarget | null, name: string): boolean {
  if (name === 'Escape' && document.querySelector(':is(dialog[open], :popover-open)')) return true
  if (!(target instanceof Element)) return false
  const hasNoText = target.matches(WITHOUT_TEXT) && !target.closest('dialog')
  // A slider has its own arrows, Home and End, and no use for a letter or a sign.
  const isSign = name.length === 1 && target.matches('input[type=range]')
  if (typing(target)) return !((name.startsWith('Mod+') || isSign) && hasNoText)
  // A focused button, link or fold keeps its own Space.
  return name === 'Space' && target.closest('button, summary, a') !== null
}

/** The second key of a pair must follow the first in this time. */
const PAIR_MS = 1200

/** Whether a command waits for another key after this one. */
const begins = (name: string, commands: readonly Command[]): boolean =>
  commands.some(({ keys = [] }) => keys.some((key) => key.startsWith(`${name} `)))

/** The command that presses stand for: `first` is a key of a pair that was pressed just before. */
export function commandOf(
  name: string,
  first: string | undefined,
  commands: readonly Command[] = COMMANDS,
): Command | undefined {
  const of = (wanted: string) => commands.find(({ keys = [] }) => keys.includes(wanted))
  return first === undefined ? of(name) : of(`${first} ${name}`)
}

/** Keys that may be held down. */
const REPEATS: readonly string[] = ['[', ']']

/** Listens to the page's keys until the returned function is called; parts of the page that listen
 * on the document come first. */
export function listenToKeys(): () => void {
  let first: string | undefined
  let pressedAt = 0
  const onKey = (event: KeyboardEvent) => {
    if (!uiStore.getState().shortcuts_on || event.defaultPrevented) return
    const name = pressName(event, IS_MAC)
    if (name === undefined || isTaken(event.target, name)) return
    if (event.repeat && !REPEATS.includes(name)) return
    const pair = first !== undefined && event.timeStamp - pressedAt < PAIR_MS ? first : undefined
    first = undefined
    const command = commandOf(name, pair)
    if (command === undefined) {
      // Of a pair that means nothing, the second key does nothing either.
      if (pair !== undefined || !begins(name, COMMANDS)) return
      first = name
      pressedAt = event.timeStamp
    } else if (command.can?.(labStore.getState()) ?? true) command.run()
    // What cannot be done now still keeps its Space from scrolling; End and the rest stay the
    // browser's.
    else if (name !== 'Space') return
    event.preventDefault()
  }
  globalThis.addEventListener('keydown', onKey)
  return () => globalThis.removeEventListener('keydown', onKey)
}
