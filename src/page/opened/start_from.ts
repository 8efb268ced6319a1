// Puts an opened model into the settings, as what the next run begins with: its sizes, its hash,
// and its tokenizer. Loaded when it is needed.

import { parseExperiment } from '../../document/experiment/experiment.ts'
import { taskOf } from '../../document/experiment/fields/task_fields.ts'
import type { ModelStart } from '../../host/protocol/opened_model.ts'
import type { Tokenizer } from '../../tasks/task.ts'
import type { TokenizerFiles } from '../../tasks/tokenizers/hugging_face/tokenizer_files.ts'
import { loadTokenizer } from '../../tasks/tokenizers/load_tokenizer.ts'
import { openExperiment } from '../client/opening.ts'
import { keepContent } from '../contents/content_files.ts'
import { labStore } from '../state/store.ts'

/** What came of it: why the settings do not take it, or whether rows have to be chosen that its
 * tokenizer can read. */
export type Started =
  | { readonly ok: false; readonly why: string }
  | { readonly ok: true; readonly tokenizer: readonly File[]; readonly needs_rows: boolean }

export async function startFrom({ fields, lists, name, tokenizer }: ModelStart): Promise<Started> {
  const { experiment } = labStore.getState()
  const model = { ...experiment.model, ...fields }
  // Steps on other sizes mean nothing for these.
  const parsed = parseExperiment({ ...experiment, model, kernels: null, steering: [] })
  if (!parsed.ok) {
    const why = parsed.issues.map(({ path, message }) => `${path}: ${message}`).join('\n')
    return { ok: false, why }
  }
  for (const { hash, name, list } of lists)
    await keepContent({ hash, name, bytes: new Uint8Array(new TextEncoder().encode(list)) })
  const refused = openExperiment(parsed.experiment, name)
  if (refused !== undefined) return { ok: false, why: refused }
  const files = Object.entries(tokenizer).map(([file, text]) => new File([text], file))
  const own = await ownTokenizer(tokenizer)
  const needs_rows = own !== undefined && !reads(own, taskOf(experiment.task).tokenizer)
  return { ok: true, tokenizer: files, needs_rows }
}

async function ownTokenizer(texts: ModelStart['tokenizer']): Promise<Tokenizer | undefined> {
  if (texts['tokenizer.json'] === undefined) return undefined
  return loadTokenizer(texts as TokenizerFiles).catch(() => undefined)
}

/** Whether every token of the task is the model's token of the same id. The names of ends and
 * padding may differ. */
function reads(own: Tokenizer, task: Tokenizer): boolean {
  if (task.is_unknown || own.vocab_size !== task.vocab_size) return false
  const special = new Set([task.pad_token_id, ...task.eos_token_ids])
  return task.tokens.every((token, id) => special.has(id) || own.tokens[id] === token)
}
