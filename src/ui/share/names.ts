// Names for people what links hide and lock.
import type { HidePart, LockPart } from '../../document/links/view_options.ts'
import { locale, t } from '../kit/translator.ts'

export const HIDDEN: Readonly<Record<HidePart, string>> = {
  header: 'the page’s head',
  experiment: 'the menu of experiments',
  steps: 'Step and Next phase',
  share: 'Copy link',
  settings: 'the settings',
  numbers: 'the numbers',
  phases: 'the line of phases',
  intro: 'the introduction',
  tabs: 'the tabs',
  samples: 'the samples',
  heatmap: 'the heat map',
  small: 'the small charts',
}

export const LOCKED: Readonly<Record<LockPart, string>> = {
  experiment: 'the menu of experiments',
  settings: 'the settings',
  phases: 'the phases',
}

export const listWords = (words: readonly string[]): string =>
  new Intl.ListFormat(locale()).format(words.map(t))
