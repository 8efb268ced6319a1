// Says what one group of responses shows: how many are right, and which advantages they got; and
// what its estimator compares.
import { estimatorLabel } from '../../../document/experiment/fields/phase_fields.ts'
import { hasCritic, hasGroups } from '../../../document/experiment/schema/phase_settings.ts'
import { cutText } from '../../../formats/cut_text.ts'
import type { TokenTable } from '../../../host/protocol/results.ts'
import { shownText } from '../../../host/protocol/token_text.ts'
import { verdictOf } from '../../../host/protocol/verdict.ts'
import { formatNumber, formatSigned } from '../../kit/format.ts'
import { mean } from '../../kit/mean.ts'
import type { Bundle, Inspected } from '../base/inspect.ts'

/** Letters of a prompt: a story's would fill the screen. */
const PROMPT = 24

const isRight = ({ isTaskScore, score }: Inspected): boolean =>
  isTaskScore && verdictOf(score) === 'right'

/** A score that is no verdict is said by its ends. */
function scoresSay({ prompt, whole: responses }: Bundle): string {
  const count = responses.length
  const who =
    prompt === undefined
      ? `${count} answers`
      : `${count} answers to “${cutText(shownText(prompt), PROMPT)}”`
  const scores = responses.map(({ score }) => score)
  const [least, most] = [Math.min(...scores), Math.max(...scores)].map((one) => formatNumber(one))
  const isVerdict = responses.every(
    ({ isTaskScore, score }) => isTaskScore && verdictOf(score) !== 'partly',
  )
  if (!isVerdict)
    return least === most ? `All ${who} score ${least}.` : `${who} score from ${least} to ${most}.`
  const right = responses.filter(isRight).length
  return `${right} of ${who} ${right === 1 ? 'is' : 'are'} right.`
}

/** A mean advantage of responses, and whether they differ in it. */
function advantageOf(responses: readonly Inspected[]) {
  const all = responses.map(({ advantage = 0 }) => advantage)
  const differ = all.some((one) => formatSigned(one) !== formatSigned(all[0]))
  return { mean: formatSigned(mean(all)), differ }
}

const isAlike = (responses: readonly Inspected[]): boolean =>
  responses.every(({ score }) => score === responses[0].score)

/** Which advantages they got; undefined where they are not known. */
function advantagesSay(responses: readonly Inspected[]): string | undefined {
  if (responses.some(({ advantage }) => advantage === undefined)) return undefined
  const right = responses.filter(isRight)
  const isSplit =
    right.length > 0 &&
    right.length < responses.length &&
    responses.every(({ isTaskScore, score }) => isTaskScore && verdictOf(score) !== 'partly')
  if (!isSplit) {
    const { mean: all, differ } = advantageOf(responses)
    if (responses.length > 1 && !differ && all === '0' && isAlike(responses))
      return 'All scored alike, so this step learns nothing from their scores.'
    if (!differ)
      return responses.length === 1 ? `Its advantage is ${all}.` : `Each got advantage ${all}.`
    const each = responses.map(({ advantage = 0 }) => advantage)
    const [least, most] = [Math.min(...each), Math.max(...each)]
    return `Their advantages go from ${formatSigned(least)} to ${formatSigned(most)}.`
  }
  const wrong = responses.filter((told) => !isRight(told))
  const [up, down] = [advantageOf(right), advantageOf(wrong)]
  if (up.differ || down.differ)
    return `Mean advantage: ${up.mean} of the right answers, ${down.mean} of the wrong ones.`
  if (right.length === 1)
    return wrong.length === 1
      ? `The right answer got advantage ${up.mean}, the wrong one ${down.mean}.`
      : `The right answer got advantage ${up.mean}, the wrong ones ${down.mean}.`
  return wrong.length === 1
    ? `The right answers got advantage ${up.mean}, the wrong one ${down.mean}.`
    : `The right answers got advantage ${up.mean}, the wrong ones ${down.mean}.`
}

/** '' where there is no group. */
export function groupSays(bundle: Bundle | undefined): string {
  if (!bundle) return ''
  const advantages = advantagesSay(bundle.whole)
  return [scoresSay(bundle), advantages].filter(Boolean).join(' ')
}

/** What a response is compared with: equal scores in a group teach something or not. */
export function comparisonSays(phase: TokenTable['phase']): string {
  const name = estimatorLabel(phase.adv_estimator)
  if (hasGroups(phase)) return `${name} compares the responses to one prompt with each other.`
  if (hasCritic(phase))
    return `${name} compares each response with what the critic expected, not with the others to its prompt.`
  return phase.adv_estimator.startsWith('reinforce_plus_plus')
    ? `${name} compares each response with the whole batch, not with the others to its prompt.`
    : `${name} does not compare the responses to one prompt with each other.`
}

/** Why no response is shown: what is searched for, and a filter that may hide it. */
export function noneSays(query: string, isInformativeOnly: boolean): string {
  const wanted = query.trim()
  if (wanted === '') return 'No prompt has responses with different scores.'
  return isInformativeOnly
    ? `No response has “${wanted}”, nor its prompt, among prompts with different scores.`
    : `No response has “${wanted}”, nor its prompt.`
}

const UNTRACED =
  ' Its tokens have no colours: this step was not traced, so only its responses and their scores are known.'

/** Why there are no colours, and when there will be some. `isAlone`: no step was traced, so the
 * look stands above. */
export function untracedWords(isAwaited: boolean, isOver: boolean, isAlone: boolean): string {
  if (isAwaited) return `${UNTRACED} The next step of reinforcement will be.`
  if (!isOver) return UNTRACED
  return isAlone
    ? `${UNTRACED} Where a state of the run is kept, “Look now” above traces the step after it.`
    : `${UNTRACED} Where a state of the run is kept, “Look now” at the end of this tab traces the step after it.`
}
