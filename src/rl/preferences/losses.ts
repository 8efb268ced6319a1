// Lists the preference losses.
import { aot } from './losses/aot.ts'
import { aot_unpaired } from './losses/aot_unpaired.ts'
import { apo_down } from './losses/apo_down.ts'
import { apo_zero } from './losses/apo_zero.ts'
import { apo_zero_unpaired } from './losses/apo_zero_unpaired.ts'
import { bco_pair } from './losses/bco_pair.ts'
import { cpo } from './losses/cpo.ts'
import { cpo_hinge } from './losses/cpo_hinge.ts'
import { cpo_ipo } from './losses/cpo_ipo.ts'
import { discopop } from './losses/discopop.ts'
import { exo_pair } from './losses/exo_pair.ts'
import { hinge } from './losses/hinge.ts'
import { ipo } from './losses/ipo.ts'
import { kto } from './losses/kto.ts'
import { nca_pair } from './losses/nca_pair.ts'
import { orpo } from './losses/orpo.ts'
import type { PreferenceLoss } from './losses/preference_loss.ts'
import { robust } from './losses/robust.ts'
import { sft } from './losses/sft.ts'
import { sigmoid } from './losses/sigmoid.ts'
import { sigmoid_norm } from './losses/sigmoid_norm.ts'
import { simpo } from './losses/simpo.ts'
import { sppo_hard } from './losses/sppo_hard.ts'

/** Every preference loss, in the order of the menu; the first is the default. */
const LOSSES = [
  sigmoid,
  ipo,
  hinge,
  robust,
  sigmoid_norm,
  exo_pair,
  nca_pair,
  bco_pair,
  sppo_hard,
  apo_zero,
  apo_down,
  discopop,
  aot,
  aot_unpaired,
  sft,
  simpo,
  cpo,
  cpo_hinge,
  cpo_ipo,
  orpo,
  kto,
  apo_zero_unpaired,
] as const

/** Of DPOTrainer and KTOTrainer TRL's own names; of CPOTrainer and ORPOTrainer names that tell
 * theirs apart. */
export type PreferenceLossName = (typeof LOSSES)[number]['name']

export const PREFERENCE_LOSSES: readonly PreferenceLoss<PreferenceLossName>[] = LOSSES

const BY_NAME = new Map<string, PreferenceLoss<PreferenceLossName>>(
  PREFERENCE_LOSSES.map((loss) => [loss.name, loss]),
)

/** The loss of this name. Throws RangeError for a name that is none. */
export function preferenceLossOf(name: string): PreferenceLoss<PreferenceLossName> {
  const loss = BY_NAME.get(name)
  if (!loss)
    throw new RangeError(
      `loss_type: expected one of ${[...BY_NAME.keys()].join(', ')}, got ${name}`,
    )
  return loss
}
