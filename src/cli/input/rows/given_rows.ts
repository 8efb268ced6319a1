// Reads --rows FIELD=VALUE: what a row of --data is, in place of what the lab proposes.
import { DATASET_ID, TASK_PARAMS } from '../../../document/experiment/fields/task_fields.ts'
import { type DataPlan, USUAL_PLAN } from '../../../tasks/data/plan.ts'
import { UsageError } from '../../base/command.ts'

/** What options of their own say, or the tokenizer. */
const SAID_ELSEWHERE: readonly string[] = ['tokenizer', 'vocab_size', 'skip_bad_rows']

/** The fields of a task that a person decides. */
const FIELDS = Object.keys(USUAL_PLAN).filter((name) => !SAID_ELSEWHERE.includes(name))

/** Throws UsageError for another field, and for a value that it cannot have. */
export function givenRows(settings: readonly string[] = []): Partial<DataPlan> {
  const plan: Record<string, unknown> = {}
  for (const setting of settings) {
    const [, name = '', text = ''] = /^([^=]*)=([\s\S]*)$/.exec(setting) ?? []
    if (!FIELDS.includes(name))
      throw new UsageError(
        `--rows: expected FIELD=VALUE with one of ${FIELDS.join(', ')}, got '${setting}'`,
      )
    const leaf = TASK_PARAMS.get(DATASET_ID)?.[name]
    const read = leaf?.schema.safeParse(typed(text, leaf.info.default))
    if (!read?.success)
      throw new UsageError(`--rows: ${name}: ${read?.error.issues[0].message ?? 'no such field'}`)
    plan[name] = read.data
  }
  return plan
}

function typed(text: string, example: unknown): unknown {
  if (typeof example === 'number') return /^-?\d+$/.test(text) ? Number(text) : text
  return typeof example === 'boolean' && /^(true|false)$/.test(text) ? text === 'true' : text
}
