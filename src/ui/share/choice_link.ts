// Makes the link that holds what a person chose to share.
import { encodeSummary } from '../../document/links/summary.ts'
import { type Tab, withParts } from '../../document/links/view.ts'
import { NO_OPTIONS, optionParts, type ViewOptions } from '../../document/links/view_options.ts'
import { shareLink } from '../../page/client/links.ts'
import { asOfRun, resultOf } from '../../page/state/result.ts'
import { formatCount } from '../kit/format.ts'
import { languageStore } from '../language/language.ts'
import { boardPart } from '../shown/board.ts'
import { linkedState } from '../shown/shown.ts'
import { listWords } from './names.ts'

export interface Choice {
  /** It opens what was trained, where the settings have left that. */
  readonly ofRun: boolean
  readonly withCurves: boolean
  readonly withTab: boolean
  /** It opens in the language of this page, whatever the receiver's is. */
  readonly withLanguage: boolean
  readonly options: ViewOptions
}

export const PLAIN: Choice = {
  ofRun: false,
  withCurves: false,
  withTab: false,
  withLanguage: false,
  options: NO_OPTIONS,
}

/** The link of a choice, and everything it holds. */
export function linkOf({ ofRun, withCurves, withTab, withLanguage, options }: Choice, tab: Tab) {
  const state = ofRun ? asOfRun(linkedState()) : linkedState()
  const result = withCurves ? resultOf(state) : undefined
  const hash = withParts('', {
    ...optionParts(options),
    tab: withTab ? tab : undefined,
    lang: withLanguage ? languageStore.getState().language : undefined,
    r: result && encodeSummary(result),
    board: boardPart(),
  })
  const { url, holds } = shareLink(hash, state)
  const { embed, hide, lock } = options
  const more = [
    ...(result
      ? [
          `${result.lines.length} curves of ${formatCount(result.steps)} steps, and the name of the adapter (${result.adapter})`,
        ]
      : []),
    ...(withTab ? ['the open tab'] : []),
    ...(withLanguage ? ['the language'] : []),
    ...(embed ? ['the compact view'] : []),
    ...(hide.length > 0 ? [`what is hidden (${hide.length})`] : []),
    ...(lock.length > 0 ? [`what is locked (${lock.length})`] : []),
  ]
  return { url, says: `It holds the experiment with ${listWords([...holds, ...more])}.` }
}
