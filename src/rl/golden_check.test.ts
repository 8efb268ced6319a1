import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import {
  balanceBatch,
  balancedPartitions,
  calculateWorkload,
  dynamicMicroBatches,
} from './balance.ts'
import { attentionResponseMask, positionIds, responseMask } from './batch.ts'
import {
  computeDataMetrics,
  computeThroughputMetrics,
  computeTimingMetrics,
} from './data_metrics.ts'
import { offpolicyMetrics, rolloutIsWeights, rolloutRejectionMask } from './rollout_correction.ts'
import { constantMultiplier, cosineMultiplier, wsdMultiplier } from './schedule.ts'
import { bootstrapIndices, bootstrapSizes, processValidationMetrics } from './validation_metrics.ts'

const load = (n: string) =>
  JSON.parse(readFileSync(`/work/shared/goldens/verl/${n}.json`, 'utf8')).cases as any[]
const flat = (x: any): number[] => (Array.isArray(x) ? x.flat(9) : [x])
let worst: Record<string, number> = {}
function cmp(label: string, a: any, e: any) {
  if (e !== null && typeof e === 'object' && !Array.isArray(e)) {
    expect(
      Object.keys(e).filter((k) => !(k in a)),
      label,
    ).toEqual([])
    const extra = Object.keys(a).filter((k) => !(k in e))
    if (extra.length) worst[label + ' EXTRA ' + extra.join()] = 1
    for (const k of Object.keys(e)) cmp(label + '|' + k, a[k], e[k])
    return
  }
  const A = flat(a),
    E = flat(e)
  expect(A.length, label).toBe(E.length)
  E.forEach((x, i) => {
    const err = Math.abs(A[i] - x) / Math.max(Math.abs(x), 1e-12)
    worst[label] = Math.max(worst[label] ?? 0, err)
  })
}
const pair = (c: any) => ({
  old_log_prob: flat(c.inputs.old_log_prob),
  rollout_log_prob: flat(c.inputs.rollout_log_prob),
  response_mask: flat(c.inputs.response_mask),
  response_length: c.inputs.response_mask[0].length,
})
test('goldens', () => {
  for (const c of load('rollout_is_weights')) {
    const r = rolloutIsWeights(pair(c), c.config)
    cmp('isw', [...r.rollout_is_weights!], c.expected.rollout_is_weights)
    cmp('ism', r.metrics, c.expected.metrics)
  }
  for (const c of load('rollout_rejection_mask')) {
    const r = rolloutRejectionMask(pair(c), c.config)
    expect([...r.response_mask]).toEqual(flat(c.expected.modified_response_mask))
    const { modified_response_mask, ...m } = c.expected
    for (const k in m) cmp('rs|' + k, r.metrics[k], m[k])
  }
  for (const c of load('offpolicy_metrics')) cmp('off', offpolicyMetrics(pair(c)), c.expected)
  for (const c of load('validation_metrics')) {
    const { data_sources, sample_uids, reward, acc, pred } = c.inputs
    cmp(
      'val',
      processValidationMetrics(
        { data_sources, sample_uids, variables: { reward, acc, pred: pred.map(String) } },
        c.config,
      ),
      c.expected.metrics,
    )
    const N = sample_uids.filter((u: string) => u === 'u0').length
    expect(bootstrapSizes(N)).toEqual(c.expected.bootstrap_ns)
    for (const [n, rows] of Object.entries(c.expected.bootstrap_indices_first5_rows_by_subset_size))
      expect([...bootstrapIndices(N, +n, c.config)].slice(0, 5 * +n)).toEqual(flat(rows))
  }
  for (const c of load('data_metrics')) {
    const i = c.inputs
    const b: any = {
      attention_mask: flat(i.attention_mask),
      prompt_length: i.prompt_width,
      response_length: i.response_mask[0].length,
    }
    for (const k of [
      'token_level_scores',
      'token_level_rewards',
      'advantages',
      'returns',
      'values',
      'response_mask',
    ])
      b[k] = flat(i[k])
    cmp('data', computeDataMetrics(b), c.expected.data)
    cmp('time', computeTimingMetrics(b, i.timing_raw), c.expected.timing)
    cmp('thr', computeThroughputMetrics(b, i.timing_raw, i.n_gpus), c.expected.throughput)
  }
  for (const c of load('balance_batch')) {
    const s = c.inputs.seqlens
    expect(s.map(calculateWorkload)).toEqual(c.expected.workload)
    expect(balanceBatch(s, c.config.dp_size).flat()).toEqual(c.expected.balance_batch_order)
    expect(dynamicMicroBatches(s, c.config.max_token_len)).toEqual(c.expected.dynamic_micro_batches)
  }
  for (const c of load('lr_schedule')) {
    const o = {
      ...c.config,
      init_lr_ratio: c.config.init_lr_ratio ?? 0,
      stable_ratio: c.config.wsd_stable_ratio,
    }
    for (const [n, f] of Object.entries({
      constant: constantMultiplier,
      cosine: cosineMultiplier,
      wsd: wsdMultiplier,
    })) {
      const a = c.expected[n].map((_: number, s: number) => (f as any)(s, o))
      a.forEach((x: number, j: number) =>
        expect(Math.abs(x - c.expected[n][j])).toBeLessThan(1e-15),
      )
      cmp('lr|' + n, a, c.expected[n])
    }
  }
  for (const c of load('response_alignment')) {
    const { prompt_length: P, response_length: R, eos_token_id } = c.config
    const am = flat(c.inputs.attention_mask)
    const ids = c.inputs.input_ids.map((r: number[]) => r.slice(P)).flat()
    expect([...responseMask(ids, R, eos_token_id)]).toEqual(flat(c.expected.response_mask_from_eos))
    expect([...responseMask(ids, R, [eos_token_id])]).toEqual(
      flat(c.expected.response_mask_from_eos),
    )
    expect([...attentionResponseMask(am, P + R, R)]).toEqual(
      flat(c.expected.response_mask_from_attention),
    )
    expect([...positionIds(am, P + R)]).toEqual(flat(c.expected.position_ids))
  }
  const top = Object.entries(worst).sort((a, b) => b[1] - a[1])
  console.log(
    top
      .slice(0, 30)
      .map(([k, v]) => k + ' ' + v.toExponential(2))
      .join('\n'),
    top.length,
  )
})
test('random partitions are dumped for python', () => {
  const out = []
  let s = 12345
  const r = (n: number) => {
    s = (Math.imul(s, 1103515245) + 12345) >>> 0
    return Math.floor((s / 2 ** 32) * n)
  }
  for (let t = 0; t < 300; t++) {
    const k = 1 + r(6)
    const n = k * (1 + r(8))
    const v = Array.from({ length: n }, () => 1 + r(t % 2 ? 12 : 200))
    out.push({
      v,
      k,
      eq: balancedPartitions(v, k, { equal_size: true }),
      ne: balancedPartitions(v, k, { equal_size: false }),
      bb: balanceBatch(v, k),
      mx: Math.max(...v) + r(100),
    })
    ;(out.at(-1) as any).dyn = dynamicMicroBatches(v, out.at(-1)!.mx)
  }
  require('node:fs').writeFileSync('/tmp/h/parts.json', JSON.stringify(out))
})
