// Finds what each part of an opened model does for one text: switches it off and reads the text
// again.
import { freeing } from '../../kernels/device/freeing.ts'
import type { Gpu } from '../../kernels/device/gpu.ts'
import { recordInternals } from '../../model/internals/internals.ts'
import {
  createInternals,
  readInternals,
  uploadInternals,
} from '../../model/internals/internals_tensors.ts'
import {
  type Change,
  createInterventions,
  writeInterventions,
} from '../../model/interventions/intervention_tensors.ts'
import { offChange, type Part, partsOf } from '../../model/interventions/parts.ts'
import type { Model } from '../../model/transformer/model.ts'
import { createWorkspace } from '../../model/transformer/workspace.ts'
import { type Estimate, pairedDifference } from '../math/estimate.ts'
import { mean } from '../math/stats.ts'

const QUANTITIES = ['ent_layer_raw', 'ent_layer_norm', 'logp_next_layer_norm'] as const

/** Differences from the untouched model, paired by token. */
export type TextPart = Part & {
  /** Of a token of the text, nats. */
  readonly log_prob: Estimate
  /** Of the policy of each layer, 0 to L; nats. */
  readonly entropies: readonly Estimate[]
}

export interface TextParts {
  /** That have a token before them. */
  readonly tokens: number
  readonly untouched: { readonly log_prob: number; readonly entropies: readonly number[] }
  readonly parts: readonly TextPart[]
}

/** By token of the text. */
interface Read {
  readonly log_probs: readonly number[]
  /** [L+1] */
  readonly entropies: readonly (readonly number[])[]
}

/** Room for one text of n tokens, and what reads it with a change. */
async function reader(gpu: Gpu, given: Model, ids: readonly number[]) {
  const { shape } = given
  const n = ids.length
  const { alloc, free } = freeing(gpu)
  const size = { rows: 1, width: n, response_length: 0, trains: false }
  const ws = createWorkspace(alloc, shape, size)
  const internals = createInternals(alloc, shape, ws, { quantities: QUANTITIES, positions: 'all' })
  const room = { changes: 1, values: shape.hidden_size, tokens: n }
  const interventions = createInterventions(alloc, shape, room)
  const model = { ...given, interventions }
  const program = await gpu.record('opened_parts', [], (r) => recordInternals(r, model, internals))
  uploadInternals(gpu, internals, {
    input_ids: Uint32Array.from(ids),
    attention_mask: new Uint32Array(n).fill(1),
    position_ids: Uint32Array.from(ids, (_, i) => i),
    response_ids: new Uint32Array(),
    response_mask: new Float32Array(),
  })
  const last = shape.num_hidden_layers
  const read = async (changes: readonly Change[]): Promise<Read> => {
    writeInterventions(gpu, interventions, shape, changes)
    gpu.replay(program)
    const { values } = await readInternals(gpu, internals)
    const at = (of: Float32Array, l: number) => Array.from(of.subarray(l * n, (l + 1) * n))
    return {
      log_probs: at(values.logp_next_layer_norm, last).slice(0, -1),
      entropies: Array.from({ length: last + 1 }, (_, l) =>
        at(l === last ? values.ent_layer_norm : values.ent_layer_raw, l),
      ),
    }
  }
  return { read, free }
}

/** Throws RangeError for a text of one token, which predicts none, and where the signal ends it. */
export async function textParts(
  gpu: Gpu,
  model: Model,
  ids: readonly number[],
  signal?: AbortSignal,
): Promise<TextParts> {
  if (ids.length < 2)
    throw new RangeError(
      `Expected a text of at least 2 tokens to switch parts off for, found ${ids.length}.`,
    )
  const { read, free } = await reader(gpu, model, ids)
  try {
    const was = await read([])
    const parts: TextPart[] = []
    for (const part of partsOf(model.shape)) {
      signal?.throwIfAborted()
      const is = await read([offChange(part, model.shape)])
      parts.push({
        ...part,
        log_prob: pairedDifference(was.log_probs, is.log_probs),
        entropies: was.entropies.map((own, l) => pairedDifference(own, is.entropies[l])),
      })
    }
    const untouched = { log_prob: mean(was.log_probs), entropies: was.entropies.map(mean) }
    return { tokens: was.log_probs.length, untouched, parts }
  } finally {
    free()
  }
}
