// Says in a sentence what one group of responses shows: how many are right, and where the update
// pushes them.
import { cutText } from '../../../formats/cut_text.ts'
import { shownText } from '../../../host/protocol/token_text.ts'
import { verdictOf } from '../../../host/protocol/verdict.ts'
import { formatNumber } from '../../kit/format.ts'
import { mean } from '../../kit/mean.ts'
import type { Bundle, Inspected } from '../base/inspect.ts'

/** Letters of a prompt: a story's would fill the screen. */
const PROMPT = 24

const isRight = ({ isTaskScore, score }: Inspected): boolean =>
  isTaskScore && verdictOf(score) === 'right'

/** A score that is no verdict is said by its ends. */
function scoresSay({ prompt, responses }: Bundle): string {
  const who =
    prompt === undefined ? 'answers' : `answers to “${cutText(shownText(prompt), PROMPT)}”`
  const scores = responses.map(({ score }) => score)
  const [least, most] = [Math.min(...scores), Math.max(...scores)].map((one) => formatNumber(one))
  const isVerdict = responses.every(
    ({ isTaskScore, score }) => isTaskScore && verdictOf(score) !== 'partly',
  )
  if (!isVerdict)
    return least === most
      ? `All ${scores.length} ${who} score ${least}`
      : `${scores.length} ${who} score from ${least} to ${most}`
  const right = responses.filter(isRight).length
  return `${right} of ${scores.length} ${who} ${right === 1 ? 'is' : 'are'} right`
}

/** What the advantages do; undefined where they are not known. */
function pushSays(responses: readonly Inspected[]): string | undefined {
  if (responses.some(({ advantage }) => advantage === undefined)) return undefined
  const of = (sign: 1 | -1) => responses.filter(({ advantage = 0 }) => sign * advantage > 0)
  const by = (pushed: readonly Inspected[]) =>
    formatNumber(Math.abs(mean(pushed.map(({ advantage = 0 }) => advantage))))
  const [up, down] = [of(1), of(-1)]
  if (up.length + down.length === 0) return 'none is pushed up or down'
  if (down.length === 0) return `${up.length} pushed up by ${by(up)} on average`
  if (up.length === 0) return `${down.length} pushed down by ${by(down)} on average`
  const isSplit =
    up.length + down.length === responses.length && up.every(isRight) && !down.some(isRight)
  return isSplit
    ? `${up.length === 1 ? 'it is' : 'they are'} pushed up by ${by(up)}, the others down by ${by(down)}`
    : `${up.length} pushed up by ${by(up)} on average, ${down.length} down by ${by(down)}`
}

/** '' where there is no group. */
export function groupSays(bundle: Bundle | undefined): string {
  if (!bundle) return ''
  const push = pushSays(bundle.responses)
  return push === undefined ? `${scoresSay(bundle)}.` : `${scoresSay(bundle)}; ${push}.`
}
