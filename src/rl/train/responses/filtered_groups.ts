// Does DAPO's dynamic sampling: draws batches until enough groups have any spread, and makes one
// batch of those groups.
import {
  checkFilterGroups,
  chooseGroups,
  filterMetrics,
  informativeGroups,
  needsMore,
} from '../../config/filter_groups.ts'
import { joined, pickRows } from '../../experience/batch.ts'
import { pickTurns } from '../../experience/turns.ts'
import { penalised } from './judge.ts'
import {
  meanEntropy,
  type Sampled,
  type SamplingParts,
  type SamplingRequest,
  sampleBatch,
} from './sampled.ts'

/** Draws batches until enough groups are informative, or no more may be drawn. */
export async function sampleFiltered(
  parts: SamplingParts,
  request: SamplingRequest,
): Promise<Sampled> {
  const { rollout, algorithm } = request.phase
  const { filter_groups } = algorithm
  checkFilterGroups(filter_groups, algorithm.use_kl_in_reward)
  const drawn: Sampled[] = []
  const informative: boolean[][] = []
  do {
    const sampled = await sampleBatch(parts, request, drawn.length)
    drawn.push(sampled)
    informative.push(informativeGroups(await filterValues(parts, request, sampled), rollout.n))
  } while (needsMore(informative, rollout.train_batch_size, filter_groups))
  return chosenGroups(parts, request, drawn, informative)
}

/** What a group's spread is measured on: `acc` is whether a response is right; every other metric
 * is what the phase trains on. */
async function filterValues(
  { judge }: SamplingParts,
  { phase, reward }: SamplingRequest,
  sampled: Sampled,
): Promise<readonly number[]> {
  const { max_response_length } = phase.rollout
  const judged = await judge.judge(sampled.samples, sampled, max_response_length)
  const { batch, scores, is_right } = judged
  const { metric } = phase.algorithm.filter_groups
  if (metric === 'acc') return is_right.map(Number)
  const trained = reward ? Array.from(await reward(batch)) : scores
  const isPlain = reward !== undefined || metric === 'score'
  return isPlain ? trained : penalised(phase, trained, batch)
}

/** One batch of the chosen groups. */
function chosenGroups(
  sampling: SamplingParts,
  { phase }: SamplingRequest,
  drawn: readonly Sampled[],
  informative: readonly (readonly boolean[])[],
): Sampled {
  const { train_batch_size, n, max_response_length: R } = phase.rollout
  const groups = chooseGroups(informative, train_batch_size).map(
    ({ genBatch, group }) => genBatch * train_batch_size + group,
  )
  const rows = groups.flatMap((group) => Array.from({ length: n }, (_, i) => group * n + i))
  const places = drawn.flatMap((sampled) => sampled.places)
  const pick = <T extends Uint32Array | Float32Array>(arrays: readonly T[]): T =>
    pickRows(joined(arrays), rows, R)
  const samples = drawn.flatMap((sampled) => sampled.samples)
  const baselines = drawn.flatMap((sampled) => sampled.baselines ?? [])
  const response_ids = pick(drawn.map((sampled) => sampled.response_ids))
  const logProbs = drawn.flatMap((sampled) => sampled.log_probs ?? [])
  const entropy = pick(drawn.flatMap((sampled) => sampled.entropy ?? []))
  const parts = drawn.flatMap((sampled) => sampled.turns ?? [])
  const turns = parts.length > 0 ? pickTurns(parts, rows, R) : undefined
  return {
    samples: rows.map((row) => samples[row]),
    places: groups.map((group) => places[group]),
    response_ids,
    ...(turns && { turns }),
    ...(logProbs.length > 0 && { log_probs: pick(logProbs) }),
    ...(baselines.length > 0 && { baselines: rows.map((row) => baselines[row]) }),
    metrics: {
      ...filterMetrics(informative),
      'actor/entropy': meanEntropy(sampling, R, { response_ids, ...(turns && { turns }), entropy }),
    },
  }
}
