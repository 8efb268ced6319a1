// Writes what the page says about kept runs, and about those that were interrupted.

import { brokenHead } from '../../../host/protocol/guard.ts'
import type { LabState } from '../../../page/state/store.ts'
import type { CheckpointProblem, Loss } from '../../../record/run/run_parts.ts'
import { locale } from '../../kit/translator.ts'

export interface NoticeText {
  readonly title: string
  readonly text: string
}

const stepText = (step: number) => (step === 0 ? 'its first step' : `step ${step}`)

/** What happened to the GPU or to the worker, and what becomes of the run. */
export function lossText({ what, step, is_waiting, is_blocked }: Loss): NoticeText {
  if (what === 'worker')
    return {
      title: 'The training thread was replaced',
      text: `It no longer answered. A new one continues from ${stepText(step)}, with the same numbers as without the interruption.`,
    }
  if (is_blocked)
    return {
      title: 'The browser no longer offers a GPU',
      text: `Browsers block the GPU for a while when it crashes again and again. The run waits at ${stepText(step)}. Wait a minute, then press Continue. If that does not help, restart the browser: this page then offers to continue the run.`,
    }
  if (is_waiting)
    return {
      title: 'The GPU was lost again',
      text: `The run waits at ${stepText(step)}. Close other programs that use the GPU, then press Continue: it continues in shorter submissions, which suit a slow or busy GPU better.`,
    }
  return {
    title: 'The GPU was lost, and the run continues',
    text: `The driver was reset, the GPU process crashed, or the machine slept. The run went back to ${stepText(step)} and repeats the steps after it, with the same numbers as without the interruption.`,
  }
}

/** Where a run waits whose numbers broke. */
export const guardText = ({ step, broken }: NonNullable<LabState['guarded']>): string =>
  `${brokenHead(broken)} The run waits at ${stepText(step)}, its last sound state. Steps that are too large are the usual cause: continue with a lower learning rate, or change a setting and press Continue. If it breaks there again, continue from an older checkpoint, under Runs.`

/** Why a run is not kept, or not as it should be. */
export function problemText({ code, message }: CheckpointProblem): NoticeText {
  const texts: Readonly<Record<CheckpointProblem['code'], NoticeText>> = {
    full: {
      title: 'There is no room for checkpoints',
      text: 'The browser’s storage for this page is full, so the run continues without being kept. Download its newest state to be safe, or delete runs and checkpoints under Runs.',
    },
    unavailable: {
      title: 'This run is kept in memory only',
      text: `The browser gives this page no file storage (${message}), as some do in private windows. A lost GPU does no harm, but the run is lost when the page is closed: download a checkpoint to keep it.`,
    },
    read_only: {
      title: 'Another tab writes the checkpoints of this run',
      text: 'The run continues here without being kept. Close the other tab, or download the newest state.',
    },
    corrupt: {
      title: 'A checkpoint could not be used',
      text: `The page tries an older one. ${message}`,
    },
    other: {
      title: 'The run could not be kept',
      text: `It continues all the same. The browser says: ${message}`,
    },
  }
  return texts[code]
}

const UNITS = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const

/** '2 minutes ago'; 'just now' within one. */
export function agoText(at: number, now: number): string {
  const seconds = (now - at) / 1000
  const [unit, size] = UNITS.find(([, length]) => seconds >= length) ?? []
  if (!unit || !size) return 'just now'
  const relative = new Intl.RelativeTimeFormat(locale(), { numeric: 'always' })
  return relative.format(-Math.floor(seconds / size), unit)
}
