// Reads what a link hides or locks of the page, for a class or a frame:
// `#embed=1&hide=settings,phases&lock=experiment`. Takes hostile input and never throws.
import { show } from '../../rl/fields/field.ts'
import { isViewHash, MAX_HASH_LENGTH, type ViewPart, viewParts } from './view.ts'

/** Parts of the page that can be hidden; links contain these names, so none changes its meaning. */
export const HIDE_PARTS = [
  'header',
  'experiment',
  'steps',
  'share',
  'settings',
  'numbers',
  'phases',
  'intro',
  'tabs',
  'samples',
  'heatmap',
  'small',
] as const
export type HidePart = (typeof HIDE_PARTS)[number]

/** What can be locked. experiment: the menu. settings: every field. phases: their order, number and
 * length, and the next one. */
export const LOCK_PARTS = ['experiment', 'settings', 'phases'] as const
export type LockPart = (typeof LOCK_PARTS)[number]

export interface ViewOptions {
  /** Compact, for a frame in another page. */
  readonly embed: boolean
  readonly hide: readonly HidePart[]
  readonly lock: readonly LockPart[]
}

export const NO_OPTIONS: ViewOptions = { embed: false, hide: [], lock: [] }

/** As parts of a hash; what is not asked for is undefined. */
export function optionParts({ embed, hide, lock }: ViewOptions) {
  const listed = (names: readonly string[]) => (names.length === 0 ? undefined : names.join(','))
  return {
    embed: embed ? '1' : undefined,
    hide: listed(hide),
    lock: listed(lock),
  } satisfies Partial<Record<ViewPart, string | undefined>>
}

/** The options of a hash, in the order of the lists above. A notice names each one that is not
 * known. */
export function readOptions(hash: string): {
  readonly options: ViewOptions
  readonly notices: readonly string[]
} {
  if (isViewHash(hash) && hash.length > MAX_HASH_LENGTH)
    return {
      options: NO_OPTIONS,
      notices: ['The part of the link behind # is too long, so it was not read.'],
    }
  const parts = viewParts(hash)
  const notices: string[] = []
  const named = <T extends string>(part: 'hide' | 'lock', known: readonly T[]): T[] => {
    const names = (parts[part] ?? '').split(/,|%2C/i).filter((name) => name !== '')
    const unknown = names.filter((name) => !known.some((part) => part === name))
    if (unknown.length > 0) {
      const shown = unknown.slice(0, 5).map(show).join(', ')
      const more = unknown.length > 5 ? ` and ${unknown.length - 5} more` : ''
      notices.push(`The link would ${part} what is not known here: ${shown}${more}.`)
    }
    return known.filter((part) => names.includes(part))
  }
  if (parts.embed !== undefined && !/^[01]$/.test(parts.embed))
    notices.push(`embed: expected 0 or 1, got ${show(parts.embed)}.`)
  const options = {
    embed: parts.embed === '1',
    hide: named('hide', HIDE_PARTS),
    lock: named('lock', LOCK_PARTS),
  }
  return { options, notices }
}
