// Says what a setting is called at the head of a column.
import { placeWords, settingLabel } from '../../../document/experiment/form/setting_words.ts'
import { PRESETS } from '../../../document/presets/presets.ts'

/** Where place and label make no name together. */
const WHOLE: Readonly<Record<string, string>> = {
  'critic.critic_warmup': 'critic alone',
  'critic.optim.muon.adjust_lr_fn': 'critic step length',
  'probe.internals': 'probed entropy changes',
  'probe.freq': 'probe interval',
  'probe.rows': 'probed responses',
  'validation.val_before_train': 'validation before the first step',
}
/** What a setting is called: one that only some experiments have, by the end of its path. */
export function settingName(path: string): string {
  // What a phase is has no field of its own.
  if (/^phases\.\d+\.kind$/.test(path)) return `${placeWords(path)}kind of phase`
  return WHOLE[path] ?? `${placeWords(path)}${settingLabel(PRESETS[0].experiment, path)}`
}
