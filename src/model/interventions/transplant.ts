// Parts of a model that one checkpoint can take from another, by the names of their parameters.

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

/** The part that a parameter belongs to, and its block (from 1); undefined for a parameter of neither. */
function placeOf(name: string): { part: TransplantPart; layer?: number } | undefined {
  const [, block, rest] = /^model\.layers\.(\d+)\.(.*)$/.exec(name) ?? []
  if (block === undefined) return OUTSIDE[name] && { part: OUTSIDE[name] }
  const part = ATTENTION.test(rest) ? 'attention' : FEED_FORWARD.test(rest) ? 'feed_forward' : null
  return part ? { part, layer: Number(block) + 1 } : undefined
}

/**
 * Whether a parameter (Hugging Face's name) belongs to a part. Attention has the norm before it, its q/k norms and biases; the
 * feed-forward has the norm before it; a block is both. `layer` (from 1) is the block's.
 */
export function isOfPart(name: string, part: TransplantPart, layer?: number): boolean {
  const place = placeOf(name)
  if (!place || place.layer !== layer) return false
  return place.part === part || (part === 'block' && place.layer !== undefined)
}

/** The name that a parameter of block `from` has in block `to`, both from 1. */
export const inBlock = (name: string, from: number, to: number): string =>
  name.replace(`model.layers.${from - 1}.`, `model.layers.${to - 1}.`)
