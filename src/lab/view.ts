// What of the page is looked at, as the part of the address behind '#': never what is trained.

import { isCardHash } from './card.ts'

export const TABS = ['learn', 'inside', 'tokens', 'runs', 'gpu'] as const
export type Tab = (typeof TABS)[number]

export const isTab = (text: unknown): text is Tab => TABS.some((tab) => tab === text)

const PREFIX = '#tab='

/** Whether a hash says what is looked at; others hold a result card or a link. */
export const isViewHash = (hash: string): boolean => hash.startsWith(PREFIX)

/** The tab of a hash: a result card lies in the last one, and the first is open where none is named. */
export function tabOf(hash: string): Tab {
  if (isCardHash(hash)) return 'gpu'
  const name = isViewHash(hash) ? hash.slice(PREFIX.length) : ''
  return isTab(name) ? name : TABS[0]
}

/** '' for the first tab. */
export const viewHash = (tab: Tab): string => (tab === TABS[0] ? '' : `${PREFIX}${tab}`)
