// Moves the seed on from press to press: what is sampled again comes out another way.
import type { WritingSettings } from '../../../../host/protocol/opened_model.ts'

export const LAST_SEED = 2 ** 31 - 1

/** The settings of the next press; nothing changes where nothing is sampled. */
export function afterPress(settings: WritingSettings): WritingSettings {
  const { temperature, seed } = settings
  return temperature === 0 ? settings : { ...settings, seed: seed === LAST_SEED ? 0 : seed + 1 }
}
