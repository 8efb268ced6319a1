// Adds to what an export says the options that do it: the sentences are those of the page, too.
import { SAY_WHICH } from '../../jobs/settings/phase_choice.ts'
import { EXPORT_FOR, TARGETS } from '../../jobs/settings/setting.ts'

const OPTIONS: readonly (readonly [said: string, option: string])[] = [
  ...TARGETS.map((target) => [EXPORT_FOR[target], `--to ${target}`] as const),
  [SAY_WHICH, '--phase N'],
  ['train it first', 'lab train … --save DIR'],
  ['export a checkpoint of the run', '--weights DIR'],
]

export const withOptions = (text: string): string =>
  OPTIONS.reduce((words, [said, option]) => words.replaceAll(said, `${said} (${option})`), text)
