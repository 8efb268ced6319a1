// Runs "Look now" on a run that is over: which run that is, what the worker finds in one of its
// states, and where that is kept.
import { createStore } from 'zustand/vanilla'
import type { Looked } from '../../host/protocol/look.ts'
import { lookInto, type Where } from '../../page/opened/looking.ts'
import { keepRun } from '../../page/runs/library/library.ts'
import { runOf } from '../../page/runs/library/library_store.ts'
import { labStore } from '../../page/state/store.ts'
import { keepObservation, keepTrace } from '../../record/run/kept_run.ts'
import type { StoredItem } from '../../record/run/record.ts'
import { scrubTo } from '../open/scrub.ts'
import { shownExperiment } from '../shown/run.ts'
import { shownStore, viewStore } from '../shown/shown.ts'
import { onOneBasis } from './one_basis.ts'

/** The look that is under way or was taken last. */
export interface Look {
  readonly record: string
  readonly isBusy: boolean
  /** What is looked at, and then what came of it, in a sentence. */
  readonly words: string
  /** The step whose state was seen, once it was. */
  readonly step: number | undefined
}

export const lookStore = createStore<{ readonly look: Look | undefined }>(() => ({
  look: undefined,
}))

const say = (record: string, isBusy: boolean, words: string, step?: number) =>
  lookStore.setState({ look: { record, isBusy, words, step } })

/** What is looked at now; undefined while nothing is. */
export const selectLooking = ({ look }: { readonly look: Look | undefined }) =>
  look?.isBusy ? look.words : undefined

function lookingWords(where: Where): string {
  if (where === 'beginning') return 'Looking at the state before the first step …'
  return where.step === undefined
    ? 'Looking at the last kept state …'
    : `Looking at the kept state of step ${where.step} …`
}

/** What was seen, in a sentence. */
function lookedWords({ step, observation, next, why_no_tokens }: Looked): string {
  const lines = observation?.refused === undefined ? [] : [observation.refused]
  lines.push(
    next
      ? `Looked at the state after step ${step}. The tokens are those of step ${next.step}, which was taken on a copy.`
      : `Looked at the state after step ${step}. ${why_no_tokens}`.trim(),
  )
  return lines.join(' ')
}

/** Puts what was seen into what the shown run has kept; returns it as parts of its record. */
function keep(run: string, { step, observation, next }: Looked): StoredItem[] {
  const { viewed } = viewStore.getState()
  const state = viewed ?? labStore.getState()
  const { kept } = state
  if (observation) {
    const own = kept.observations.at(step)
    keepObservation(kept, step, onOneBasis(own?.step === step ? own.item : undefined, observation))
  }
  if (next) keepTrace(kept, next.step, next.table)
  const change = { keptVersion: state.keptVersion + 1, ...(next && { trace: next }) }
  if (viewed) viewStore.setState({ viewed: { ...viewed, ...change } })
  else labStore.setState(change)
  const seen = kept.observations.at(step)
  const traced = next && kept.traces.at(next.step)
  return [
    ...(seen?.step === step ? [{ run, kind: 'observations' as const, ...seen }] : []),
    ...(traced ? [{ run, kind: 'traces' as const, ...traced }] : []),
  ]
}

interface How {
  /** The page goes on showing the step that it shows. */
  readonly stays?: boolean
  /** The tokens of the step that follows are not asked for. */
  readonly isStateOnly?: boolean
}

/** Looks into a state of the shown run `record`, keeps what it finds, and shows that step. */
export async function lookNow(record: string, where: Where = {}, how: How = {}): Promise<void> {
  if (lookStore.getState().look?.isBusy) return
  const state = shownStore.getState()
  const { series } = state
  say(record, true, lookingWords(where))
  try {
    const document = state.runDocument ?? shownExperiment(state)
    const looked = await lookInto(record, document, where, how.isStateOnly)
    // Another run may be shown by now.
    if (shownStore.getState().series !== series) return say(record, false, '')
    const items = keep(record, looked)
    if (!how.stays) scrubTo(looked.next?.step ?? looked.step)
    say(record, false, lookedWords(looked), looked.step)
    const header = runOf(record)?.header
    if (header) await keepRun({ header, chunk: undefined, items, dropped: [] })
  } catch (error) {
    say(record, false, error instanceof Error ? error.message : String(error))
  }
}
