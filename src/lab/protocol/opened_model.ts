// Messages about a model that a person opened to look at: files go to the worker, what every layer says of a text comes back.
import type { Lens } from './observation.ts'

export type ModelCommand =
  /** Opens the model of these files, with an adapter where there are files of one. Answered by `model_opened` or `model_failed`. */
  | {
      readonly type: 'open_model'
      readonly files: readonly File[]
      readonly adapter: readonly File[]
    }
  /** Answered by `model_read` or `model_failed`. */
  | { readonly type: 'read_text'; readonly text: string }
  /** Frees its memory. */
  | { readonly type: 'close_model' }

/** What is known of a model, and of its tokenizer. */
export interface OpenedModelFacts {
  readonly model_type: string
  readonly num_hidden_layers: number
  readonly hidden_size: number
  readonly vocab_size: number
  readonly num_parameters: number
  /** What the embedding was stored in. */
  readonly dtype: string
  /** The adapter of the GPU, in words. */
  readonly gpu: string
  /** Whether an adapter of PEFT is merged in. */
  readonly has_adapter: boolean
  /** Why texts are read as token ids; undefined where the folder has a tokenizer. */
  readonly why_ids: string | undefined
}

export type ModelEvent =
  | { readonly type: 'model_opened'; readonly model: OpenedModelFacts }
  | { readonly type: 'model_read'; readonly text: string; readonly lens: Lens }
  /** `is_open`: there still is a model to read texts with. */
  | { readonly type: 'model_failed'; readonly message: string; readonly is_open: boolean }

export const MODEL_COMMANDS: readonly string[] = [
  'open_model',
  'read_text',
  'close_model',
] satisfies ModelCommand['type'][]
