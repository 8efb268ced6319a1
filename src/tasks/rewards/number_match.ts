// Compares with the right number, whatever comes before it.
import { answerPart, PLACES } from './final_answer.ts'
import type { RewardKind } from './reward.ts'

const NUMBER = /-?[0-9][0-9,]*(?:\.[0-9]+)?|-?\.[0-9]+/g

/** The last number of a text, thousands separated by commas or not; undefined where there is
 * none. */
function lastNumber(text: string): number | undefined {
  const found = text.match(NUMBER)?.at(-1)
  return found === undefined ? undefined : Number(found.replaceAll(',', ''))
}

/** 1 where the last number at `place` is the last number of the right answer, else 0. */
export const number_match: RewardKind = {
  id: 'number_match',
  label: 'Number match',
  help: 'The number that the response ends with is that of the right answer; text around it does not count.',
  params: [
    {
      name: 'place',
      label: 'Where the number is',
      help: 'boxed: in \\boxed{…}. hashes: behind ####. last: the last number of the text. anywhere: the first of these that is there.',
      kind: 'select',
      default: 'anywhere',
      options: PLACES,
    },
    {
      name: 'tolerance',
      label: 'Tolerance',
      help: 'How far from the right number still counts as right.',
      kind: 'number',
      default: 0,
      min: 0,
      max: 1000,
      step: 0.001,
      unit: '',
    },
  ],
  is_verifier: true,
  create:
    ({ place, tolerance }) =>
    ({ solution_str, ground_truth }) => {
      const found = lastNumber(answerPart(solution_str, `${place}`) ?? '')
      const right = lastNumber(answerPart(ground_truth, 'anywhere') ?? '')
      if (found === undefined || right === undefined) return 0
      return Math.abs(found - right) <= Number(tolerance) ? 1 : 0
    },
}
