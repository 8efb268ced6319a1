// Says in which study of the lab what a preset shows is compared with other settings, and writes
// the link that opens both.
import { withParts } from './view.ts'

/** The study's id, by the preset's. */
export const COMPARED: Readonly<Record<string, string>> = {
  'two-skills-grpo': 'ppo_lead',
  'two-skills-ppo': 'ppo_lead',
  'rlhf-clicks': 'dpo_or_ppo',
  'dpo-clicks': 'dpo_or_ppo',
  'tiny-teacher': 'teacher',
  'tiny-inner': 'inner',
  'tiny-stale': 'staleness',
}

/** The end of an address that opens a preset and beside it the study where it is compared, such as
 * `?p=tiny-inner#tab=study&study=inner`; undefined where there is none. */
export function comparedLink(presetId: string): string | undefined {
  const study = COMPARED[presetId]
  return study && `?p=${presetId}${withParts('', { tab: 'study', study })}`
}
