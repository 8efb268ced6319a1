// Says in a sentence what the responses of a step can teach.
import { formatCount, formatNumber } from '../../kit/format.ts'
import { groupsOf, type Inspected, isInformative } from '../base/inspect.ts'

/** What the prompts say: undefined where each has one response. */
function groupsSay(responses: readonly Inspected[]): string | undefined {
  const groups = groupsOf(responses)
  if (groups.every(({ length }) => length === 1)) return undefined
  const told = groups.filter(isInformative).length
  return told === 0
    ? `None of ${formatCount(groups.length)} prompts has responses that score differently`
    : `${formatCount(told)} of ${formatCount(groups.length)} prompts ${told === 1 ? 'has' : 'have'} responses that score differently`
}

const signed = (value: number): string => `${value > 0 ? '+' : '−'}${formatNumber(Math.abs(value))}`

/** How many tokens the update pulls at; undefined where the step was not traced. */
function tokensSay(responses: readonly Inspected[]): string | undefined {
  const all = responses.flatMap(({ traced }) => traced?.columns.advantages ?? [])
  const known = all.filter(Number.isFinite)
  if (known.length === 0) return undefined
  const pulled = known.filter((value) => value !== 0)
  if (pulled.length === 0) return `the advantage of all ${formatCount(known.length)} tokens is 0`
  const [least, most] = [Math.min, Math.max].map((end) =>
    signed(pulled.reduce((a, b) => end(a, b))),
  )
  const range = least === most ? least : `from ${least} to ${most}`
  return `${formatCount(pulled.length)} of ${formatCount(known.length)} tokens have an advantage other than 0: ${range}`
}

/** '' where nothing is known of the step but its texts. */
export function inspectedSays(responses: readonly Inspected[]): string {
  const parts = [groupsSay(responses), tokensSay(responses)].filter((one) => one !== undefined)
  if (parts.length === 0) return ''
  const said = parts.join('; ')
  return `${said.charAt(0).toUpperCase()}${said.slice(1)}.`
}
