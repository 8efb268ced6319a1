// Compares with the right letter of a few choices.
import { answerPart } from './final_answer.ts'
import type { RewardKind } from './reward.ts'

/** The letter that a text chooses: behind “answer” or “answer is”, else the last one that is a word
 * by itself. */
function chosen(text: string, letters: string): string | undefined {
  const part = answerPart(text, 'anywhere') ?? ''
  const behind = [
    ...part.matchAll(/answer(?:[ \t]+is)?[ \t]*:?[ \t]*[([]?([A-Za-z])(?![A-Za-z0-9_])/gi),
  ]
  const alone = [...part.matchAll(/(?<![A-Za-z0-9_'])([A-Za-z])(?![A-Za-z0-9_'])/g)]
  const inside = (found: RegExpExecArray[]) =>
    found.map((match) => match[1].toUpperCase()).filter((letter) => letters.includes(letter))
  return inside(behind).at(-1) ?? inside(alone).at(-1)
}

/** 1 where the response chooses the letter of the right answer, else 0. */
export const multiple_choice: RewardKind = {
  id: 'multiple_choice',
  label: 'Multiple choice',
  help: 'The response chooses the right letter, such as B, (B) or “The answer is B”.',
  params: [
    {
      name: 'choices',
      label: 'Choices',
      help: 'How many letters there are to choose from, beginning with A.',
      kind: 'number',
      default: 4,
      min: 2,
      max: 26,
      step: 1,
      unit: 'letters',
    },
  ],
  is_verifier: true,
  create({ choices }) {
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'.slice(0, Number(choices))
    return ({ solution_str, ground_truth }) => {
      const right = chosen(ground_truth, letters)
      return right !== undefined && chosen(solution_str, letters) === right ? 1 : 0
    }
  },
}
