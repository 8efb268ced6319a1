// Finds the files that a document names. One entry for each place of the document where a hash can
// be.

import type { NamedContent } from '../../document/content/content.ts'
import type { ProgramLimits } from '../../tasks/task/program.ts'
import type { ToolChoice } from '../../tasks/tools/index.ts'

type Part = { readonly id: string; readonly [field: string]: string | number | boolean | null }

/** As much of an experiment as names files. */
export interface NamingDocument {
  readonly task: Part
  readonly reward?: { readonly parts: readonly Part[] } & ProgramLimits
  readonly tools?: readonly ToolChoice[]
  readonly model?: NamedStart & {
    readonly lora: NamedStart
    /** Absent in bundles of earlier versions. */
    readonly steering_vectors?: NamedStart
    readonly lenses?: Readonly<Record<'tuned' | 'jacobian', NamedStart>>
  }
  readonly teacher?: NamedStart
}

interface NamedStart {
  readonly source: string | null
  readonly source_name: string | null
}

/** The hashes of the models and adapters that an experiment names: of each only the list of its
 * files lies among the contents. */
export const namedModels = ({ model, teacher }: NamingDocument): readonly string[] =>
  [model, model?.lora, teacher].flatMap((start) => start?.source ?? [])

/** The files beside a model: steering vectors, and lenses that it is read through. */
export const besideOf = (model: NamingDocument['model']) => [
  model?.steering_vectors,
  model?.lenses?.tuned,
  model?.lenses?.jacobian,
]

type Names = (document: NamingDocument) => readonly Readonly<Record<'hash' | 'name', unknown>>[]

const NAMES: readonly Names[] = [
  ({ task }) => [
    { hash: task.data, name: task.name },
    { hash: task.val_data, name: task.val_name },
    { hash: task.tokenizer_data, name: task.tokenizer_name },
  ],
  ({ reward }) => (reward?.parts ?? []).map(({ code, name }) => ({ hash: code, name })),
  // The list of a model's files, which is what its hash is of; the files themselves are too large
  // for this store (models/).
  ({ model, teacher }) =>
    [model, model?.lora, teacher].map((start) => ({
      hash: start?.source,
      name: start?.source_name,
    })),
  ({ model }) =>
    besideOf(model).map((start) => ({ hash: start?.source, name: start?.source_name })),
  ({ tools = [] }) => tools.map(({ code, name }) => ({ hash: code, name })),
]

/** Every file that an experiment names, each once. */
export function contentNames(document: NamingDocument): readonly NamedContent[] {
  const found = new Map<string, NamedContent>()
  for (const names of NAMES)
    for (const { hash, name } of names(document))
      if (typeof hash === 'string' && hash !== '')
        found.set(hash, { hash, name: typeof name === 'string' && name !== '' ? name : hash })
  return [...found.values()]
}
