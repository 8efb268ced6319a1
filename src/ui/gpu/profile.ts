// Computes the texts of the profiler's tables and the result card, without React.
import type { ResultCard } from '../../host/protocol/card.ts'
import type { BenchmarkNumbers, Peak, Profile, ProfileRow } from '../../host/protocol/results.ts'
import { formatCount, formatNumber, formatShare } from '../kit/format.ts'

/** One line of a table. Rates in 10⁹ per second; undefined is a dash. */
export interface Line {
  readonly name: string
  readonly calls: number
  readonly time_ms: number | undefined
  /** The share of all GPU time. */
  readonly share: number | undefined
  readonly gflops: number | undefined
  readonly gbps: number | undefined
  /** How much of the adapter's peak was reached, and of which: the larger of the two shares. */
  readonly ofPeak: { readonly share: number; readonly limit: 'compute' | 'memory' } | undefined
}

const rate = (amount: number | undefined, time_ms: number | undefined): number | undefined =>
  amount !== undefined && time_ms !== undefined && time_ms > 0 ? amount / time_ms / 1e6 : undefined

/** What a row reached, 10⁹ per second. A probe is no bound of it: a kernel that keeps more of its
 * data in a cache or in registers is faster. */
export const kernelRates = ({ flops, bytes, time_ms }: ProfileRow) => ({
  gflops: rate(flops, time_ms),
  gbps: rate(bytes, time_ms),
})

/** A row with its rates, against the time of all rows and the adapter's peak. */
export function profileLine(row: ProfileRow, totalMs: number, peak: Peak | undefined): Line {
  const { name, calls, time_ms } = row
  const { gflops, gbps } = kernelRates(row)
  const share = time_ms !== undefined && totalMs > 0 ? time_ms / totalMs : undefined
  return { name, calls, time_ms, share, gflops, gbps, ofPeak: ofPeak(gflops, gbps, peak) }
}

function ofPeak(
  gflops: number | undefined,
  gbps: number | undefined,
  peak: Peak | undefined,
): Line['ofPeak'] {
  if (!peak || gflops === undefined || gbps === undefined) return undefined
  if (!(peak.gflops > 0 && peak.gbps > 0)) return undefined
  const [compute, memory] = [gflops / peak.gflops, gbps / peak.gbps]
  return compute >= memory
    ? { share: compute, limit: 'compute' }
    : { share: memory, limit: 'memory' }
}

/** How the times were taken, and how far they can be trusted. */
export function clockNote({ source, resolutionNs = 0 }: Profile): string {
  if (source === 'wall')
    return 'This browser does not show the GPU’s clock, so stages are timed by when their work was done, and kernels cannot be told apart.'
  if (resolutionNs < 1000) return 'Times come from the GPU’s own clock.'
  const step = `${formatNumber(resolutionNs / 1000)} µs`
  return `Times come from the GPU’s own clock, in steps of ${step}: rows with few, short calls are rough.`
}

const perSecond = (value: number, unit: string) => `${formatNumber(value)} ${unit}/s`

/** A product may be faster than the probe: then it is the peak. 0 where nothing was probed. */
export const peakOf = ({
  peak_gflops,
  matmul_256_gflops,
  matmul_512_gflops,
}: BenchmarkNumbers): number =>
  peak_gflops > 0 ? Math.max(peak_gflops, matmul_256_gflops, matmul_512_gflops) : 0

/** The card as label and value. */
export function cardLines(card: ResultCard): readonly (readonly [string, string])[] {
  const { peak_gbps, matmul_256_gflops, matmul_512_gflops } = card
  const peakGflops = peakOf(card)
  const product = (gflops: number) =>
    perSecond(gflops, 'GFLOP') +
    (peakGflops > 0 ? `, ${formatShare(gflops / peakGflops)} of peak` : '')
  return [
    ['Peak, multiply-adds', perSecond(peakGflops, 'GFLOP')],
    ['Peak, copying', perSecond(peak_gbps, 'GB')],
    ['Matrix product, 256', product(matmul_256_gflops)],
    ['Matrix product, 512', product(matmul_512_gflops)],
    ['Warm start, tiny', perSecond(card.sft_steps_per_second, 'steps')],
    ['Reinforcement, tiny', perSecond(card.rl_steps_per_second, 'steps')],
    ['Sampling, tiny', `${formatCount(card.rollout_tokens_per_second)} tokens/s`],
  ]
}

/** The card as plain text, for a message. */
export function cardText(card: ResultCard, link: string): string {
  const lines = cardLines(card).map(([label, value]) => `${label}: ${value}`)
  return [`Understory on ${card.adapter}, ${card.browser}`, ...lines, link].join('\n')
}
