// Declares the fields of the pairs that teach a phase: who says which of two responses is better,
// and of how many.
import type { Pairs } from '../../../rl/config/phase.ts'
import { integer, number, select, type Tree, text } from '../../../rl/fields/field.ts'
import { readVerdicts } from './verdicts.ts'

/** The engine's, with a person's verdicts as text (../verdicts.ts). */
export type PairsFields = Omit<Pairs, 'verdicts' | 'n' | 'noise'> & {
  readonly n: number
  readonly noise: number
  readonly verdicts: string | null
}

/** Whether a person says which response is better, of all pairs or of some. */
export const asksPerson = ({ source }: Pick<PairsFields, 'source'>): boolean =>
  source === 'human' || source === 'mixed'

export const PAIRS: Tree<PairsFields> = {
  source: select(
    {
      label: 'Who prefers',
      help: 'Who says which of two responses is better: the task’s own score, you, or both; or the rows, which have pairs already, or for KTO single answers with a verdict.',
    },
    {
      judge: 'the task',
      human: 'you',
      mixed: 'the task and you',
      file: 'the rows of the file',
    },
  ),
  count: integer({
    label: 'Training pairs',
    help: 'How many pairs the policy makes for training, of each source; fewer when too many are ties. Of a file the first so many, of single answers too.',
    default: 256,
    min: 1,
    max: 65536,
    unit: 'pairs',
    scale: 'log',
  }),
  held_out: integer({
    label: 'Held-out pairs',
    help: 'Further pairs that accuracy is measured on, with prompts that no training pair has; of yours every fourth prompt, up to this many pairs.',
    default: 64,
    min: 0,
    max: 4096,
    unit: 'pairs',
  }),
  n: integer({
    label: 'Responses to a prompt',
    help: 'Responses that are sampled to a prompt to make one pair: with more than two the best and the worst of them (best of n).',
    default: 2,
    min: 2,
    max: 16,
    unit: 'responses',
  }),
  temperature: number({
    label: 'Temperature of pairs',
    help: 'Divides the logits when the responses are sampled; higher = more different.',
    default: 1,
    min: 0.05,
    max: 5,
    step: 0.05,
  }),
  noise: number({
    label: 'Wrong verdicts',
    help: 'Share of the verdicts on training pairs that are turned round.',
    default: 0,
    min: 0,
    max: 0.5,
    step: 0.05,
    unit: 'share',
  }),
  min_pairs: integer({
    label: 'Verdicts to begin',
    help: 'How many of your verdicts training waits for; later ones are used as they come.',
    default: 12,
    min: 1,
    max: 512,
    unit: 'pairs',
  }),
  verdicts: text(
    {
      label: 'Recorded verdicts',
      help: 'A person’s verdicts on the pairs of an earlier run, a letter each: a, b, s (skipped), u (taken back), with the step before later ones; none = you are asked.',
      default: null,
      none: '',
      max: 1000,
    },
    {
      holds: (verdicts) => readVerdicts(verdicts) !== undefined,
      expected: 'letters a, b, s and u with rising steps between them, like abbsa3ab',
    },
  ),
}
