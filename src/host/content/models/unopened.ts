// Makes settings for a model that nobody has opened yet: they say its name, and no hash.

/** As much of an experiment as says which model it begins with. */
interface StartDocument {
  readonly model?: { readonly source: string | null; readonly source_name: string | null }
}

/** The name of the model that is to be opened before a run of it can begin; undefined where none
 * is. */
export const unopenedModel = ({ model }: StartDocument): string | undefined =>
  model?.source === null ? (model.source_name ?? undefined) : undefined
