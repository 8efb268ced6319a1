import { expect, test } from 'vitest'
import { makeCard } from '../../host/protocol/card.ts'
import { PROFILE } from '../../host/protocol/testing.ts'
import { initialState } from '../../page/state/store.ts'
import { canProfile } from '../open/actions.ts'
import { adapterPeak, peakWords } from './adapter_peak.ts'
import { cardLines, cardText, clockNote, profileLine } from './profile.ts'

const row = { name: 'matmul_nt', calls: 4, time_ms: 2, flops: 6e9, bytes: 1e7 }

test('rates, share of the time and share of the nearer peak', () => {
  // 6e9 operations in 2 ms are 3,000 GFLOP/s; 1e7 bytes are 5 GB/s.
  expect(profileLine(row, 8, { gflops: 12_000, gbps: 100 })).toEqual({
    name: 'matmul_nt',
    calls: 4,
    time_ms: 2,
    share: 0.25,
    gflops: 3000,
    gbps: 5,
    ofPeak: { share: 0.25, limit: 'compute' },
  })
  const copying = { ...row, flops: 0, bytes: 1e8 }
  expect(profileLine(copying, 8, { gflops: 12_000, gbps: 100 }).ofPeak).toEqual({
    share: 0.5,
    limit: 'memory',
  })
})

test('no share of the peak exceeds 1: what reached more than the probe is the peak', () => {
  const profile = { ...PROFILE, kernels: [row, { ...row, time_ms: undefined }] }
  const step = { step: 1, profile, peak: { gflops: 2000, gbps: 90 } }
  const rates = { peak_gflops: 100, peak_gbps: 100, matmul_256_gflops: 136, matmul_512_gflops: 68 }
  const speeds = { sft_steps_per_second: 1, rl_steps_per_second: 1, rollout_tokens_per_second: 1 }
  const reached = adapterPeak({ ...rates, ...speeds }, step)
  expect(reached && peakWords(reached)).toBe(
    'Shares are of the most measured on this adapter: 3,000 GFLOP/s (a kernel of this step) and 100 GB/s (the benchmark).',
  )
  expect(profileLine(row, 8, { gflops: 3000, gbps: 100 }).ofPeak).toEqual({
    share: 1,
    limit: 'compute',
  })
  expect(adapterPeak({ ...rates, ...speeds }, undefined)?.gflops.value).toBe(136)
  expect(adapterPeak(undefined, { ...step, peak: { gflops: 0, gbps: 0 } })).toBeUndefined()
  expect(adapterPeak(undefined, undefined)).toBeUndefined()
  const lines = cardLines(makeCard('A GPU', 'A browser', { ...rates, ...speeds }))
  expect(lines.filter(([label]) => label.startsWith('Matrix')).map(([, value]) => value)).toEqual([
    '136 GFLOP/s, 100.0\u00a0% of peak',
    '68 GFLOP/s, 50.0\u00a0% of peak',
  ])
})

test('what was not measured is absent, not zero', () => {
  const unknown = { gflops: undefined, gbps: undefined, ofPeak: undefined }
  expect(profileLine({ ...row, time_ms: undefined }, 8, undefined)).toMatchObject({
    ...unknown,
    share: undefined,
  })
  // Shorter than the clock's step, or without a declared cost.
  expect(profileLine({ ...row, time_ms: 0 }, 8, undefined)).toMatchObject({ ...unknown, share: 0 })
  const uncosted = { ...row, flops: undefined, bytes: undefined }
  expect(profileLine(uncosted, 8, { gflops: 1, gbps: 1 })).toMatchObject(unknown)
  expect(profileLine(row, 8, { gflops: 0, gbps: 0 }).ofPeak).toBeUndefined()
  expect(profileLine(row, 0, undefined).share).toBeUndefined()
})

test('the clock’s step is shown where it matters', () => {
  const profile = { kernels: [], stages: [], dispatches: 0, time_ms: 0 }
  const note = (source: 'timestamps' | 'wall', resolutionNs?: number) =>
    clockNote({ ...profile, source, resolutionNs })
  expect(note('timestamps', 65_536)).toContain('steps of 65.5 µs')
  expect(note('timestamps', 1)).toBe('Times come from the GPU’s own clock.')
  expect(note('wall')).toContain('does not show the GPU’s clock')
})

test('a card reads as text, with shares of peak', () => {
  const card = makeCard('A GPU', 'Chrome 142', {
    peak_gflops: 1000,
    peak_gbps: 100,
    matmul_256_gflops: 125,
    matmul_512_gflops: 500,
    sft_steps_per_second: 12.5,
    rl_steps_per_second: 0.5,
    rollout_tokens_per_second: 12345,
  })
  const text = cardText(card, 'https://x.example/#card=1')
  expect(text.split('\n')).toEqual([
    'Understory on A GPU, Chrome 142',
    'Peak, multiply-adds: 1,000 GFLOP/s',
    'Peak, copying: 100 GB/s',
    'Matrix product, 256: 125 GFLOP/s, 12.5\u00a0% of peak',
    'Matrix product, 512: 500 GFLOP/s, 50.0\u00a0% of peak',
    'Warm start, tiny: 12.5 steps/s',
    'Reinforcement, tiny: 0.5 steps/s',
    'Sampling, tiny: 12,350 tokens/s',
    'https://x.example/#card=1',
  ])
  // A peak that could not be probed gives no share.
  expect(cardLines({ ...card, peak_gflops: 0 })[2][1]).toBe('125 GFLOP/s')
})

test('a step can be measured in a run or by beginning one, also after another', () => {
  const can = (status: ReturnType<typeof initialState>['status']) =>
    canProfile({ ...initialState(), status })
  const all = ['idle', 'preparing', 'running', 'paused', 'finished', 'failed'] as const
  expect(all.map(can)).toEqual(all.map(() => true))
  expect([can('loading'), can('waiting')]).toEqual([false, false])
  const error = { name: 'GpuError', code: 'no_adapter', message: '' } as const
  expect(canProfile({ ...initialState(), status: 'failed', error })).toBe(false)
})
