// Declares inner layers that learn beside the policy of a phase of reinforcement.
import type { Readout } from '../../model/layout/readout.ts'
import { number, select, type Tree, text } from '../fields/field.ts'
import { layerList, layersOf } from './layer_list.ts'

/** What an inner layer's policy learns: what the final policy of the same pass says of every
 * token, or what the phase itself does. */
export type InnerObjective = 'self_distill' | 'deep_supervision'

/** What a token's divergence counts: the same everywhere, its advantage, or that one's sign. */
export const TOKEN_WEIGHTS = ['one', 'advantage', 'sign'] as const
export type TokenWeight = (typeof TOKEN_WEIGHTS)[number]

export interface Inner {
  /** Whole numbers with commas; null = none. */
  readonly layers: string | null
  readonly objective: InnerObjective
  /** What each counts beside the phase's own loss, with commas, or one number for all. */
  readonly weights: string
  readonly readout: Readout
  /** Of self-distillation: the divergence (distillation.ts), and what a token counts in it. */
  readonly beta: number
  readonly token_weight: TokenWeight
}

const NUMBERS = /^\s*\d+(\.\d+)?\s*(,\s*\d+(\.\d+)?\s*)*$/

/** The numbers of `weights`. */
export const innerWeights = ({ weights }: Pick<Inner, 'weights'>): number[] =>
  weights.split(',').map(Number)

/** An inner policy that learns beside another. */
export interface InnerStudent {
  readonly layer: number
  readonly weight: number
  readonly readout: Readout
}

/** The policies that learn along, in the order of the list; none without a list. */
export function innerStudents(inner: Inner | undefined): readonly InnerStudent[] {
  if (!inner) return []
  const weights = innerWeights(inner)
  const { readout } = inner
  return layersOf(inner.layers).map((layer, i) => ({
    layer,
    readout,
    weight: weights[weights.length === 1 ? 0 : i],
  }))
}

/** Whether inner layers learn by the phase's own objective, so that each has an old policy. */
export const isDeeplySupervised = (inner: Inner | undefined): boolean =>
  inner?.objective === 'deep_supervision' && innerStudents(inner).length > 0

/** Whether the final policy of the same pass teaches inner layers. */
export const distillsItself = (inner: Inner | undefined): boolean =>
  inner?.objective === 'self_distill' && innerStudents(inner).length > 0

/** The `actor.inner` section. */
export const INNER: Tree<Inner> = {
  layers: layerList({
    label: 'Layers that learn along',
    help: 'Inner layers whose policies learn beside the trained one, counted from 1, with commas (1,2); none = that one alone.',
  }),
  objective: select(
    {
      label: 'What they learn',
      help: 'Whether the final policy teaches them (self-distillation, OISD), or the same rewards do (deep supervision).',
    },
    { self_distill: 'what the final layer says', deep_supervision: 'the same objective' },
  ),
  weights: text(
    {
      label: 'Their weight',
      help: 'Weight of their losses: one number for all, or one for each with commas (0.1,0.5).',
      default: '0.1',
      max: 60,
    },
    { holds: (list) => NUMBERS.test(list), expected: 'numbers of at least 0, with commas' },
  ),
  readout: select(
    {
      label: 'Their read-out',
      help: 'Whether their policies are read as they are, or through the final norm, which then is trained too. A lens before the norm is fitted at the phase’s first step.',
    },
    {
      raw: 'raw',
      normed: 'through the final norm',
      tuned: 'tuned lens',
      jacobian: 'Jacobian lens',
    },
  ),
  beta: number({
    label: 'Their divergence',
    help: '0 = forward KL, 1 = reverse KL, between them the generalized Jensen–Shannon divergence.',
    default: 0.5,
    min: 0,
    max: 1,
    step: 0.05,
  }),
  token_weight: select(
    {
      label: 'What a token counts',
      help: 'Whether every token counts alike, or by its advantage.',
    },
    { one: 'all alike', advantage: 'its advantage', sign: 'the sign of its advantage' },
  ),
}
