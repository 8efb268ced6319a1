// Declares the tasks whose problems a shipped model was trained on, so that its answers are judged.
import { shippedModel } from '../../../../host/content/models/shipped.ts'
import type { Judging } from './judged.ts'

/** The problems of bench/pretrained/mixture.ts, which are drawn with this seed. */
const drawn = (...tasks: readonly Judging['task'][]): readonly Judging[] =>
  tasks.map((task) => ({ task, seed: 1 }))

const SMALL = drawn(
  { id: 'sort_digits', length: 3 },
  { id: 'partial_sft_addition' },
  { id: 'gcd', max_value: 30 },
  { id: 'bracket_completion', length: 6 },
)
const TASKS: Readonly<Record<string, readonly Judging[]>> = {
  arithmetic: drawn(
    { id: 'partial_sft_addition' },
    { id: 'chain_sum' },
    { id: 'gcd' },
    { id: 'countdown' },
    { id: 'prime_factorization' },
    { id: 'reverse_digits' },
  ),
  small: SMALL,
  'small-deep': SMALL,
}
const NONE: readonly Judging[] = []

/** Of a model with this hash; none of one that did not come with the page. */
export const shippedTasks = (hash: string): readonly Judging[] =>
  TASKS[shippedModel(hash)?.name ?? ''] ?? NONE
