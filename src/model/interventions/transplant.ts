// Finds parts of a model that one checkpoint takes from another, by the names of their parameters.
import { ShapeError } from '../../kernels/device/base/errors.ts'
import type { ModelShape } from '../layout/config.ts'
import type { ParamLayout } from '../layout/params.ts'

/** A part: of a block, or of what is outside the blocks. */
export type TransplantPart =
  | 'block'
  | 'attention'
  | 'feed_forward'
  | 'norm'
  | 'embedding'
  | 'lm_head'

const ATTENTION = /^(self_attn\.|input_layernorm\.)/
const FEED_FORWARD = /^(mlp\.|post_attention_layernorm\.)/
const OUTSIDE: Readonly<Record<string, TransplantPart>> = {
  'model.norm.weight': 'norm',
  'model.embed_tokens.weight': 'embedding',
  'lm_head.weight': 'lm_head',
}

/** The part that a parameter belongs to, and its block (from 1); undefined for a parameter of
 * neither. */
function placeOf(name: string): { part: TransplantPart; layer?: number } | undefined {
  const [, block, rest] = /^model\.layers\.(\d+)\.(.*)$/.exec(name) ?? []
  if (block === undefined) return OUTSIDE[name] && { part: OUTSIDE[name] }
  const part = ATTENTION.test(rest) ? 'attention' : FEED_FORWARD.test(rest) ? 'feed_forward' : null
  return part ? { part, layer: Number(block) + 1 } : undefined
}

/** Whether a parameter (Hugging Face's name) belongs to a part. Attention has the norm before it,
 * its q/k norms and biases; the feed-forward has the norm before it; a block is both. `layer` (from
 * 1) is the block's. */
export function isOfPart(name: string, part: TransplantPart, layer?: number): boolean {
  const place = placeOf(name)
  if (!place || place.layer !== layer) return false
  return place.part === part || (part === 'block' && place.layer !== undefined)
}

/** The name that a parameter of block `from` has in block `to`, both from 1. */
export const inBlock = (name: string, from: number, to: number): string =>
  name.replace(`model.layers.${from - 1}.`, `model.layers.${to - 1}.`)

/** A part that a model takes from another, of the same block. */
export interface Taken {
  readonly part: TransplantPart
  /** From 1; of parts of blocks alone. */
  readonly layer?: number
}

/** What decides how parameters of the same shape compute: the same numbers are another model with
 * other heads. */
const COMPUTED = [
  'model_type',
  'num_attention_heads',
  'num_key_value_heads',
  'head_dim',
  'rope_theta',
  'rope_scaling',
  'rms_norm_eps',
] as const

/** Throws ShapeError where two models do not have the same parameters, or do not compute alike with
 * them, naming the first that differs. */
export function requireSameShape(host: ParamLayout, donor: ParamLayout): void {
  const shapes = new Map(donor.params.map(({ name, shape }) => [name, shape]))
  for (const { name, shape } of host.params) {
    const other = shapes.get(name)
    if (other === undefined) throw new ShapeError(`transplant: the other model has no ${name}`)
    if (other.join() !== shape.join())
      throw new ShapeError(
        `transplant: ${name}: expected [${shape}] in both models, got [${other}]`,
      )
    shapes.delete(name)
  }
  const [more] = shapes.keys()
  if (more !== undefined) throw new ShapeError(`transplant: only the other model has ${more}`)
  for (const field of COMPUTED) {
    const [own, other] = [host, donor].map(({ shape }) => JSON.stringify(shape[field] ?? null))
    if (own !== other)
      throw new ShapeError(
        `transplant: ${field}: expected ${own} in both models, got ${other}; parts of one do not compute the same in the other`,
      )
  }
}

/** The host's weights with parts of the donor's; both in this layout. */
export function transplant(
  { params }: ParamLayout,
  host: Float32Array,
  donor: Float32Array,
  taken: readonly Taken[],
): Float32Array {
  const mixed = host.slice()
  for (const { name, offset, size } of params)
    if (taken.some(({ part, layer }) => isOfPart(name, part, layer)))
      mixed.set(donor.subarray(offset, offset + size), offset)
  return mixed
}

/** A mixture of two models under its name. */
export interface Mixture {
  readonly name: string
  readonly taken: readonly Taken[]
}

/** Which mixtures say where two models differ: each block, its attention and its feed-forward
 * alone, the blocks up to k, the final norm, the embedding, an unembedding of its own, and
 * everything. */
export function mixtures({
  num_hidden_layers: L,
  tie_word_embeddings,
}: Pick<ModelShape, 'num_hidden_layers' | 'tie_word_embeddings'>): Mixture[] {
  const layers = Array.from({ length: L }, (_, l) => l + 1)
  const of = (part: TransplantPart, layer?: number): Taken => ({ part, ...(layer && { layer }) })
  const each = (part: 'block' | 'attention' | 'feed_forward') =>
    layers.map((layer) => ({ name: `${part} ${layer}`, taken: [of(part, layer)] }))
  const blocks = (k: number) => layers.slice(0, k).map((layer) => of('block', layer))
  const outside: readonly TransplantPart[] = [
    ...(['norm', 'embedding'] as const),
    ...(tie_word_embeddings ? [] : (['lm_head'] as const)),
  ]
  return [
    ...each('block'),
    ...each('attention'),
    ...each('feed_forward'),
    ...layers.map((k) => ({ name: `blocks up to ${k}`, taken: blocks(k) })),
    ...outside.map((part) => ({ name: part, taken: [of(part)] })),
    { name: 'everything', taken: [...blocks(L), ...outside.map((part) => of(part))] },
  ]
}
