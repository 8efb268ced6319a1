// Holds what the page's own link brought beside the experiment: someone's result, and what is
// hidden or locked.
import { createStore } from 'zustand/vanilla'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import type { SharedResult } from '../../document/links/shared_result.ts'
import { viewParts } from '../../document/links/view.ts'
import {
  LOCK_PARTS,
  type LockPart,
  NO_OPTIONS,
  readOptions,
  type ViewOptions,
} from '../../document/links/view_options.ts'
import { PRESETS } from '../../document/presets/presets.ts'
import { IS_RECORDING, isReplaying } from './replay.ts'

export interface ShareState {
  readonly options: ViewOptions
  /** The sender's result; undefined where there is none, or it was dismissed. */
  readonly result: SharedResult | undefined
  /** What the result is of: the experiment of the same link. */
  readonly experiment: Experiment
}

export const shareStore = createStore<ShareState>(() => ({
  options: NO_OPTIONS,
  result: undefined,
  experiment: PRESETS[0].experiment,
}))

/** Takes in the hash of a link and its experiment. Returns what could not be understood;
 * `onNotices` hears later what could not be understood of a result, whose reader few pages need. */
export function readShareHash(
  hash: string,
  experiment: Experiment,
  onNotices: (notices: readonly string[]) => void,
): readonly string[] {
  const { options, notices } = readOptions(hash)
  const { r } = viewParts(hash)
  shareStore.setState({ options, result: undefined, experiment })
  if (r !== undefined)
    void import('../../document/links/summary.ts').then(({ decodeSummary }) => {
      // Another link may have been opened since.
      if (shareStore.getState().experiment !== experiment) return
      const summary = decodeSummary(r)
      shareStore.setState({ result: summary.result })
      onNotices(summary.notices)
    })
  return notices
}

/** Why this cannot be changed on this page; undefined where it can. */
export function lockedBecause(part: LockPart): string | undefined {
  if (isReplaying()) return `Not changed: ${IS_RECORDING}.`
  return shareStore.getState().options.lock.includes(part)
    ? 'This page was opened by a link that locks it.'
    : undefined
}

/** Why no other experiment can be opened on this page, e.g. from a file; undefined where one
 * can. */
export const openingLocked = (): string | undefined =>
  LOCK_PARTS.map(lockedBecause).find((why) => why !== undefined)

/** The lock that a field of the experiment falls under. */
export const lockOf = (path: string): LockPart =>
  /^phases(\.\d+\.steps)?$/.test(path) ? 'phases' : 'settings'
