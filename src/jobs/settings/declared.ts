// Says what becomes of fields whose declaration says it, and of the numbers of losses that no other
// system has.

import { ROOT } from '../../document/experiment/fields/run_fields.ts'
import { hasEffect } from '../../document/experiment/form/conditions.ts'
import { SECTIONS } from '../../document/experiment/schema/document_fields.ts'
import { type FieldInfo, leavesOf } from '../../rl/fields/field.ts'
import { LOSS_NUMBERS, numberPath, POLICY_LOSSES } from '../../rl/losses/losses.ts'
import { BUPO_LOSS_MODES, TRL_LOSS_MODES, VERL_LOSS_MODES } from './known_values.ts'
import { by, type Fate, lost, refused, type Setting, to } from './setting.ts'

const KNOWN_LOSSES: readonly string[] = [...VERL_LOSS_MODES, ...BUPO_LOSS_MODES, ...TRL_LOSS_MODES]

function declared({ elsewhere = {}, default: usual }: FieldInfo, path: string): Setting {
  const fate = (name: string | undefined): Fate => {
    if (name !== undefined) return to(name)
    if (elsewhere.refused !== undefined) return refused(elsewhere.refused, usual)
    return lost(elsewhere.lost ?? 'it has no such setting', usual)
  }
  const when: Setting['when'] = ({ settings }) => hasEffect(path, settings)
  return { when, verl: fate(elsewhere.verl), trl: fate(elsewhere.trl) }
}

/** Where a loss is refused, its numbers are: only losses that a system has need more to be said of
 * theirs. */
const ofUnknownLosses = [...LOSS_NUMBERS.keys()].filter(
  (number) =>
    !POLICY_LOSSES.some(({ name, numbers }) => number in numbers && KNOWN_LOSSES.includes(name)),
)

/** By path. The table of settings.ts comes first. */
export const DECLARED: Readonly<Record<string, Setting>> = Object.fromEntries([
  ...ofUnknownLosses.map((name): [string, Setting] => {
    const told = by('what is said of actor.loss_mode')
    return [numberPath(name), { verl: told, trl: told }]
  }),
  ...[
    ...leavesOf(ROOT),
    ...Object.entries(SECTIONS).flatMap(([path, tree]) => leavesOf(tree, path)),
  ]
    .filter(([, { info }]) => info.elsewhere !== undefined)
    .map(([path, { info }]): [string, Setting] => [path, declared(info, path)]),
])
