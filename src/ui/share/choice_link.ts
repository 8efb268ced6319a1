// Makes the link that holds what a person chose to share, or what goes with a link unasked.
import { MAX_LINK_LENGTH } from '../../document/links/link.ts'
import { encodeSummary } from '../../document/links/summary.ts'
import { type Tab, withParts } from '../../document/links/view.ts'
import { NO_OPTIONS, optionParts, type ViewOptions } from '../../document/links/view_options.ts'
import { shareLink } from '../../page/client/links.ts'
import { runOf } from '../../page/runs/library/library_store.ts'
import { adapterOf, asOfRun, isOfLink, resultOf } from '../../page/state/result.ts'
import type { LabState } from '../../page/state/store.ts'
import { isBusy } from '../../record/run/run_parts.ts'
import { formatCount } from '../kit/format.ts'
import { languageStore } from '../language/language.ts'
import { openedStore } from '../open/opened_run.ts'
import { boardPart } from '../shown/board.ts'
import { mainMetric } from '../shown/measure/main_measure.ts'
import { isImported, linkedState } from '../shown/shown.ts'
import { showToast } from '../shown/store.ts'
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

const PLAIN: Choice = {
  ofRun: false,
  withCurves: false,
  withTab: false,
  withLanguage: false,
  options: NO_OPTIONS,
}

/** What was trained on; of a past run as its record says. */
function trainedOn(state: LabState): string | undefined {
  const { opened } = openedStore.getState()
  const entry = opened && runOf(opened.id)
  return entry ? entry.header.adapter || 'unnamed adapter' : adapterOf(state)
}

/** Why the curves cannot go with the link of a run; undefined where they can. */
export function noCurves(ofRun: boolean): string | undefined {
  if (isImported()) return 'what is shown comes from a log'
  const state = ofRun ? asOfRun(linkedState()) : linkedState()
  if (state.step === 0) return 'there is no run yet'
  if (state.series.size === 0) return 'its record has none'
  if (!isOfLink(state)) return 'the settings were changed since this run began'
  return undefined
}

/** The link of a choice, and everything it holds. */
export function linkOf({ ofRun, withCurves, withTab, withLanguage, options }: Choice, tab: Tab) {
  const state = ofRun ? asOfRun(linkedState()) : linkedState()
  const hasCurves = withCurves && noCurves(ofRun) === undefined
  const result = hasCurves ? resultOf(state, mainMetric, trainedOn(state)) : undefined
  const hash = withParts('', {
    ...optionParts(options),
    tab: withTab ? tab : undefined,
    lang: withLanguage ? languageStore.getState().language : undefined,
    r: result && encodeSummary(result),
    board: boardPart(),
  })
  const { embed, hide, lock } = options
  const curves = result?.lines.length
  const more = [
    ...(result
      ? [
          `${curves} ${curves === 1 ? 'curve' : 'curves'} of ${formatCount(result.steps)} steps on ${result.adapter}`,
        ]
      : []),
    ...(withTab ? ['the open tab'] : []),
    ...(withLanguage ? ['the language'] : []),
    ...(embed ? ['the compact view'] : []),
    ...(hide.length > 0 ? [`what is hidden (${hide.length})`] : []),
    ...(lock.length > 0 ? [`what is locked (${lock.length})`] : []),
  ]
  const { url, holds, says } = shareLink(hash, state, more)
  return { url, opens: says, says: `It holds the experiment with ${listWords(holds)}.` }
}

/** What goes with a link unasked: the curves of a run that is over, where the link stays so short
 * that no program cuts it. */
export function usualChoice(): Choice {
  const withCurves = { ...PLAIN, withCurves: true }
  const isOver = !isBusy(linkedState()) && noCurves(false) === undefined
  return isOver && linkOf(withCurves, 'learn').url.length <= MAX_LINK_LENGTH ? withCurves : PLAIN
}

/** Puts the link of the run that the page shows on the clipboard, or where that is closed, into
 * the address bar. */
export async function copyLink(): Promise<void> {
  const { url, opens } = linkOf(usualChoice(), 'learn')
  try {
    await navigator.clipboard.writeText(url)
    showToast(`Link copied: ${opens}`)
  } catch {
    // The clipboard is refused: the address bar still holds the link.
    history.replaceState(history.state, '', url)
    showToast('The browser does not allow copying. The link is now in the address bar.')
  }
}
