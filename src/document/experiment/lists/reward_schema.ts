// Declares the reward of an experiment: its parts, each with a weight, and how long programs may
// take. Here only the form of a part is checked, so that the page need not load the rules;
// src/tasks/rewards checks kinds and settings when a run begins.
import * as z from 'zod/mini'
import { expected, type FieldValue, filled, integer, type Tree } from '../../../rl/fields/field.ts'
import type { PartChoice, RewardChoice } from '../../../tasks/rewards/composed.ts'

/** The most parts of a reward. */
const MAX_PARTS = 12
const MOST_WEIGHT = 100
const MOST_TEXT = 4000

/** The fields of a reward that a form draws; parts have a panel of their own. */
export const REWARD: Tree<Omit<RewardChoice, 'parts'>> = {
  timeout_ms: integer({
    label: 'Time of a program',
    help: 'How long a program may take for one response, or for one call of a tool; one that takes longer is ended. The response scores 0, and the model reads that the tool failed.',
    default: 1000,
    min: 10,
    max: 60_000,
    unit: 'ms',
    scale: 'log',
  }),
  batch_timeout_ms: integer({
    label: 'Time of a batch',
    help: 'How long a program may take for all that it is asked at once; responses that are left then score 0, and calls have no answer.',
    default: 20_000,
    min: 100,
    max: 600_000,
    unit: 'ms',
    scale: 'log',
  }),
}

const isPlain = (value: unknown): value is FieldValue =>
  typeof value === 'string'
    ? value.length <= MOST_TEXT && value.isWellFormed()
    : typeof value === 'number'
      ? Number.isFinite(value)
      : typeof value === 'boolean'

const weight = expected(`a weight from -${MOST_WEIGHT} to ${MOST_WEIGHT}`)
const plain = expected('settings that are numbers, true or false, or short texts')
const hash = expected("a program with code ('sha256-' and 64 digits) and name")
const chosen = expected("the name of a program's function, or '' for the one that it has by itself")

const part = z
  .looseObject(
    {
      id: z
        .string({ error: expected('the name of a reward') })
        .check(z.regex(/^[a-z][a-z0-9_]{0,39}$/, { error: expected('the name of a reward') })),
      weight: z._default(
        z
          .number({ error: weight })
          .check(
            z.minimum(-MOST_WEIGHT, { error: weight }),
            z.maximum(MOST_WEIGHT, { error: weight }),
          ),
        1,
      ),
    },
    { error: expected('an object with id and weight') },
  )
  .check(
    z.refine(
      (own) =>
        Object.entries(own).every(([name, value]) => /^[a-z]\w*$/.test(name) && isPlain(value)),
      { error: plain },
    ),
    z.refine(
      ({ id, code, name }) =>
        id !== 'program' ||
        (/^sha256-[0-9a-f]{64}$/.test(`${code}`) && typeof name === 'string' && name.length <= 80),
      { error: hash },
    ),
    z.refine(
      ({ id, function: own = '' }) =>
        id !== 'program' || (typeof own === 'string' && /^(?:[A-Za-z_]\w{0,79})?$/.test(own)),
      { error: chosen },
    ),
  )

/** The list of parts alone. */
export const partsSchema = z
  .array(part, { error: expected('a list of the parts of a reward') })
  .check(
    z.maxLength(MAX_PARTS, { error: `expected at most ${MAX_PARTS} parts` }),
  ) as unknown as z.ZodMiniType<readonly PartChoice[]>

/** The whole section. */
export const rewardSchema: z.ZodMiniType<RewardChoice> = z.prefault(
  filled(REWARD, { parts: z._default(partsSchema, []) }),
  {} as never,
) as unknown as z.ZodMiniType<RewardChoice>
