// Says in words how long the runs of a study that is being written take.
import { useMemo } from 'react'
import { useStore } from 'zustand'
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import { estimatorStore, inAll } from '../../../page/paces/estimator.ts'
import { estimateWords } from '../../learning/more/estimate.ts'
import { useLab } from '../../shown/run.ts'

/** What `runs` runs take, evenly of these experiments: 'about 5 min'. Undefined where nothing is
 * known of one of them. */
export function useEstimateOfRuns(
  experiments: readonly Experiment[],
  runs: number,
): string | undefined {
  const estimate = useStore(estimatorStore, (store) => store.estimate)
  const adapter = useLab((lab) => lab.adapter)
  return useMemo(() => {
    const found = experiments.map((experiment) => adapter && estimate(adapter, experiment))
    const known = found.filter((one) => one !== undefined)
    if (known.length === 0 || known.length < found.length) return undefined
    return estimateWords({
      seconds: inAll(known, runs / known.length),
      isMeasured: known.every(({ isMeasured }) => isMeasured),
    })
  }, [estimate, adapter, experiments, runs])
}
