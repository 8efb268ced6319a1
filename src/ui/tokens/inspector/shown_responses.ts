// Chooses the responses that the inspector shows, and finds the entropies of a layer at their
// tokens.
import { useMemo } from 'react'
import type { LensSample } from '../../../host/protocol/observation.ts'
import type { TokenTable } from '../../../host/protocol/results.ts'
import type { KeptOfRun } from '../../../record/run/kept_run.ts'
import { rolloutOf } from '../../learning/grouping.ts'
import { selectIsJudged } from '../../shown/measure/judged.ts'
import { useKept } from '../../shown/rested.ts'
import { shownStore, useAtStep, useShown } from '../../shown/shown.ts'
import { type LayerEntropy, type LayerReadout, tracedEntropy } from '../base/colours.ts'
import { type Inspected, ofSamples, ofTable } from '../base/inspect.ts'
import { type TokensView, useShownTrace, useTokens } from '../base/view.ts'
import { entropyAtToken, textKey } from '../lens/lens.ts'
import { lensItem } from '../lens/store.ts'

const selectNewestOf = (view: TokensView) => view.newestSamplesOf

/** What of a step is shown, and where it comes from. */
export interface Shown {
  readonly step: number
  readonly updates: number | undefined
  readonly name: string
  /** Its phase; undefined where the step was not traced. */
  readonly phase: TokenTable['phase'] | undefined
  readonly responses: readonly Inspected[]
  /** Responses to each draw of a prompt, where the responses do not say it. */
  readonly groupSize: number | undefined
  readonly isTraced: boolean
  /** How its layers were measured; undefined where they were not. */
  readonly layers: TokenTable['layers']
}

/** A sum of several parts is no verdict of the task. */
const judged = (responses: readonly Inspected[], isJudged: boolean): readonly Inspected[] =>
  isJudged ? responses : responses.map((told) => ({ ...told, isTaskScore: false }))

/** The traced step; samples without numbers for single tokens where there is none, or where a
 * person wants the newest. */
export function useShownStep(): {
  readonly shown: Shown | undefined
  readonly newer: number | undefined
  /** The step that was traced, where the newer samples are shown instead. */
  readonly traced: number | undefined
} {
  const kept = useKept()
  const atStep = useAtStep()
  const trace = useShownTrace()
  const isNewestSamples = useTokens(selectNewestOf) === kept
  const isJudged = useShown(selectIsJudged)
  const samples = kept.samples.at(atStep)
  const newer = trace && samples && samples.step > trace.step ? samples.step : undefined
  const isSamples = !trace || (isNewestSamples && newer !== undefined)
  const shown = useMemo((): Shown | undefined => {
    if (!isSamples && trace) {
      const { step, item } = trace
      const { updates, layers, phase } = item
      const { name } = phase
      return {
        step,
        name,
        phase,
        updates,
        layers,
        responses: judged(ofTable(item), isJudged),
        groupSize: undefined,
        isTraced: true,
      }
    }
    if (!samples) return undefined
    const responses = judged(ofSamples(samples.item), isJudged)
    const nothing = { name: '', phase: undefined, updates: undefined, layers: undefined }
    const { step } = samples
    const groupSize = rolloutOf(shownStore.getState(), step)?.n
    return { step, ...nothing, responses, groupSize, isTraced: false }
  }, [isSamples, trace, samples, isJudged])
  return { shown, newer, traced: isSamples ? trace?.step : undefined }
}

/** Entropies of one layer at the tokens of responses: those of their own step, else of what the
 * lens has measured. */
export function layerEntropyOf(
  kept: KeptOfRun,
  { step }: Shown,
  { layer, readout }: { readonly layer: number; readonly readout: LayerReadout },
  atStep: number | undefined,
): LayerEntropy {
  const lenses = new Map<string, ReturnType<typeof lensItem>>()
  const lensFor = (sample: LensSample) => {
    const key = textKey(sample)
    if (!lenses.has(key)) lenses.set(key, lensItem(kept, key, atStep))
    return lenses.get(key)
  }
  return {
    layer,
    readout,
    at: (sample, t, of = layer) => {
      if (sample.layer_entropy) return tracedEntropy(sample, readout, of, t)
      const found = lensFor(sample)
      return found && entropyAtToken(found.lens, readout, of, t)
    },
    stepOf: (sample) => (sample.layer_entropy ? step : lensFor(sample)?.item.step),
  }
}
