// Checks an expression that uses given numbers and comes to a target: the check of Countdown for
// problems of one's own.
import { workOut } from '../task/expression.ts'
import { answerPart } from './final_answer.ts'
import type { RewardKind } from './reward.ts'

/** The numbers of a problem, its target last: those of the ground truth where it holds two or more,
 * else those of the prompt. */
function given(ground_truth: string, prompt: string): readonly number[] {
  const numbers = (text: string) => (text.match(/[0-9]+/g) ?? []).map(Number)
  const own = numbers(ground_truth)
  return own.length >= 2 ? own : numbers(prompt)
}

const inOrder = (list: readonly number[]) => list.toSorted((a, b) => a - b).join()

/** 1 for an expression of + - * / and brackets that uses each number once and comes to the target,
 * else 0. */
export const equation: RewardKind = {
  id: 'equation',
  label: 'Equation check',
  help: 'The response is an expression that uses each given number once and comes to the last one, as in 3,4,5=17.',
  params: [
    {
      name: 'all_numbers',
      label: 'Use every number',
      help: 'Each number must be used. Off: none more often than it is given.',
      kind: 'boolean',
      default: true,
    },
  ],
  is_verifier: true,
  create:
    ({ all_numbers }) =>
    ({ solution_str, ground_truth, extra_info }) => {
      const numbers = [...given(ground_truth, extra_info.prompt)]
      const target = numbers.pop()
      const answer = (answerPart(solution_str, 'anywhere') ?? '').split('=')[0]
      const worked = workOut(answer.replace(/[ \t\n\r\f\v]/g, ''))
      if (target === undefined || !worked) return 0
      // Quotients are rounded.
      if (!(Math.abs(worked.value - target) < 1e-9)) return 0
      if (all_numbers) return inOrder(worked.numbers) === inOrder(numbers) ? 1 : 0
      return worked.numbers.every((number) => {
        const at = numbers.indexOf(number)
        if (at >= 0) numbers.splice(at, 1)
        return at >= 0
      })
        ? 1
        : 0
    },
}
