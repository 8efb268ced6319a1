// Finds the phases of one experiment in another one, which may have more of them or fewer.
import type { PhaseDocument } from '../fields/phases.ts'
import type { Experiment } from '../schema/schema.ts'
import type { Field } from './form_fields.ts'

/** How much two phases are the same one: 0 for none of the same kind. */
function likeness(a: PhaseDocument, b: PhaseDocument): number {
  if (a.kind !== b.kind) return 0
  const layerOf = (phase: PhaseDocument) => ('target_layer' in phase ? phase.target_layer : '')
  return 1 + Number(layerOf(a) === layerOf(b)) + Number(a.name === b.name)
}

/** For each phase the place of the one among `others` that it is; undefined where it is none of
 * them. Their order stays, and as much as can be is alike. */
export function likePhases(
  phases: readonly PhaseDocument[],
  others: readonly PhaseDocument[],
): readonly (number | undefined)[] {
  // The best of the phases from i on and the others from j on.
  const best = Array.from({ length: phases.length + 1 }, () =>
    Array.from({ length: others.length + 1 }, () => 0),
  )
  for (let i = phases.length - 1; i >= 0; i--)
    for (let j = others.length - 1; j >= 0; j--) {
      const both = likeness(phases[i], others[j])
      best[i][j] = Math.max(best[i + 1][j], best[i][j + 1], both && both + best[i + 1][j + 1])
    }
  let at = 0
  return phases.map((phase, i) => {
    for (let j = at; j < others.length; j++) {
      const both = likeness(phase, others[j])
      if (both === 0 || both + best[i + 1][j + 1] < best[i][at]) continue
      at = j + 1
      return j
    }
    return undefined
  })
}

/** The values of the fields of another experiment, by the paths that they have in this one. */
export function valuesBeside(
  { phases }: Experiment,
  other: Experiment,
  fields: readonly Pick<Field, 'path' | 'value'>[],
): ReadonlyMap<string, Field['value']> {
  const places = likePhases(phases, other.phases)
  return new Map(
    fields.flatMap(({ path, value }) => {
      const [, place, rest] = /^phases\.(\d+)\.(.+)$/.exec(path) ?? []
      if (place === undefined) return [[path, value] as const]
      const own = places.indexOf(Number(place))
      return own < 0 ? [] : [[`phases.${own}.${rest}`, value] as const]
    }),
  )
}
