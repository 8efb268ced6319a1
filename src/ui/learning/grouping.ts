// Puts samples in order for reading.
import type { LabState } from '../../page/state/store.ts'
import { shownPhases } from '../shown/run.ts'

/** How a step sampled: `n` responses to each of `train_batch_size` draws of a prompt; not known of
 * a log. */
export function rolloutOf(state: LabState, step: number) {
  const begun = state.phase_switches.findLast((one) => one.step < step)
  const phase = begun && shownPhases(state)[begun.phase]
  return phase?.kind === 'rl' ? phase.rollout : undefined
}

/** Responses by prompt, both in the order they came; of a prompt that was drawn twice two groups,
 * where it is known how large one is. */
export function groupByPrompt<T extends { readonly prompt: string }>(
  samples: readonly T[],
  size = Number.POSITIVE_INFINITY,
): [string, T[]][] {
  const groups: [string, T[]][] = []
  const growing = new Map<string, T[]>()
  for (const sample of samples) {
    const group = growing.get(sample.prompt)
    if (group && group.length < size) group.push(sample)
    else {
      const begun = [sample]
      growing.set(sample.prompt, begun)
      groups.push([sample.prompt, begun])
    }
  }
  return groups
}
