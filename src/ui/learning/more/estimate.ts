// Says in words how long Train will take: as earlier runs on this adapter say, or as a probe of it
// lets one expect.
import { useMemo } from 'react'
import { useStore } from 'zustand'
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import { type Estimate, type Estimator, estimatorStore } from '../../../page/paces/estimator.ts'
import type { LabState } from '../../../page/state/store.ts'
import { formatDuration } from '../../kit/format.ts'
import { useLab } from '../../shown/run.ts'

const selectEstimate = ({ estimate }: { readonly estimate: Estimator }) => estimate
const selectAdapter = ({ adapter }: LabState) => adapter

interface EstimateWords {
  /** 'about 50 s'. */
  readonly words: string
  /** By runs of these settings; else it is worked out from other numbers. */
  readonly isMeasured: boolean
}

/** Undefined where nothing is known of this adapter. */
export function useEstimate(experiment: Experiment): EstimateWords | undefined {
  const estimate = useStore(estimatorStore, selectEstimate)
  const adapter = useLab(selectAdapter)
  return useMemo(() => {
    const found = adapter && estimate(adapter, experiment)
    if (!found) return undefined
    return { words: estimateWords(found), isMeasured: found.isMeasured }
  }, [estimate, adapter, experiment])
}

/** 'about 50 s'. */
export const estimateWords = (estimate: Estimate): string => `about ${estimateDuration(estimate)}`

/** '50 s'. */
export const estimateDuration = ({ seconds, isMeasured }: Estimate): string =>
  isMeasured ? formatDuration(Math.max(1, seconds)) : roughDuration(seconds)

/** One digit: more would promise what an estimate cannot hold. */
function roughDuration(seconds: number): string {
  const [unit, name] = seconds < 55 ? [1, 's'] : seconds < 3300 ? [60, 'min'] : [3600, 'h']
  return `${Math.max(1, Number((seconds / unit).toPrecision(1)))} ${name}`
}
