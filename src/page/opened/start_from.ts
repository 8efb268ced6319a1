// Puts an opened model into the settings, as what the next run begins with or learns from: its
// sizes, its hash, and its tokenizer. Loaded when it is needed.

import { parseExperiment } from '../../document/experiment/experiment.ts'
import { setAt, valueAt } from '../../document/experiment/fields/paths.ts'
import { taskOf } from '../../document/experiment/fields/task_fields.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import type { ModelStart } from '../../host/protocol/opened_model.ts'
import type { TokenizerFiles } from '../../tasks/tokenizers/hugging_face/tokenizer_files.ts'
import { loadTokenizer } from '../../tasks/tokenizers/load_tokenizer.ts'
import type { Tokenizer } from '../../tasks/tokenizers/tokenizer.ts'
import { openExperiment } from '../client/opening.ts'
import { keepContent } from '../contents/content_files.ts'
import { labStore } from '../state/store.ts'

/** What came of it: why the settings do not take it, or whether rows have to be chosen that its
 * tokenizer can read. */
export type Started =
  | { readonly ok: false; readonly why: string }
  | { readonly ok: true; readonly tokenizer: readonly File[]; readonly needsRows: boolean }

/** As what the next run begins with. */
export async function startFrom({ fields, lists, name, tokenizer }: ModelStart): Promise<Started> {
  const { experiment } = labStore.getState()
  const model = { ...experiment.model, ...fields }
  const why = await openWith({ ...experiment, model }, lists, name)
  if (why !== undefined) return { ok: false, why }
  const files = Object.entries(tokenizer).map(([file, text]) => new File([text], file))
  const own = await ownTokenizer(tokenizer)
  const needsRows = own !== undefined && !reads(own, taskOf(experiment.task).tokenizer)
  return { ok: true, tokenizer: files, needsRows }
}

/** As what the next run learns from: in its phases of distillation, or where the setting at `at`
 * asks for a teacher. Gives why the settings do not take it. */
export async function learnFrom(start: ModelStart, at?: string): Promise<string | undefined> {
  const { fields, lists, name, tokenizer } = start
  if (lists.length > 1)
    return `${name} has an adapter, and a teacher is one model. Save both as a folder, and open that.`
  const { experiment } = labStore.getState()
  const own = await ownTokenizer(tokenizer)
  if (!own || !reads(own, taskOf(experiment.task).tokenizer))
    return `${name} has another tokenizer than the task of these settings, and both policies are compared token by token.`
  const { padding_idx: _, enable_gradient_checkpointing: __, lora: ___, ...sizes } = fields
  const taught = structuredClone({
    ...experiment,
    teacher: { ...experiment.teacher, ...sizes },
  })
  for (const path of at === undefined ? distilled(experiment) : [at])
    if (path.endsWith('.teacher')) setAt(taught, path, 'model')
    else if (!(valueAt(taught, path) ?? valueAt(taught, path.replace(PHASE, ''))))
      setAt(taught, path, 1)
  return openWith(taught, lists, name)
}

/** What a phase does not set itself is the experiment's. */
const PHASE = /^phases\.\d+\./

/** Where the phases of distillation say who teaches. */
const distilled = ({ phases }: Experiment): string[] =>
  phases.flatMap(({ kind }, i) => (kind === 'distill' ? `phases.${i}.distillation.teacher` : []))

/** Opens the settings, and keeps the lists of the files that they name. Gives why they are none. */
async function openWith(
  document: object,
  lists: ModelStart['lists'],
  name: string,
): Promise<string | undefined> {
  // Steps on other sizes mean nothing for these.
  const parsed = parseExperiment({ ...document, kernels: null, steering: [] })
  if (!parsed.ok) return parsed.issues.map(({ path, message }) => `${path}: ${message}`).join('\n')
  for (const { hash, name, list } of lists)
    await keepContent({ hash, name, bytes: new Uint8Array(new TextEncoder().encode(list)) })
  return openExperiment(parsed.experiment, name)
}

async function ownTokenizer(texts: ModelStart['tokenizer']): Promise<Tokenizer | undefined> {
  if (texts['tokenizer.json'] === undefined) return undefined
  return loadTokenizer(texts as TokenizerFiles).catch(() => undefined)
}

/** Whether every token of the task is the model's token of the same id. The names of ends and
 * padding may differ. */
function reads(own: Tokenizer, task: Tokenizer): boolean {
  if (task.isUnknown || own.vocab_size !== task.vocab_size) return false
  const special = new Set([task.pad_token_id, ...task.eos_token_ids])
  return task.tokens.every((token, id) => special.has(id) || own.tokens[id] === token)
}
