// Says what an exchange of parts between two states has found: the curves over k, a sentence, a
// table.
import type { Exchange } from '../../../host/protocol/touch.ts'
import { formatNumber, formatShare } from '../../kit/format.ts'
import type { NumberTable } from '../../plot/files/number_table.ts'
import type { FigureLine } from '../../plot/still/figure_lines.ts'
import { differenceText } from '../../shown/run_words.ts'

type Both = readonly [Exchange, Exchange]

/** Of the two states. */
export type StateNames = readonly [string, string]

/** `step 7`, and `step 9 of “GRPO”` where the second state is of another run. */
export const stateNames = (
  [first, second]: readonly [number, number],
  other: string | undefined,
): StateNames => [`step ${first}`, `step ${second}${other === undefined ? '' : ` of “${other}”`}`]

const UP_TO = /^blocks up to (\d+)$/

/** Accuracy with the blocks up to k taken, from 0: [accuracy, half of its interval]. */
function curveOf({ accuracy, mixtures }: Exchange): readonly (readonly [number, number])[] {
  const taken = mixtures.filter(({ name }) => UP_TO.test(name))
  return [
    [accuracy.host, 0],
    ...taken.map(({ accuracy: found, interval }): [number, number] => [found, interval]),
  ]
}

const cut = (value: number): number => Math.min(1, Math.max(0, value))

/** A line for each way round. */
export function exchangeLines(
  exchanges: Both,
  [first, second]: StateNames,
  looks: readonly { readonly color: string; readonly dash: readonly number[] }[],
): FigureLine[] {
  const names = [`${first}, layers of ${second}`, `${second}, layers of ${first}`]
  return exchanges.map((exchange, i) => {
    const curve = curveOf(exchange)
    return {
      key: `${i}`,
      label: names[i],
      ...looks[i],
      at: curve.map((_, k) => k),
      middle: curve.map(([accuracy]) => accuracy),
      low: curve.map(([accuracy, half]) => cut(accuracy - half)),
      high: curve.map(([accuracy, half]) => cut(accuracy + half)),
      length: curve.length,
    }
  })
}

/** Which block brings most of what the later state knows. */
export function exchangeSays([there]: Both, [first, second]: StateNames): string {
  const { accuracy, problems } = there
  const curve = curveOf(there)
  const steps = curve.slice(1).map(([value], i) => ({ k: i + 1, by: value - curve[i][0] }))
  const most = steps.reduce((a, b) => (b.by > a.by ? b : a))
  const all = curve[curve.length - 1][0]
  const ends = `The state of ${first} answers ${formatShare(accuracy.host)} of ${problems} held-out problems, that of ${second} answers ${formatShare(accuracy.donor)}.`
  if (most.by <= 0)
    return `${ends} No layer of ${second}, taken after those below it, makes ${first} better; with all layers it answers ${formatShare(all)}.`
  return `${ends} Taken from below, layer ${most.k} of ${second} brings the most, ${differenceText(most.by, true)}; with all layers ${first} answers ${formatShare(all)}.`
}

/** A row for each mixture, both ways round. */
export function exchangeTable([there, back]: Both, [first, second]: StateNames): NumberTable {
  const heads = (host: string, donor: string) => [`${host} with it of ${donor}`, 'change', '± 95 %']
  return {
    columns: ['taken', ...heads(first, second), ...heads(second, first)],
    rows: [
      [
        'nothing',
        ...[there, back].flatMap(({ accuracy }) => [formatNumber(accuracy.host), '', '']),
      ],
      ...there.mixtures.map(({ name }, i) => [
        name.replace('_', '-'),
        ...[there, back].flatMap(({ mixtures }) => {
          const { accuracy, change, interval } = mixtures[i]
          return [formatNumber(accuracy), differenceText(change, false), formatNumber(interval)]
        }),
      ]),
    ],
  }
}
