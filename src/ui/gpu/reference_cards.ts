// Lists what this project measured on other machines, to compare a benchmark card with. The home of
// the numbers is bench/results/: reference_cards.test.ts computes them from there.
import type { BenchmarkNumbers } from '../../host/protocol/results.ts'

export interface ReferenceCard {
  readonly machine: string
  /** YYYY-MM-DD. */
  readonly date: string
  /** Those of a card that were measured there. */
  readonly numbers: Partial<BenchmarkNumbers>
}

export const REFERENCE_CARDS: readonly ReferenceCard[] = [
  {
    machine: 'NVIDIA H100, Node on Vulkan',
    date: '2026-11-28',
    numbers: {
      peak_gflops: 56110,
      peak_gbps: 2804,
      matmul_256_gflops: 2356,
      matmul_512_gflops: 10990,
    },
  },
  {
    machine: 'SwiftShader, two cores of an AMD EPYC, Chromium',
    date: '2026-11-24',
    numbers: { matmul_256_gflops: 4.119, matmul_512_gflops: 3.967 },
  },
]
