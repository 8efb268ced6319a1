// Finds the one peak that every share of the tab is of: the most that was measured on this adapter.
import { useMemo } from 'react'
import type { BenchmarkNumbers } from '../../host/protocol/results.ts'
import type { LabState } from '../../page/state/store.ts'
import type { StepProfile } from '../../record/run/run_parts.ts'
import { formatNumber } from '../kit/format.ts'
import { useLab } from '../shown/run.ts'
import { kernelRates, peakOf } from './profile.ts'

type What = 'the benchmark' | 'the probe' | 'a kernel of this step'

interface Most {
  /** 10⁹ per second. */
  readonly value: number
  /** What was measured. */
  readonly what: What
}

/** Both above 0. */
export interface AdapterPeak {
  readonly gflops: Most
  readonly gbps: Most
}

/** The most of what was measured; undefined where no probe measured either, as kernels alone are
 * no peak. */
export function adapterPeak(
  benchmark: BenchmarkNumbers | undefined,
  step: StepProfile | undefined,
): AdapterPeak | undefined {
  const probed = step?.peak
  const rows = step ? [...step.profile.kernels, ...step.profile.stages].map(kernelRates) : []
  const most = (ofBenchmark: number, ofProbe: number, key: 'gflops' | 'gbps') => {
    const all: readonly Most[] = [
      { value: ofBenchmark, what: 'the benchmark' },
      { value: ofProbe, what: 'the probe' },
      ...rows.map((rates) => ({
        value: rates[key] ?? 0,
        what: 'a kernel of this step' as const,
      })),
    ]
    if (Math.max(ofBenchmark, ofProbe) <= 0) return undefined
    return all.reduce((a, b) => (b.value > a.value ? b : a))
  }
  const gflops = most(benchmark ? peakOf(benchmark) : 0, probed?.gflops ?? 0, 'gflops')
  const gbps = most(benchmark?.peak_gbps ?? 0, probed?.gbps ?? 0, 'gbps')
  return gflops && gbps ? { gflops, gbps } : undefined
}

/** What the shares of a profile are of, as a sentence. */
export const peakWords = ({ gflops, gbps }: AdapterPeak): string =>
  `Shares are of the most measured on this adapter: ${formatNumber(gflops.value)} GFLOP/s (${gflops.what}) and ${formatNumber(gbps.value)} GB/s (${gbps.what}).`

const selectBenchmark = (state: LabState) => state.benchmark
const selectProfile = (state: LabState) => state.profile

export function useAdapterPeak(): AdapterPeak | undefined {
  const benchmark = useLab(selectBenchmark)
  const profile = useLab(selectProfile)
  return useMemo(
    () => adapterPeak(benchmark.status === 'done' ? benchmark.numbers : undefined, profile),
    [benchmark, profile],
  )
}
