// How long Train will take, in words: as earlier runs on this adapter say, or that nobody knows yet.
import { useMemo } from 'react'
import { useStore } from 'zustand'
import type { Experiment } from '../../lab/experiment/schema.ts'
import { pacesStore } from '../../lab/page/paces/kept_paces.ts'
import { estimateOf, type RunPaces } from '../../lab/page/paces/paces.ts'
import type { LabState } from '../../lab/page/store.ts'
import { adapterName } from '../../lab/protocol/card.ts'
import { formatDuration } from '../base/format.ts'
import { useLab } from '../base/run.ts'

const selectRuns = ({ runs }: { readonly runs: readonly RunPaces[] }) => runs
const selectAdapter = ({ adapter }: LabState) => adapter

/** 'about 50 s'; undefined where no run of these settings was timed on this adapter. */
export function useEstimate(experiment: Experiment): string | undefined {
  const runs = useStore(pacesStore, selectRuns)
  const adapter = useLab(selectAdapter)
  return useMemo(() => {
    const known = adapter && estimateOf(runs, adapterName(adapter), experiment)
    return known && `about ${formatDuration(known.seconds)}`
  }, [runs, adapter, experiment])
}
