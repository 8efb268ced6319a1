// Puts samples in order for reading.
import type { LabState } from '../../page/state/store.ts'
import { shownPhases } from '../shown/run.ts'

/** Responses that a step sampled to each draw of a prompt; not known of a log. */
export function responsesOfPrompt(state: LabState, step: number): number | undefined {
  const phases = shownPhases(state)
  const begun = state.phase_switches.findLast((one) => one.step < step)
  const phase = begun && phases[begun.phase]
  return phase?.kind === 'rl' ? phase.rollout.n : undefined
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
