// Declares the study document: one question, the settings that its arms differ in, seeds, a budget
// that is the same for all, and one measure that is fixed before anything is trained. Takes hostile
// input.
import * as z from 'zod/mini'
import { schemaIssues } from '../experiment/experiment.ts'
import { type Document, type Issue, sizeIssue } from '../experiment/fields/paths.ts'

const text = (most: number) => z.string().check(z.maxLength(most))
/** null = none, which earlier versions wrote as ''. */
const textOrNone = (most: number) =>
  z._default(
    z.pipe(
      z.transform((value) => (value === '' ? null : value)),
      z.nullable(text(most)),
    ),
    null,
  )
const seed = z.int().check(z.minimum(0), z.maximum(2 ** 31 - 1))
/** A value of a field, or a list of phases. */
const value = z.unknown()
const path = text(80).check(z.regex(/^[a-z][a-z0-9_.]*$/))

/** Settings in order; or numbers from … to, evenly (`linear`) or in equal ratios (`log`) apart. */
const axisSchema = z.union([
  z.array(value).check(z.minLength(1), z.maxLength(1000)),
  z.strictObject({
    from: z.number(),
    to: z.number(),
    count: z.int().check(z.minimum(1), z.maximum(1000)),
    scale: z._default(z.enum(['linear', 'log']), 'linear'),
    /** Whole numbers alone. */
    whole: z._default(z.boolean(), false),
  }),
])
export type Axis = z.infer<typeof axisSchema>

/** Settings that meet at the end of a search. */
const finalists = z.int().check(z.minimum(1), z.maximum(8))

const armSchema = z.strictObject({
  name: text(60).check(z.minLength(1)),
  set: z._default(z.record(path, value), {}),
  /** Fields of this arm alone, in place of the study's grid. */
  grid: z.optional(z.record(path, axisSchema)),
  /** Of a search: so many of its settings meet at the end, where these are fewer than the study
   * says. */
  finalists: z.optional(finalists),
})

const searchSchema = z.strictObject({
  /** random: so many settings from the grid, each with the seeds that choose. halving: they begin
   * with few of these seeds, and the better ones go on with more. The best then meet on the other
   * seeds, which chose nothing. */
  kind: z.enum(['random', 'halving']),
  /** Of each of the study's arms, or of the base alone. */
  arms: z.int().check(z.minimum(2), z.maximum(64)),
  seed: z._default(seed, 0),
  /** Halving: one arm of so many goes on, with so many times the seeds. */
  eta: z._default(z.int().check(z.minimum(2), z.maximum(8)), 2),
  /** Of each of the study's arms, so many settings meet at the end. */
  finalists: z._default(finalists, 1),
  /** So many of the seeds, the first ones, choose; the first half of them where this is not
   * said. */
  choosing: z.optional(z.int().check(z.minimum(1), z.maximum(63))),
})

const measureSchema = z.strictObject({
  /** A metric's name or how it ends, e.g. acc/greedy. */
  metric: text(120).check(z.minLength(1)),
  /** end: the last value. first: the first one behind the step where reinforcement began. last:
   * the mean of the last five. area: the mean height of the curve over the budget. level: the value
   * where `reaches` is first as high as all arms of the seed came, between evaluations on a
   * straight line. */
  at: z._default(z.enum(['end', 'first', 'last', 'area', 'level']), 'end'),
  /** Of `level` alone: a metric that rises, or how its name ends, e.g. acc/mean@16. */
  reaches: textOrNone(120),
  goal: z._default(z.enum(['higher', 'lower']), 'higher'),
  /** What decides: the paired t test, or flipped signs, which needs 6 pairs and more for 5 % and
   * assumes less. */
  test: z._default(z.enum(['t', 'permutation']), 't'),
  /** A difference that is shown to be smaller than this counts as none (two one-sided t tests).
   * Absent: no difference is called equal, only not found. */
  equal_within: z.optional(z.number().check(z.positive())),
})

/** What can be measured of the states that a run has left, each under names of its own:
 * - transplants: `inside/start_with/<part>/acc`, held-out greedy accuracy of the start with a part
 *   of the state, and `inside/run_with_starts/<part>/acc`, of the state with the start's part
 *   (src/model/interventions/transplant.ts names parts);
 * - ablations: `inside/without/<part>`, what switching it off changes in the reward of held-out
 *   problems;
 * - teacher_kl: `inside/teacher_kl/<layer>`, KL(teacher ‖ the layer's policy) in nats, where
 *   held-out right answers are written. */
const insideSchema = z.strictObject({
  of: z.array(z.enum(['transplants', 'ablations', 'teacher_kl'])).check(z.minLength(1)),
  /** Held-out problems at most. */
  problems: z._default(z.int().check(z.minimum(2), z.maximum(4096)), 256),
  /** Steps between two states; absent: those at the end of each phase alone. */
  every: z.optional(z.int().check(z.minimum(1), z.maximum(1_000_000))),
})
export type Inside = z.infer<typeof insideSchema>

const studySchema = z.strictObject({
  version: z._default(z.literal(1), 1),
  name: text(80).check(z.minLength(1)),
  /** What it is to answer, in one sentence. */
  question: text(400).check(z.minLength(1)),
  /** The experiment that all arms begin from, as a document or the id of a preset. */
  base: z.union([text(60), z.record(z.string(), value)], {
    error: 'expected an experiment or the id of a preset',
  }),
  /** Settings by name; where there is a grid too, each of them with each point of the grid. */
  arms: z._default(z.array(armSchema).check(z.maxLength(64)), []),
  /** Fields of the schema and their values; the arms are all choices of one value each. */
  grid: z._default(z.record(path, axisSchema), {}),
  search: z.optional(searchSchema),
  seeds: z.array(seed).check(z.minLength(1), z.maxLength(64)),
  budget: z._default(
    z.strictObject({
      /** What is the same for all arms: their reinforcement is made so long that they take as much
       * of it as the base. */
      same: z._default(z.enum(['steps', 'responses', 'tokens', 'arithmetic']), 'responses'),
    }),
    { same: 'responses' },
  ),
  measure: measureSchema,
  /** Further primary measures: each has a table of its own, and Holm's correction counts the arms
   * of all. */
  also: z.optional(z.array(measureSchema).check(z.maxLength(3))),
  /** A checkpoint or the folder of a run, beside the study's file, whose model all arms begin with
   * in place of the base's. The command line reads it. */
  continues: z.optional(text(300).check(z.minLength(1))),
  /** Which difference its seeds can see, in a sentence, as far as it is known before the runs. */
  power: z.optional(text(400)),
  /** Measures of a run's states, which primary measures may name. The command line takes them. */
  inside: z.optional(insideSchema),
  /** Whether question, arms and measure were written down before any of its runs was known. */
  written: z._default(z.enum(['before', 'after']), 'before'),
  /** The arm that all others are compared with; null = the first. */
  baseline: textOrNone(120),
})

/** The study document with every default filled in. */
export type Study = z.infer<typeof studySchema>

/** What a study measures, and how it decides by it. */
type Measure = Study['measure']

/** All primary measures, the first of them first. */
export const measuresOf = ({ measure, also = [] }: Pick<Study, 'measure' | 'also'>): Measure[] => [
  measure,
  ...also,
]

/** Each of 64 arms may set a whole list of phases, three levels further down than an experiment
 * has it. */
const [MAX_DEPTH, MAX_NODES] = [11, 20_000]

/** A study, or everything that is wrong with its document. */
export type ParsedStudy =
  | { readonly ok: true; readonly study: Study }
  | { readonly ok: false; readonly issues: readonly Issue[] }

/** The document with its defaults. Nothing throws, and what is too large is refused before it is
 * parsed. */
export function parseStudy(document: unknown): ParsedStudy {
  const size = sizeIssue(document, MAX_DEPTH, MAX_NODES)
  if (size) return { ok: false, issues: [size] }
  const parsed = studySchema.safeParse(document)
  if (!parsed.success) return { ok: false, issues: schemaIssues(parsed.error) }
  const { data } = parsed
  const issues: Issue[] = []
  if (new Set(data.seeds).size < data.seeds.length)
    issues.push({ path: 'seeds', message: 'expected each seed once' })
  for (const [i, { at, reaches }] of measuresOf(data).entries())
    if ((at === 'level') !== (reaches !== null))
      issues.push({
        path: i === 0 ? 'measure.reaches' : `also.${i - 1}.reaches`,
        message: 'expected a metric where at is level, else none',
      })
  if ((data.search?.choosing ?? 0) >= data.seeds.length)
    issues.push({ path: 'search.choosing', message: 'expected fewer than there are seeds' })
  const names = data.arms.map(({ name }) => name)
  if (new Set(names).size < names.length)
    issues.push({ path: 'arms', message: 'expected each name once' })
  for (const [name, axis] of [data.grid, ...data.arms.map((arm) => arm.grid ?? {})].flatMap(
    (grid) => Object.entries(grid),
  ))
    if (!Array.isArray(axis) && axis.scale === 'log' && !(axis.from > 0 && axis.to > 0))
      issues.push({ path: `grid.${name}`, message: 'expected numbers above 0 on a log scale' })
  return issues.length > 0 ? { ok: false, issues } : { ok: true, study: data }
}

/** What an arm says otherwise than the base: values by their paths. */
export type Settings = Document
