// How long Train will take, in words: as earlier runs on this adapter say, or that nobody knows yet.
import { useMemo } from 'react'
import { useStore } from 'zustand'
import type { Experiment } from '../../lab/experiment/schema.ts'
import { type Estimator, estimatorStore } from '../../lab/page/paces/estimator.ts'
import type { LabState } from '../../lab/page/store.ts'
import { formatDuration } from '../base/format.ts'
import { useLab } from '../base/run.ts'

const selectEstimate = ({ estimate }: { readonly estimate: Estimator }) => estimate
const selectAdapter = ({ adapter }: LabState) => adapter

/** 'about 50 s'; undefined where no run of these settings was timed on this adapter. */
export function useEstimate(experiment: Experiment): string | undefined {
  const estimate = useStore(estimatorStore, selectEstimate)
  const adapter = useLab(selectAdapter)
  return useMemo(() => {
    const seconds = adapter && estimate(adapter, experiment)
    return seconds === undefined ? undefined : `about ${formatDuration(seconds)}`
  }, [estimate, adapter, experiment])
}
