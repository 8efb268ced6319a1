// Names adapters and browsers, on the page and in links.
import type { AdapterFacts } from '../../kernels/device/adapter.ts'

const MAX_NAME_LENGTH = 80
/** Letters, digits and marks, no control or direction characters. */
const NAME = /^[\p{L}\p{N}\p{P}\p{S} ]+$/u

/** What to call an adapter; the same words as the page's head. */
export const adapterName = ({ description, vendor, architecture }: AdapterFacts): string =>
  description || [vendor, architecture].join(' ').trim() || 'unnamed adapter'

/** What people call an adapter: its name without the versions of its driver, which some drivers put
 * behind a colon ('llvmpipe: Mesa 25.0.7 (LLVM 15.0.6)'). */
export const deviceName = (adapter: string): string =>
  adapter.replace(/(?::| driver ).*$/, '').trim() || adapter

/** 'Chrome 142' out of a user agent; 'unknown browser' where it says nothing known. */
export function browserName(userAgent: string): string {
  // Most browsers also claim to be those that come after them here.
  const known = [
    [/Edg\/(\d+)/, 'Edge'],
    [/OPR\/(\d+)/, 'Opera'],
    [/Firefox\/(\d+)/, 'Firefox'],
    [/(?:Headless)?Chrome\/(\d+)/, 'Chrome'],
    [/Version\/(\d+)[\d.]* (?:Mobile\/\S+ )?Safari\//, 'Safari'],
  ] as const
  for (const [pattern, name] of known) {
    const version = pattern.exec(userAgent)?.[1]
    if (version) return `${name} ${version}`
  }
  return 'unknown browser'
}

/** What a link may carry of a name: letters, digits and marks, at most MAX_NAME_LENGTH of them. */
export const cleanName = (name: string): string => {
  const kept = [...name].filter((character) => NAME.test(character))
  return kept.slice(0, MAX_NAME_LENGTH).join('').trim() || 'unnamed'
}

/** Whether a hash is a card's and not an experiment's. */
export const isCardHash = (hash: string): boolean => /^#?card=/.test(hash)
